package io.fastio.sync;

import io.fastio.Action;
import io.fastio.EventLoop;
import io.fastio.Signal;
import io.fastio.Task;
import io.fastio.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Threads that do the same at the same time, and the windows in which broken twins are hit. */
final class Race {
    private Race() {}

    /** What a thread does; its number is given. */
    interface Runner {
        void run(int number) throws Exception;
    }

    /** Has {@code n} platform threads run {@code body}, set off together; returns once all of them have ended. Blocks. */
    static void of(int n, Runner body) throws Exception {
        CyclicBarrier start = new CyclicBarrier(n);
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int number = i;
            threads.add(Thread.ofPlatform().daemon().start(() -> {
                try {
                    start.await();
                    body.run(number);
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError("a racing thread failed", failures.getFirst());
        }
    }

    /** How many of {@code n} threads that do it together succeed; an IllegalStateException is a failure. Blocks. */
    static int winners(int n, Action attempt) throws Exception {
        AtomicInteger won = new AtomicInteger();
        of(n, number -> {
            try {
                attempt.run();
                won.incrementAndGet();
            } catch (IllegalStateException refused) {
                // that one lost
            }
        });
        return won.get();
    }

    /** The window of a broken twin, held open long enough to be hit. */
    static void window() {
        long end = System.nanoTime() + 50_000;
        while (System.nanoTime() < end) {
            Thread.yield();
        }
    }

    /** One task that waits, and a bell for it: what the broken twins are made of. */
    static final class Bell {
        volatile @Nullable Task<?> waiting;
        private volatile @Nullable Signal signal;

        void await() {
            Task<?> me = Wait.begin();
            EventLoop loop = Wait.loopOf(me);
            Signal s = signal;
            if (s == null) {
                signal = new Signal(loop) {
                    @Override
                    protected void act() {
                        Task<?> t = waiting;
                        if (t != null) {
                            waiting = null;
                            Wait.resume(t);
                        }
                    }
                };
            }
            waiting = me;
            Wait.suspend(
                    (task, woken) -> {
                        waiting = null;
                        return true;
                    },
                    null,
                    Wait.FOREVER);
        }

        void ring() {
            Signal s = signal;
            if (s != null) {
                s.raise();
            }
        }
    }
}
