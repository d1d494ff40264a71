package io.fastio.benchmarks.subject;

import java.util.ArrayDeque;

/** The limit of a callback: a queue of {@code Runnable}s and a loop that runs them, and nothing else. */
final class CallbackRing implements Subject.Rate, Subject.Callbacks {
    @Override
    public String config() {
        return "ArrayDeque<Runnable> on the main thread";
    }

    @Override
    public Reading rate(int tasks, long millis) {
        Lap lap = new Lap(tasks, millis, Lap.bytesOf(Thread.currentThread()));
        ArrayDeque<Runnable> queue = new ArrayDeque<>(tasks + 1);
        queue.add(new Runnable() {
            @Override
            public void run() {
                if (lap.more()) {
                    queue.add(this);
                }
            }
        });
        for (int i = 1; i < tasks; i++) {
            queue.add(new Runnable() {
                @Override
                public void run() {
                    if (lap.running()) {
                        queue.add(this);
                    }
                }
            });
        }
        for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
            next.run();
        }
        return lap.reading();
    }

    @Override
    public Reading callbacks(long millis) {
        return rate(1, millis);
    }
}
