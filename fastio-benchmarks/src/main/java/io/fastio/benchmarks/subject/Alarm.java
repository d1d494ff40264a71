package io.fastio.benchmarks.subject;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures wakes from another thread. {@link #ring} runs on the waking thread and calls the given action after 0.5 to
 * 2 ms of quiet; whatever that wakes calls {@link #awake} at once. Before that come wakes in quick succession, for half a
 * second at most, which nobody measures: at one wake a millisecond the compiler would not have seen the code by the end,
 * and most of each figure would be the interpreter's.
 */
final class Alarm {
    private static final long QUIET_MIN_NANOS = 500_000;
    private static final long QUIET_MAX_NANOS = 2_000_000;
    private static final long LOST_NANOS = 2_000_000_000;
    private static final long WARM_UP_NANOS = 500_000_000;
    private static final long WARM_UP_QUIET_NANOS = 15_000;

    private final double[] micros;
    private final SplittableRandom random = new SplittableRandom(20_25);
    private volatile long sent;
    private volatile int awoken;
    private volatile boolean measuring;

    /** All wakes so far, and those of them that were measured; the woken side's. */
    private int woken;

    private int measured;

    Alarm(int count) {
        micros = new double[count];
    }

    /** The woken side, once per wake. Returns whether another wake is to be waited for. */
    boolean awake() {
        long now = System.nanoTime();
        if (measuring) {
            micros[measured++] = (now - sent) / 1_000.0;
        }
        awoken = ++woken;
        return measured < micros.length;
    }

    /** The waking side: returns when all wakes have arrived. */
    void ring(Runnable wake) {
        int rung = 0;
        for (long end = System.nanoTime() + WARM_UP_NANOS; System.nanoTime() - end < 0; ) {
            spin(WARM_UP_QUIET_NANOS);
            wake.run();
            await(++rung, false);
        }
        measuring = true;
        for (int i = 0; i < micros.length; i++) {
            quiet(random.nextLong(QUIET_MIN_NANOS, QUIET_MAX_NANOS));
            sent = System.nanoTime();
            wake.run();
            await(++rung, true);
        }
    }

    private void await(int wakes, boolean asleep) {
        long limit = System.nanoTime() + LOST_NANOS;
        while (awoken < wakes) {
            if (System.nanoTime() - limit > 0) {
                throw new IllegalStateException("wake " + wakes + " was lost");
            }
            if (asleep) {
                LockSupport.parkNanos(QUIET_MIN_NANOS / 5);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private static void spin(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    private static void quiet(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    Reading reading() {
        return Reading.of(Samples.of(micros));
    }
}
