package io.fastio;

import io.fastio.stress.Meeting;
import org.jspecify.annotations.Nullable;

/** A loop of its own that one actor closes while the other one uses it. */
final class Closing {
    private final Meeting meeting = new Meeting();
    private volatile @Nullable EventLoop loop;

    /** The actor that closes it. */
    void close() {
        EventLoop l = EventLoop.create();
        loop = l;
        meeting.loop();
        l.close();
    }

    /** The other one, which gets the loop just as it is being closed; null once all is lost. */
    @Nullable
    EventLoop meet() {
        meeting.other();
        return loop;
    }
}
