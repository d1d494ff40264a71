package io.fastio.benchmarks.subject;

import java.util.ArrayList;
import java.util.List;

/** The load of the timing benchmarks, and the record of the timers that run beside it. One thread only. */
final class Hogs {
    static final int COUNT = 10;
    static final long STEP_NANOS = 10_000_000;
    static final int TIMERS = 3;
    static final long TIMER_MILLIS = 30;

    private final long end;
    private final List<Double> millis = new ArrayList<>();

    Hogs(long millis) {
        end = System.nanoTime() + millis * 1_000_000;
    }

    /** Whether the time of the run is not over yet. */
    boolean running() {
        return System.nanoTime() - end < 0;
    }

    /** Blocks the calling thread for {@code nanos} ns of wall time. */
    static void block(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    /** A timer set at {@code startNanos} fired. After the end of the run this no longer counts. */
    void fired(long startNanos) {
        long now = System.nanoTime();
        if (now - end < 0) {
            millis.add((now - startNanos) / 1e6);
        }
    }

    Reading reading() {
        return Reading.of(
                Samples.of(millis.stream().mapToDouble(Double::doubleValue).toArray()));
    }
}
