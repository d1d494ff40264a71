package io.fastio.benchmarks.subject;

import java.lang.reflect.Constructor;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;

/**
 * The limit of a switch between virtual threads: the least of a scheduler, a queue without classes, timers, cancellation or
 * wakes from outside. What lies between it and bare continuations is the JDK's own mounting and unmounting.
 */
@SuppressWarnings("ThreadPriorityCheck") // the scheduler is what is measured here
final class BareVirtualThreads implements Subject.Rate {
    @Override
    public String config() {
        return "virtual threads that Thread.yield on an ArrayDeque as scheduler, main thread as carrier";
    }

    @Override
    public Reading rate(int tasks, long millis) throws ReflectiveOperationException {
        Lap lap = new Lap(tasks, millis, Lap.bytesOf(Thread.currentThread()));
        ArrayDeque<Runnable> queue = new ArrayDeque<>(tasks + 1);
        Executor scheduler = queue::add;
        Constructor<?> builder =
                Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder").getDeclaredConstructor(Executor.class);
        builder.setAccessible(true);
        for (int i = 0; i < tasks; i++) {
            boolean first = i == 0;
            ((Thread.Builder.OfVirtual) builder.newInstance(scheduler)).start(() -> {
                while (first ? lap.more() : lap.running()) {
                    Thread.yield();
                }
            });
        }
        for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
            next.run();
        }
        return lap.reading();
    }
}
