package io.fastio.benchmarks.subject;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures wakes from another thread. {@link #ring} runs on the waking thread and calls the given action after 0.5 to
 * 2 ms of quiet; whatever that wakes calls {@link #awake} at once. Before that come wakes in quick succession, for half a
 * second at most, which do not count: at one wake a millisecond the compiler would not have seen the code by the end,
 * and most of each figure would be the interpreter's. They go the very same way as those that count, rests included, since
 * code that meets a branch for the first time is interpreted again, and a task with an interpreted frame is changed slowly.
 */
final class Alarm {
    private static final long QUIET_MIN_NANOS = 500_000;
    private static final long QUIET_MAX_NANOS = 2_000_000;
    private static final long LOST_NANOS = 2_000_000_000;
    private static final long WARM_UP_NANOS = 500_000_000;
    private static final long WARM_UP_QUIET_NANOS = 15_000;

    /** Every so many wakes of the warm-up come after a rest. */
    private static final int WARM_UP_RESTS = 64;

    /** Shorter than this a wait spins. */
    private static final long REST_MIN_NANOS = 50_000;

    /** The latest wakes, as many as count. */
    private final double[] micros;

    private final SplittableRandom random = new SplittableRandom(20_25);
    private volatile long sent;
    private volatile int awoken;

    /** With this wake it is over. */
    private volatile int last = Integer.MAX_VALUE;

    // The woken side's.
    private int woken;
    private int slot;

    Alarm(int count) {
        micros = new double[count];
    }

    /** The woken side, once per wake. Returns whether another wake is to be waited for. */
    boolean awake() {
        micros[slot] = (System.nanoTime() - sent) / 1_000.0;
        slot = slot + 1 == micros.length ? 0 : slot + 1;
        awoken = ++woken;
        return woken < last;
    }

    /** The waking side: returns when all wakes have arrived. */
    void ring(Runnable wake) {
        long warm = System.nanoTime() + WARM_UP_NANOS;
        for (int rung = 1; rung <= last; rung++) {
            boolean warmingUp = last == Integer.MAX_VALUE;
            if (warmingUp && System.nanoTime() - warm > 0) {
                last = rung + micros.length;
            }
            boolean rested = !warmingUp || rung % WARM_UP_RESTS == 0;
            long quiet = rested ? random.nextLong(QUIET_MIN_NANOS, QUIET_MAX_NANOS) : WARM_UP_QUIET_NANOS;
            await(System.nanoTime() + quiet);
            sent = System.nanoTime();
            wake.run();
            long limit = System.nanoTime() + LOST_NANOS;
            while (awoken < rung) {
                if (System.nanoTime() - limit > 0) {
                    throw new IllegalStateException("wake " + rung + " was lost");
                }
                await(System.nanoTime() + (rested ? QUIET_MIN_NANOS / 5 : 0));
            }
        }
    }

    private static void await(long moment) {
        for (long left = moment - System.nanoTime(); left > 0; left = moment - System.nanoTime()) {
            if (left > REST_MIN_NANOS) {
                LockSupport.parkNanos(left);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    Reading reading() {
        return Reading.of(Samples.of(micros));
    }
}
