package io.fastio.sync;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Wait;
import java.time.Duration;
import java.util.Objects;

/**
 * A period (Y4): tick number n is due n periods after the start, however long the work between ticks takes, so nothing
 * drifts; what happens to ticks that were missed is said at construction. For one task, on whose loop's clock it runs.
 */
public final class Interval {
    /** What becomes of ticks that are already over when they are waited for. */
    public enum Missed {
        /** They are made up for at once, one after the other. */
        BURST,
        /** The late one counts now, and the next is due one period from now. */
        DELAY,
        /** They are left out; the next one is due at the next whole multiple of the period. */
        SKIP
    }

    private final EventLoop loop;
    private final long period;
    private final Missed missed;
    private final long start;
    private long next;

    /**
     * An interval that starts now: its first tick is due in one period. For tasks.
     *
     * @param period longer than zero
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws IllegalStateException outside a task
     */
    public Interval(Duration period, Missed missed) {
        Objects.requireNonNull(period, "period");
        if (period.isZero() || period.isNegative()) {
            throw new IllegalArgumentException("period must be longer than zero: " + period);
        }
        this.missed = Objects.requireNonNull(missed, "missed");
        this.loop = Asyncio.runningLoop();
        this.start = Wait.deadlineIn(0);
        this.next = Wait.deadlineIn(period);
        this.period = next - start;
    }

    /**
     * Waits for the next tick; returns at once if it is over already. For tasks; a cancel consumes no tick.
     *
     * @return how many ticks were left out before this one ({@link Missed#SKIP}), else zero
     * @throws io.fastio.CancelledError if the task was cancelled
     * @throws IllegalStateException in a task of another loop, whose clock is another one
     */
    public long await() {
        Wait.begin();
        loop.requireCurrent(this);
        long due = next;
        long now = loop.time();
        if (now < due || due == Wait.FOREVER) {
            Wait.suspend((task, woken) -> true, null, due);
            now = loop.time();
        }
        long leftOut = 0;
        switch (missed) {
            case BURST -> next = due + period;
            case DELAY -> next = now - due < period ? due + period : now + period;
            case SKIP -> {
                leftOut = (now - due) / period;
                next = due + (leftOut + 1) * period;
            }
        }
        return leftOut;
    }

    /** The moment of the next tick on the loop's clock ({@link io.fastio.EventLoop#time()}), in nanoseconds. */
    public long nextNanos() {
        return next;
    }

    @Override
    public String toString() {
        return "Interval[" + Duration.ofNanos(period) + ", " + missed + "]";
    }
}
