package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.sync.Event;
import io.fastio.time.LoopClock;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Faults of other loops that belong to no single class of this one. */
@Timeout(60)
final class FaultTest {
    private static final int BACKLOG = 100_000;
    private static final ThreadLocal<Object> CONTEXT = new InheritableThreadLocal<>();

    private final AtomicLong steps = new AtomicLong();

    // ---- wakes

    /** A wake through a list of all descriptors, or one that spins for somebody who is preempted, would show. */
    @Test
    void W1_F91_aWakeCostsTheSameBesideHundredsOfStreams() throws Exception {
        double ratio = Double.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && ratio > 3; attempt++) {
            double few = medianWake(1);
            double many = medianWake(300);
            ratio = Math.min(ratio, many / few);
        }
        assertThat(ratio).isLessThan(3);
    }

    private static double medianWake(int streams) throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            return loop.run(() -> {
                List<Streams.Pipe> pipes = new ArrayList<>();
                for (int i = 0; i < streams; i++) {
                    Streams.Pipe p = Streams.pipe();
                    pipes.add(p);
                    Asyncio.createTask(() -> p.source().read(1));
                }
                Event asked = new Event();
                long[] samples = new long[200];
                for (int i = 0; i < samples.length; i++) {
                    asked.clear();
                    long[] at = new long[1];
                    Thread poster = Thread.ofPlatform().start(() -> {
                        try {
                            Thread.sleep(1);
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                        at[0] = System.nanoTime();
                        asked.set();
                    });
                    asked.await();
                    long now = System.nanoTime();
                    poster.join();
                    samples[i] = now - at[0];
                }
                for (Streams.Pipe p : pipes) {
                    p.source().abort();
                    p.sink().abort();
                }
                Arrays.sort(samples);
                return (double) samples[samples.length / 2];
            });
        }
    }

    // ---- the end

    @Test
    void S11_F101_aWorkerThatWaitsForTheLoopDoesNotHoldUpItsEnd() throws Exception {
        CountDownLatch atWork = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        AtomicReference<Throwable> met = new AtomicReference<>();
        EventLoop loop = EventLoop.builder().exceptionHandler(e -> {}).build();
        Task<Integer> asks = loop.createTask(() -> Asyncio.offload(() -> {
            atWork.countDown();
            try {
                return loop.createTask(() -> {
                            Asyncio.sleepMs(60_000);
                            return 1;
                        })
                        .get();
            } catch (Exception e) {
                met.set(e);
                throw e;
            } finally {
                over.countDown();
            }
        }));
        loop.run(() -> Asyncio.offload(() -> {
            atWork.await();
            return true;
        }));
        long start = System.nanoTime();
        loop.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
        assertThat(asks.cancelled()).isTrue();
        over.await();
        assertThat(met.get())
                .isInstanceOfAny(CancellationException.class, IllegalStateException.class, InterruptedException.class);
    }

    // ---- time

    /** Stated by {@link LoopClock}: the clock is the machine's monotonic one, which does not count a suspension. */
    @Test
    void S3_F115_theClockIsTheMonotonicOne() {
        LoopClock clock = LoopClock.monotonic();
        long first = System.nanoTime() - clock.nanos();
        long start = System.nanoTime();
        while (System.nanoTime() - start < 50_000_000) {
            long before = System.nanoTime();
            long offset = before - clock.nanos();
            long after = System.nanoTime();
            assertThat(Math.abs(offset - first)).isLessThanOrEqualTo(after - before + 1_000_000);
        }
    }

    @Test
    void S9_F128_aTimerHoldsNothingOfWhoMadeIt() throws Exception {
        TestLoop.run(t -> {
            List<Handle> timers = new ArrayList<>();
            WeakReference<Object> maker = makeTimer(t, timers);
            Asyncio.yieldNow();
            for (int i = 0; i < 200 && maker.get() != null; i++) {
                System.gc();
                Thread.sleep(5); // the collector clears references in its own time
            }
            assertThat(maker.get()).isNull();
            assertThat(timers.getFirst().cancel()).isTrue();
        });
    }

    private static WeakReference<Object> makeTimer(TestLoop t, List<Handle> timers) throws Exception {
        return t.loop.createTask(() -> {
                    Object request = new byte[1000];
                    CONTEXT.set(request);
                    timers.add(t.loop.callLater(Duration.ofDays(30), () -> t.log("fired")));
                    return new WeakReference<>(request);
                })
                .await();
    }

    // ---- shares

    @Test
    void S7_F118_callbacksThatPostThemselvesDoNotStarveStreams() throws Exception {
        Asyncio.run(() -> {
            EventLoop loop = Asyncio.runningLoop();
            long[] posted = {0};
            boolean[] end = {false};
            Runnable[] again = new Runnable[1];
            again[0] = () -> {
                posted[0]++;
                if (!end[0]) {
                    loop.callSoon(again[0]);
                }
            };
            for (int i = 0; i < 10; i++) {
                loop.callSoon(again[0]);
            }
            Streams.Pipe pipe = Streams.pipe();
            Task<Void> writer = Asyncio.createTask(() -> {
                for (int i = 0; i < 200; i++) {
                    Asyncio.sleepMs(1);
                    pipe.sink().write(new byte[] {1});
                }
            });
            Asyncio.waitForMs(() -> pipe.source().readExactly(200), 20_000);
            writer.await();
            end[0] = true;
            assertThat(posted[0]).isGreaterThan(200); // and I/O does not starve them
            pipe.source().close();
            pipe.sink().close();
        });
    }

    @Test
    void S14_F118_aStreamThatFailsAtOnceDoesNotStarveTasks() throws Exception {
        Asyncio.run(() -> {
            Streams.Pipe pipe = Streams.pipe();
            pipe.sink().close();
            Stream broken = pipe.source();
            broken.priority(true);
            long[] ends = {0};
            Task<Void> stubborn = Asyncio.createTask(() -> {
                ByteBuffer b = ByteBuffer.allocate(8);
                while (true) {
                    assertThat(broken.read(b.clear())).isEqualTo(-1);
                    ends[0]++;
                }
            });
            Asyncio.waitForMs(
                    () -> {
                        for (int i = 0; i < 50; i++) {
                            Asyncio.sleepMs(1);
                        }
                    },
                    20_000);
            assertThat(ends[0]).isPositive();
            stubborn.cancel();
        });
    }

    /** However much is ready, an urgent wake waits for the step in progress; counted in steps, not in time. */
    @Test
    void S6_F121_anUrgentWakeOvertakesAnyBacklog() throws Exception {
        Asyncio.run(() -> {
            boolean[] end = {false};
            List<Task<?>> backlog = new ArrayList<>();
            for (int i = 0; i < BACKLOG; i++) {
                backlog.add(Asyncio.createTask(() -> {
                    while (!end[0]) {
                        steps.lazySet(steps.get() + 1); // only the loop writes it
                        Asyncio.yieldNow();
                    }
                }));
            }
            Event urgent = new Event(Priority.URGENT);
            // An URGENT task: if it has to give way before it waits (S14), it is not behind the backlog.
            Task<Void> waiter = Asyncio.createTask(TaskOptions.of(Priority.URGENT), () -> {
                for (int i = 0; i < 100; i++) {
                    urgent.clear();
                    AtomicLong stepsWhenSet = new AtomicLong();
                    Thread poster = Thread.ofPlatform().start(() -> {
                        urgent.set();
                        stepsWhenSet.set(steps.get());
                    });
                    urgent.await();
                    long stepsWhenWoken = steps.get();
                    poster.join();
                    assertThat(stepsWhenWoken - stepsWhenSet.get()).isLessThanOrEqualTo(2);
                }
            });
            waiter.await();
            end[0] = true;
            for (Task<?> t : backlog) {
                t.await();
            }
        });
    }

    // ---- determinism

    @Test
    void V2_F125_theSameProgramHasTheSameTraceTwice() throws Exception {
        List<String> first = traceOf(42);
        assertThat(first).hasSizeGreaterThan(1_000);
        assertThat(traceOf(42)).isEqualTo(first);
        assertThat(traceOf(43)).isNotEqualTo(first);
    }

    private static List<String> traceOf(long seed) throws Exception {
        List<String> trace = new ArrayList<>();
        TestLoop.run(t -> {
            SplittableRandom random = new SplittableRandom(seed);
            Event event = new Event();
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                String name = "t" + i;
                tasks.add(Asyncio.createTask(name, () -> {
                    for (int n = 0; n < 40; n++) {
                        switch (random.nextInt(6)) {
                            case 0 -> Asyncio.yieldNow();
                            case 1 -> Asyncio.sleepMs(random.nextInt(5));
                            case 2 -> Asyncio.afterMs(random.nextInt(5));
                            case 3 -> event.awaitWithin(Duration.ofMillis(random.nextInt(5)));
                            case 4 -> {
                                event.set();
                                event.clear();
                            }
                            default -> t.hog(random.nextInt(3));
                        }
                        trace.add(t.loop.time() + " " + name);
                    }
                }));
            }
            for (Task<?> task : tasks) {
                task.await();
            }
        });
        return trace;
    }
}
