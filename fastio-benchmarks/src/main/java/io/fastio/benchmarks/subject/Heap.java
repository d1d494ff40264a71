package io.fastio.benchmarks.subject;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** Bytes of live heap, found by collecting first. Waits for the collections. */
final class Heap {
    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

    private Heap() {}

    static long liveBytes() {
        // Twice: what the first collection enqueues for clean-up is gone after the second.
        MEMORY.gc();
        MEMORY.gc();
        return MEMORY.getHeapMemoryUsage().getUsed();
    }
}
