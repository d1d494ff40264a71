package io.fastio.benchmarks.subject;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Event;
import io.fastio.sync.Lock;
import io.fastio.sync.ThreadSafeFlag;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;

/** What tasks do with each other: two that take turns by way of a primitive, and one among a great many. */
final class FastioSync {
    private static final long DEEP_STACK = 256L << 20;

    private FastioSync() {}

    /** One turn of a task: passes the turn on to the other one and waits until it is back. */
    private interface Turn {
        void take(boolean first);
    }

    /** {@code ns} and {@code bytes} per turn, which is one switch, for about {@code millis} ms. */
    static Reading turns(String with, long millis) throws Exception {
        Lap lap = new Lap(2, millis, Lap.bytesOf(Thread.currentThread()));
        Asyncio.run(() -> {
            Turn turn = turn(with);
            Task<?> first = Asyncio.createTask(() -> {
                while (lap.more()) {
                    turn.take(true);
                }
            });
            Task<?> second = Asyncio.createTask(() -> {
                while (lap.running()) {
                    turn.take(false);
                }
            });
            first.await();
            second.cancel(); // it may wait for a turn that nobody passes on any more
        });
        return lap.reading();
    }

    private static Turn turn(String with) {
        return switch (with) {
            case "yield" -> first -> Asyncio.yieldNow();
            case "event" -> event(new Event(), new Event());
            case "flag" -> flag(new ThreadSafeFlag(), new ThreadSafeFlag());
            case "lock" -> lock(new Lock());
            case "queue" -> queue(new AsyncQueue<>(), new AsyncQueue<>());
            case "queue_bounded" -> queue(new AsyncQueue<>(1), new AsyncQueue<>(1));
            default -> throw new IllegalArgumentException("no such sync: " + with);
        };
    }

    // The first one serves and the second one answers, so that one turn is under way and every turn is a switch.

    private static Turn event(Event one, Event two) {
        return first -> {
            if (first) {
                one.set();
                two.await();
                two.clear();
            } else {
                one.await();
                one.clear();
                two.set();
            }
        };
    }

    private static Turn flag(ThreadSafeFlag one, ThreadSafeFlag two) {
        return first -> {
            if (first) {
                one.set();
                two.await();
            } else {
                one.await();
                two.set();
            }
        };
    }

    /** Each acquires while the other holds it: from the second turn on every acquire waits for a hand-over. */
    private static Turn lock(Lock lock) {
        boolean[] begun = new boolean[2];
        return first -> {
            int me = first ? 0 : 1;
            if (begun[me]) {
                lock.release();
            }
            begun[me] = true;
            lock.acquire();
            if (!begun[1]) {
                Asyncio.yieldNow(); // the second one begins to wait
            }
        };
    }

    private static Turn queue(AsyncQueue<String> one, AsyncQueue<String> two) {
        return first -> {
            if (first) {
                one.put("turn");
                check(two.get());
            } else {
                check(one.get());
                two.put("turn");
            }
        };
    }

    private static void check(String item) {
        if (item.isEmpty()) {
            throw new IllegalStateException("somebody else's item");
        }
    }

    /**
     * One release of a lock that {@code waiters} tasks wait for: {@code ns} until its next holder has run, and how many
     * tasks ran.
     */
    static Reading herd(int waiters) throws Exception {
        return Asyncio.run(() -> {
            Lock lock = new Lock();
            int[] ran = new int[1];
            lock.acquire();
            List<Task<?>> tasks = new ArrayList<>(waiters);
            for (int i = 0; i < waiters; i++) {
                tasks.add(Asyncio.createTask(() -> {
                    lock.acquire();
                    ran[0]++;
                }));
            }
            Asyncio.yieldNow();
            long start = System.nanoTime();
            lock.release();
            Asyncio.yieldNow();
            long nanos = System.nanoTime() - start;
            Asyncio.yieldNow();
            int woken = ran[0];
            tasks.forEach(Task::cancel);
            return Reading.of(Map.of("ns", (double) nanos, "woken", (double) woken));
        });
    }

    /** {@code ns} to cancel {@code tasks} sleeping tasks, until all of them ended; without the collector's pauses. */
    static Reading cancels(int tasks) throws Exception {
        return Asyncio.run(() -> {
            List<Task<?>> all = new ArrayList<>(tasks);
            for (int i = 0; i < tasks; i++) {
                all.add(Asyncio.createTask(() -> Asyncio.sleepMs(10_000_000)));
            }
            Asyncio.yieldNow();
            long pauses = collectorNanos();
            long start = System.nanoTime();
            for (Task<?> t : all) {
                t.cancel();
            }
            Asyncio.yieldNow();
            long nanos = System.nanoTime() - start - (collectorNanos() - pauses);
            for (Task<?> t : all) {
                if (!t.cancelled()) {
                    throw new IllegalStateException(t + " was not cancelled");
                }
            }
            return Reading.of("ns", (double) nanos);
        });
    }

    private static long collectorNanos() {
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += collector.getCollectionTime();
        }
        return millis * 1_000_000;
    }

    /** {@code ns} to cancel a task inside {@code depth} timeouts, until it ended. */
    static Reading scopes(int depth) throws Exception {
        // A task's frames lie on the stack of its loop's thread while it runs: five of them for each timeout.
        FutureTask<Reading> deep = new FutureTask<>(() -> nestedScopes(depth));
        new Thread(null, deep, "deep", DEEP_STACK).start();
        return deep.get();
    }

    private static Reading nestedScopes(int depth) throws Exception {
        return Asyncio.run(() -> {
            Task<?> t = Asyncio.createTask(() -> nest(depth, () -> Asyncio.sleepMs(10_000_000)));
            Asyncio.yieldNow();
            long start = System.nanoTime();
            t.cancel();
            Asyncio.yieldNow();
            long nanos = System.nanoTime() - start;
            if (!t.cancelled()) {
                throw new IllegalStateException(t + " was not cancelled");
            }
            return Reading.of("ns", (double) nanos);
        });
    }

    private static void nest(int depth, Action innermost) throws Exception {
        if (depth == 0) {
            innermost.run();
        } else {
            Asyncio.waitForMs(() -> nest(depth - 1, innermost), 10_000_000);
        }
    }
}
