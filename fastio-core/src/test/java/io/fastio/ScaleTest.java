package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** S9 and C7: cost that does not grow with numbers, and nothing left behind. Ratios measured in one run, generous. */
final class ScaleTest {
    @FunctionalInterface
    private interface Load {
        /** Nanoseconds that {@code n} of it take. */
        long nanos(int n) throws Exception;
    }

    /** Ten times more takes at most {@code factor} times as long; the best of some attempts, since machines are noisy. */
    private static void assertAbout(double factor, int n, Load load) throws Exception {
        load.nanos(n); // warm
        double best = Double.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && best > factor; attempt++) {
            long few = load.nanos(n);
            long many = load.nanos(10 * n);
            best = Math.min(best, (double) many / few);
        }
        assertThat(best).isLessThanOrEqualTo(factor);
    }

    @Test
    void C7_cancellingManySleepersIsLinear() throws Exception {
        assertAbout(25, 5_000, n -> {
            long[] took = new long[1];
            TestLoop.run(t -> {
                List<Task<Void>> tasks = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                    tasks.add(Asyncio.createTask(() -> Asyncio.sleepMs(1_000_000)));
                }
                Asyncio.yieldNow();
                long start = System.nanoTime();
                tasks.forEach(Task::cancel);
                Asyncio.yieldNow();
                took[0] = System.nanoTime() - start;
                assertThat(tasks).allMatch(Task::cancelled);
                assertThat(t.loop.timerCount()).isZero();
            });
            return took[0];
        });
    }

    @Test
    void C7_cancellingADeepChainOfAwaitsIsLinear() throws Exception {
        assertAbout(25, 1_000, n -> {
            long[] took = new long[1];
            TestLoop.run(t -> {
                List<Task<Void>> chain = new ArrayList<>();
                chain.add(Asyncio.createTask(() -> Asyncio.sleepMs(1_000_000)));
                for (int i = 1; i < n; i++) {
                    Task<Void> inner = chain.get(i - 1);
                    chain.add(Asyncio.createTask(inner::await));
                }
                Asyncio.yieldNow();
                long start = System.nanoTime();
                chain.get(n - 1).cancel();
                TestLoop.yields(2);
                took[0] = System.nanoTime() - start;
                assertThat(chain).allMatch(Task::cancelled);
            });
            return took[0];
        });
    }

    @Test
    void C7_leavingTenThousandNestedScopesIsLinear() throws Exception {
        assertAbout(25, 1_000, n -> {
            AtomicLong took = new AtomicLong();
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread deep = new Thread( // a task's stack stands on that of the carrier
                    null,
                    () -> thrown.set(TestLoop.thrownBy(() -> TestLoop.run(t -> {
                        long[] start = new long[1];
                        Asyncio.cancelScope(outer -> {
                            nest(n, () -> {
                                outer.cancel();
                                start[0] = System.nanoTime();
                                Asyncio.yieldNow();
                            });
                            return null;
                        });
                        took.set(System.nanoTime() - start[0]);
                    }))),
                    "deep",
                    1L << 28);
            deep.start();
            deep.join();
            assertThat(thrown).hasNullValue();
            return took.get();
        });
    }

    private static void nest(int depth, Action innermost) throws Exception {
        if (depth == 0) {
            innermost.run();
        } else {
            Asyncio.cancelScope(s -> {
                nest(depth - 1, innermost);
                return null;
            });
        }
    }

    @Test
    void S9_aSwitchCostsTheSameAmongManyReadyTasks() throws Exception {
        assertAbout(25, 1_000, n -> {
            long[] took = new long[1];
            TestLoop.run(t -> {
                for (int i = 0; i < n; i++) {
                    Asyncio.createTask(() -> TestLoop.yields(Integer.MAX_VALUE));
                }
                Asyncio.yieldNow();
                long start = System.nanoTime();
                TestLoop.yields(20);
                took[0] = System.nanoTime() - start;
            });
            return took[0];
        });
    }

    @Test
    void S9_aHundredThousandTasks() throws Exception {
        TestLoop.run(t -> {
            AtomicInteger ended = new AtomicInteger();
            for (int i = 0; i < 100_000; i++) {
                int n = i;
                Asyncio.createTask(() -> {
                    Asyncio.sleepMs(n % 100);
                    ended.incrementAndGet();
                });
            }
            Asyncio.sleepMs(100);
            assertThat(ended).hasValue(100_000);
            assertThat(Asyncio.allTasks()).hasSize(1);
        });
    }

    @Test
    void F112_aMillionTimersArmedAndCancelledLeaveNothing() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.run(() -> {
            long before = usedHeap();
            List<Handle> handles = new ArrayList<>();
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < 100_000; i++) {
                    handles.add(loop.callLater(java.time.Duration.ofHours(1 + i % 1_000), () -> {}));
                }
                handles.forEach(Handle::cancel);
                handles.clear();
            }
            assertThat(loop.timerCount()).isZero();
            handles = null;
            assertThat(usedHeap() - before).isLessThan(3_000_000);
        });
        loop.close();
    }

    private static long usedHeap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Runtime r = Runtime.getRuntime();
            least = Math.min(least, r.totalMemory() - r.freeMemory());
        }
        return least;
    }

    /**
     * The trap of a carrier that waits for a lock of which its own parked task is the heir: threads are started from
     * outside, logs written and monitors contended, by tasks and by foreign threads, and the loop must stay alive.
     */
    @Test
    @Tag("slow")
    void F67_F68_theCarrierWaitsForNoLockOfItsTasks() throws Exception {
        System.Logger logger = System.getLogger("io.fastio.test.trap");
        Object monitor = new Object();
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong alive = new AtomicLong();
        EventLoop loop = EventLoop.create();
        loop.start();
        List<Thread> outside = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            outside.add(Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    Thread v = loop.threadFactory(Priority.NORMAL).newThread(() -> {
                        synchronized (monitor) {
                            logger.log(System.Logger.Level.DEBUG, "from a thread of the loop");
                        }
                    });
                    v.start();
                    Thread.ofVirtual().start(() -> logger.log(System.Logger.Level.DEBUG, "from another"));
                    synchronized (monitor) {
                        Thread.onSpinWait();
                    }
                    try {
                        v.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }));
        }
        for (int i = 0; i < 20; i++) {
            loop.createTask(() -> {
                while (!over.get()) {
                    synchronized (monitor) {
                        logger.log(System.Logger.Level.DEBUG, "from a task");
                        Asyncio.yieldNow(); // with the monitor held
                    }
                    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
                        executor.submit(() -> {
                                    synchronized (monitor) {
                                        return 1;
                                    }
                                })
                                .get();
                    }
                    alive.incrementAndGet();
                    Asyncio.yieldNow();
                }
            });
        }
        long last = 0;
        for (int second = 0; second < 10; second++) {
            Thread.sleep(1_000);
            CountDownLatch beat = new CountDownLatch(1);
            loop.callSoon(beat::countDown);
            assertThat(beat.await(30, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
            last = alive.get();
        }
        assertThat(last).isPositive();
        over.set(true);
        for (Thread o : outside) {
            o.join();
        }
        loop.close();
    }
}
