package io.fastio;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;

/** A sleep of the loop that a push has to end: what the cases of the sleeper have in common. */
final class Nap {
    private Nap() {}

    /** The loop: sleeps until something has come. */
    static String sleep(Meeting meeting, Inbox inbox, Sleeper sleeper) {
        if (Meeting.isLost()) {
            return OnLoop.LOST;
        }
        meeting.loop();
        long end = System.nanoTime() + OnLoop.LIMIT.toNanos();
        while (inbox.isEmpty()) {
            sleeper.sleep(OnLoop.LIMIT.toNanos());
            if (System.nanoTime() > end) {
                Meeting.lose();
                return OnLoop.LOST;
            }
        }
        inbox.drain();
        return "woken";
    }

    /** The other thread: pushes, and wakes if it has to. */
    static void push(Meeting meeting, Inbox inbox, Sleeper sleeper) {
        Posted item = Item.fresh();
        meeting.other();
        if (inbox.push(item) == Inbox.Push.MUST_WAKE) {
            sleeper.wake();
        }
    }
}
