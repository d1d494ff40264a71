package io.fastio.benchmarks.subject;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Book-keeping of the sleeper benchmark: draws the times, records how late each sleep ended, and counts the CPU time of
 * the whole process from construction to {@link #reading}. One thread only, the one that runs the tasks.
 */
final class Naps {
    static final int PER_TASK = 3;
    private static final int MIN_MILLIS = 1;
    private static final int MAX_MILLIS = 1_000;

    private final SplittableRandom random = new SplittableRandom(7);
    private final Histogram lateMicros = new Histogram(60_000_000, 3);
    private final long startCpu = cpuNanos();

    int nextMillis() {
        return random.nextInt(MIN_MILLIS, MAX_MILLIS + 1);
    }

    void slept(long startNanos, int millis) {
        long late = System.nanoTime() - startNanos - millis * 1_000_000L;
        lateMicros.recordValue(Math.clamp(late / 1_000, 0, 60_000_000));
    }

    long slept() {
        return lateMicros.getTotalCount();
    }

    Reading reading() {
        double cpu = cpuNanos() - startCpu;
        return Reading.of(Map.of(
                "cpu_ns", cpu / lateMicros.getTotalCount(),
                "late_p50_us", (double) lateMicros.getValueAtPercentile(50),
                "late_p99_us", (double) lateMicros.getValueAtPercentile(99),
                "late_max_us", (double) lateMicros.getMaxValue()));
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
