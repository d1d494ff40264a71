package io.fastio.benchmarks.subject;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;

/**
 * The limit of a task switch: bare continuations, run one after the other from an array. A task system needs a queue, a
 * state machine and a current-thread change on top of this, and cannot be cheaper.
 */
final class ContinuationRing implements Subject.Rate, Subject.Memory {
    private static final ContinuationScope SCOPE = new ContinuationScope("ring");

    @Override
    public String config() {
        return "jdk.internal.vm.Continuation, run in turn from an array on the main thread";
    }

    @Override
    public Reading rate(int tasks, long millis) {
        Lap lap = new Lap(tasks, millis, Lap.bytesOf(Thread.currentThread()));
        Continuation[] ring = new Continuation[tasks];
        ring[0] = new Continuation(SCOPE, () -> {
            do {
                Continuation.yield(SCOPE);
            } while (lap.more());
        });
        for (int i = 1; i < tasks; i++) {
            ring[i] = new Continuation(SCOPE, () -> {
                while (lap.running()) {
                    Continuation.yield(SCOPE);
                }
            });
        }
        while (lap.running()) {
            for (Continuation continuation : ring) {
                continuation.run();
            }
        }
        for (Continuation continuation : ring) {
            while (!continuation.isDone()) {
                continuation.run();
            }
        }
        return lap.reading();
    }

    /** Bare virtual threads on the JDK's own scheduler, parked: what a task's stack and identity cost by themselves. */
    @Override
    public Reading memory(int tasks) throws InterruptedException {
        Thread[] threads = new Thread[tasks];
        long before = Heap.liveBytes();
        for (int i = 0; i < tasks; i++) {
            threads[i] = Thread.ofVirtual().start(LockSupport::park);
        }
        while (parked(threads) < tasks) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        double bytes = Heap.liveBytes() - before;
        for (Thread thread : threads) {
            thread.interrupt();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return Reading.of("bytes", bytes / tasks);
    }

    private static int parked(Thread[] threads) {
        int parked = 0;
        for (Thread thread : threads) {
            if (thread.getState() == Thread.State.WAITING) {
                parked++;
            }
        }
        return parked;
    }
}
