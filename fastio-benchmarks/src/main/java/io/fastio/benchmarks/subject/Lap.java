package io.fastio.benchmarks.subject;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Times a ring of tasks that take turns, and counts the turns: task 0 calls {@link #more} after each of its turns, all
 * others {@link #running}. The clock is read about once per thousand switches and is no part of the result. One thread
 * only, or tasks that run one at a time.
 */
final class Lap {
    private static final int SWITCHES_PER_LOOK = 2_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final long nanos;
    private final int roundsPerLook;
    private final LongSupplier allocated;
    private int left;
    private boolean started;
    private long turns;
    private long switches;
    private long startTime;
    private long startBytes;
    private long elapsed;
    private long bytes;
    private volatile boolean running = true;

    Lap(int tasks, long millis, LongSupplier allocated) {
        this.nanos = millis * 1_000_000;
        this.allocated = allocated;
        roundsPerLook = Math.max(1, SWITCHES_PER_LOOK / tasks);
        // The first looks are warm-up: every task must have had its first turn before the clock starts.
        left = roundsPerLook * 2;
    }

    /** Bytes that one platform thread allocates; what virtual threads allocate counts for their carrier. */
    static LongSupplier bytesOf(Thread carrier) {
        long id = carrier.threadId();
        return () -> THREADS.getThreadAllocatedBytes(id);
    }

    /** Bytes that all threads of this process together allocate. */
    static LongSupplier bytesOfAll() {
        return THREADS::getTotalThreadAllocatedBytes;
    }

    /** For task 0, once after each of its turns: whether the ring goes on. */
    boolean more() {
        turns++;
        return --left > 0 || look();
    }

    /** For the other tasks, once after each of their turns: whether the ring goes on. */
    boolean running() {
        turns++;
        return running;
    }

    private boolean look() {
        left = roundsPerLook;
        if (!started) {
            started = true;
            turns = 0;
            startBytes = allocated.getAsLong();
            startTime = System.nanoTime();
            return true;
        }
        elapsed = System.nanoTime() - startTime;
        if (elapsed < nanos) {
            return true;
        }
        bytes = allocated.getAsLong() - startBytes;
        switches = turns;
        running = false;
        return false;
    }

    Reading reading() {
        return Reading.of(Map.of("ns", elapsed / (double) switches, "bytes", bytes / (double) switches));
    }
}
