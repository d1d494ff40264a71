package io.fastio.benchmarks.subject;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures wakes from another thread. {@link #ring} runs on the waking thread and calls the given action after 0.5 to
 * 2 ms of quiet; whatever that wakes calls {@link #awake} at once.
 */
final class Alarm {
    private static final long QUIET_MIN_NANOS = 500_000;
    private static final long QUIET_MAX_NANOS = 2_000_000;
    private static final long LOST_NANOS = 2_000_000_000;

    private final double[] micros;
    private final SplittableRandom random = new SplittableRandom(20_25);
    private volatile long sent;
    private volatile int awoken;

    Alarm(int count) {
        micros = new double[count];
    }

    int count() {
        return micros.length;
    }

    /** The woken side, once per wake. Returns whether another wake is to be waited for. */
    boolean awake() {
        long now = System.nanoTime();
        int i = awoken;
        micros[i] = (now - sent) / 1_000.0;
        awoken = i + 1;
        return i + 1 < micros.length;
    }

    /** The waking side: returns when all wakes have arrived. */
    void ring(Runnable wake) {
        for (int i = 0; i < micros.length; i++) {
            quiet(random.nextLong(QUIET_MIN_NANOS, QUIET_MAX_NANOS));
            sent = System.nanoTime();
            wake.run();
            long limit = System.nanoTime() + LOST_NANOS;
            while (awoken <= i) {
                if (System.nanoTime() - limit > 0) {
                    throw new IllegalStateException("wake " + i + " was lost");
                }
                LockSupport.parkNanos(QUIET_MIN_NANOS / 5);
            }
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
