package io.fastio.time;

import java.time.Duration;
import java.util.Objects;

/**
 * Where a loop takes its time from: integer nanoseconds that never run backwards, counted from the clock's creation.
 *
 * <p>There are two: {@link #monotonic()} follows {@link System#nanoTime()} (time that the machine spends suspended does
 * not count on Linux), {@link #virtual()} stands still until the loop has nothing left to do and then jumps to the next
 * moment at which something is due.
 */
public abstract sealed class LoopClock {
    private LoopClock() {}

    /** Nanoseconds since this clock was made, never negative. Any thread. */
    public abstract long nanos();

    /** Whether time jumps instead of passing. Any thread. */
    public abstract boolean isVirtual();

    /** A new clock that follows the machine's monotonic time. Any thread. */
    public static LoopClock monotonic() {
        return new Monotonic();
    }

    /** A new clock that starts at zero and moves only when told, or when its loop has nothing to do. Any thread. */
    public static Virtual virtual() {
        return new Virtual();
    }

    private static final class Monotonic extends LoopClock {
        private final long origin = System.nanoTime();

        @Override
        public long nanos() {
            return System.nanoTime() - origin;
        }

        @Override
        public boolean isVirtual() {
            return false;
        }
    }

    /** Time that jumps. One clock serves one loop. */
    public static final class Virtual extends LoopClock {
        private volatile long now;

        private Virtual() {}

        @Override
        public long nanos() {
            return now;
        }

        @Override
        public boolean isVirtual() {
            return true;
        }

        /**
         * Lets time pass, as a computation of that length would. For a task or callback of the clock's loop, or for any
         * thread while the loop does not run.
         *
         * @param time zero or more
         * @throws IllegalArgumentException if {@code time} is negative
         */
        public void advance(Duration time) {
            Objects.requireNonNull(time, "time");
            if (time.isNegative()) {
                throw new IllegalArgumentException("time cannot run backwards: " + time);
            }
            advanceTo(saturatedSum(now, saturatedNanos(time)));
        }

        /** Moves on to a moment, given in nanoseconds of this clock; a moment in the past changes nothing. */
        public void advanceTo(long nanos) {
            if (nanos > now) {
                now = nanos;
            }
        }
    }

    /** The nanoseconds of a duration; what does not fit becomes {@link Long#MAX_VALUE} or {@link Long#MIN_VALUE} (S3). */
    public static long saturatedNanos(Duration d) {
        long seconds = Objects.requireNonNull(d, "d").toSeconds();
        if (seconds > Long.MAX_VALUE / 1_000_000_000L - 1) {
            return Long.MAX_VALUE;
        }
        if (seconds < Long.MIN_VALUE / 1_000_000_000L + 1) {
            return Long.MIN_VALUE;
        }
        return seconds * 1_000_000_000L + d.toNanosPart();
    }

    /** {@code a + b} for {@code a >= 0}; what does not fit becomes {@link Long#MAX_VALUE}, "for ever" (S3). */
    public static long saturatedSum(long a, long b) {
        long sum = a + b;
        return b > 0 && sum < a ? Long.MAX_VALUE : sum;
    }
}
