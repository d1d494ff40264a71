package io.fastio.stress;

import io.fastio.EventLoop;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The loop of a JVM of jcstress. The actor that is the loop runs it on its own thread, one {@code run} for each state, so
 * that the two actors are two threads as everywhere else, and no third one comes between.
 */
public final class OnLoop {
    /** After this time what has not come is lost. A twin is known to lose, so that need not take long to be said. */
    public static final Duration LIMIT = Duration.ofMillis(Integer.getInteger(Twins.PROPERTY, 0) == 0 ? 5_000 : 100);

    /** What an actor answers when a wake did not come. */
    public static final String LOST = "lost";

    /** The loop. One thread at a time. */
    public static final EventLoop LOOP = EventLoop.builder().name("stress").build();

    /** Arbiters run on several threads. No monitor: a thread that holds one must not carry virtual threads. */
    private static final ReentrantLock TURN = new ReentrantLock();

    private OnLoop() {}

    /** Turns the loop once, without waiting; true, to be part of a condition. */
    public static boolean poll() {
        TURN.lock();
        try {
            LOOP.poll(Duration.ZERO);
        } finally {
            TURN.unlock();
        }
        return true;
    }

    /** Runs {@code main} on the loop; its answer, or {@link #LOST}. */
    public static String run(Callable<String> main) {
        if (Meeting.isLost()) {
            return LOST;
        }
        try {
            String answer;
            TURN.lock();
            try {
                answer = LOOP.run(main);
            } finally {
                TURN.unlock();
            }
            if (answer.equals(LOST)) {
                Meeting.lose();
            }
            return answer;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
