package io.fastio.device;

import io.fastio.Priority;
import io.fastio.Wait;
import java.util.concurrent.TimeUnit;

/**
 * A delay that ends in class URGENT: its task goes on before every NORMAL one, after at most the step in progress
 * ({@code MillisecTimer} of fast_io, but without polling). For tasks.
 */
public final class MillisTimer {
    private static final Wait.Hook NOTHING = (task, woken) -> true;

    /** A timer; any number of tasks may use it. */
    public MillisTimer() {}

    /**
     * Waits for {@code ms} milliseconds. A cancel ends the wait at once. Allocates nothing.
     *
     * @param ms zero and less gives way only to what is URGENT and ready
     */
    public void await(long ms) {
        awaitNanos(ms <= 0 ? 0 : TimeUnit.MILLISECONDS.toNanos(ms));
    }

    /** {@link #await} in nanoseconds. */
    public void awaitNanos(long ns) {
        Wait.begin();
        Wait.suspend(NOTHING, Priority.URGENT, Wait.deadlineIn(ns));
    }
}
