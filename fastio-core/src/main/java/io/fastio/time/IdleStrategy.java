package io.fastio.time;

import java.time.Duration;
import java.util.Objects;

/** What a loop does while nothing is ready (S10): how much processor time it pays for how early a wake-up. */
public sealed interface IdleStrategy {
    /** Sleeps in the poller until something is due: no processor time. The default. */
    IdleStrategy BLOCK = new Block();

    /** Never sleeps: wakes from other threads and readiness are seen within a microsecond; one core is always busy. */
    IdleStrategy SPIN = new Spin();

    /** Spins for {@code time} after the last work, then blocks. Positive. */
    static IdleStrategy backoff(Duration time) {
        return new Backoff(time);
    }

    /** Wakes at most once a {@code slice}: everything that comes within one is served together at its end. Positive. */
    static IdleStrategy powersave(Duration slice) {
        return new Powersave(slice);
    }

    /** {@link #powersave(Duration)} with a slice of 20 ms. */
    static IdleStrategy powersave() {
        return new Powersave(Duration.ofMillis(20));
    }

    /** See {@link #BLOCK}. */
    record Block() implements IdleStrategy {}

    /** See {@link #SPIN}. */
    record Spin() implements IdleStrategy {}

    /** See {@link #backoff(Duration)}. */
    record Backoff(Duration time) implements IdleStrategy {
        public Backoff {
            positive(time, "time");
        }
    }

    /** See {@link #powersave(Duration)}. */
    record Powersave(Duration slice) implements IdleStrategy {
        public Powersave {
            positive(slice, "slice");
        }
    }

    private static void positive(Duration d, String name) {
        Objects.requireNonNull(d, name);
        if (d.isZero() || d.isNegative()) {
            throw new IllegalArgumentException(name + " must be positive: " + d);
        }
    }
}
