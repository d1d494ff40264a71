package io.fastio.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.context.BackgroundTasks.Registration;
import io.fastio.context.BackgroundTasks.When;
import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class BackgroundTasksTest {
    private static final long MS = 1_000_000;

    private final LoopClock.Virtual clock = LoopClock.virtual();
    private final List<String> reports = Collections.synchronizedList(new ArrayList<>());
    private final List<String> trace = Collections.synchronizedList(new ArrayList<>());

    /** Runs a test in a task, on virtual time. */
    private void virtually(Body test) throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .clock(clock)
                .exceptionHandler(e -> reports.add(e.message()))
                .build()) {
            BackgroundTasks b = BackgroundTasks.of(loop);
            loop.run((Action) () -> test.run(b));
        }
    }

    private interface Body {
        void run(BackgroundTasks b) throws Exception;
    }

    private Registration traced(BackgroundTasks b, String name, When when) {
        return b.add(() -> trace.add(name), when);
    }

    private void hog(Duration time) {
        clock.advance(time);
    }

    @Test
    void B1_runsOncePerTickHoweverManyStepsRan() throws Exception {
        virtually(b -> {
            traced(b, "b", When.EVERY_TICK);
            for (int i = 0; i < 100; i++) {
                Asyncio.yieldNow();
            }
            assertThat(trace).isEmpty();
            Asyncio.sleepNanos(10 * MS + MS / 2);
            assertThat(trace).hasSize(10);
        });
    }

    @Test
    void B1_runsOnceHoweverManyTicksPassed() throws Exception {
        virtually(b -> {
            traced(b, "b", When.EVERY_TICK);
            Asyncio.sleepNanos(1);
            hog(Duration.ofMillis(50));
            Asyncio.yieldNow();
            Asyncio.yieldNow();
            assertThat(trace).hasSize(1);
        });
    }

    @Test
    void B1_runsBetweenStepsAheadOfWhatIsReady() throws Exception {
        virtually(b -> {
            traced(b, "b", When.EVERY_TICK);
            Asyncio.sleepNanos(1);
            for (int i = 0; i < 3; i++) {
                int n = i;
                var _ = Asyncio.createTask(() -> {
                    trace.add("t" + n);
                    hog(Duration.ofMillis(2));
                });
            }
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("t0", "b", "t1", "b", "t2", "b");
        });
    }

    @Test
    void B1_theTickRunsOnlyWhileItIsNeededAndEnabled() throws Exception {
        virtually(b -> {
            b.enableTick(); // never below zero
            Registration r = traced(b, "b", When.EVERY_TICK);
            Asyncio.sleepMs(2);
            assertThat(trace).isNotEmpty();
            b.disableTick();
            b.disableTick();
            trace.clear();
            Asyncio.sleepMs(20);
            assertThat(trace).isEmpty();
            assertThat(b.ok()).isTrue();
            b.requestSoon(r);
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("b");
            b.enableTick();
            Asyncio.sleepMs(5);
            assertThat(trace).containsExactly("b");
            b.enableTick();
            Asyncio.sleepMs(5);
            assertThat(trace.size()).isBetween(5, 6);
            r.close();
            trace.clear();
            Asyncio.sleepMs(5);
            assertThat(trace).isEmpty();
            assertThat(b.requestSoon(r)).isFalse();
        });
    }

    /** In real time: one thread rings all loops that need it, and sleeps for good when none does; then nobody is woken any more. */
    @Test
    void B1_theTickSourceRunsOnlyWhileSomebodyNeedsIt() throws Exception {
        try (EventLoop one = EventLoop.create();
                EventLoop two = EventLoop.create()) {
            AtomicInteger ones = new AtomicInteger();
            AtomicInteger twos = new AtomicInteger();
            BackgroundTasks first = BackgroundTasks.of(one);
            BackgroundTasks second = BackgroundTasks.of(two);
            Registration r = first.add(ones::incrementAndGet, When.EVERY_TICK);
            second.add(twos::incrementAndGet, When.EVERY_TICK);
            second.add(twos::incrementAndGet, When.ON_REQUEST);
            one.start();
            two.start();
            for (int round = 0; round < 2; round++) {
                int before = ones.get();
                until(() -> ones.get() > before + 5);
                r.close();
                until(() -> quiet(ones));
                int others = twos.get();
                until(() -> twos.get() > others + 5);
                assertThat(ticker().getState()).isNotEqualTo(Thread.State.WAITING);
                second.disableTick();
                until(() -> ticker().getState() == Thread.State.WAITING && quiet(twos));
                List<Long> sleeps =
                        List.of(one.counters().sleeps(), two.counters().sleeps());
                Thread.sleep(100);
                assertThat(List.of(one.counters().sleeps(), two.counters().sleeps()))
                        .isEqualTo(sleeps);
                assertThat(ticker().getState()).isEqualTo(Thread.State.WAITING);
                r = first.add(ones::incrementAndGet, When.EVERY_TICK);
                second.enableTick();
            }
        }
    }

    /** Nobody would take the ticks: they begin again when the loop takes the one that waits for it. */
    @Test
    void B1_aLoopThatDoesNotRunOrIsInALongStepIsNotRung() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            AtomicInteger runs = new AtomicInteger();
            BackgroundTasks.of(loop).add(runs::incrementAndGet, When.EVERY_TICK);
            Action fiveTicks = () -> {
                for (int before = runs.get(); runs.get() < before + 5; ) {
                    Asyncio.sleepMs(1);
                }
            };
            for (int round = 0; round < 3; round++) {
                loop.run(fiveTicks);
                until(() -> ticker().getState() == Thread.State.WAITING);
                Thread.sleep(20);
                assertThat(ticker().getState()).isEqualTo(Thread.State.WAITING);
            }
            loop.run(() -> {
                until(() -> ticker().getState() == Thread.State.WAITING); // one long step
                Asyncio.yieldNow();
                fiveTicks.run();
            });
        }
    }

    @Test
    void B1_aClosedLoopIsForgottenByTheTickSource() throws Exception {
        try (EventLoop loop = EventLoop.builder().tick(Duration.ofHours(1)).build()) {
            BackgroundTasks.of(loop).add(() -> {}, When.EVERY_TICK);
            loop.run(Asyncio::yieldNow);
            until(() -> ticker().getState() == Thread.State.TIMED_WAITING);
        }
        until(() -> ticker().getState() == Thread.State.WAITING);
    }

    /** The rest of a batch that {@code prevent} held up was accepted, too, and before what was asked for later. */
    @Test
    void S13_B3_whatABatchHeldBackRunsWhenTheLoopIsClosed() throws Exception {
        EventLoop loop = EventLoop.create();
        BackgroundTasks b = BackgroundTasks.of(loop);
        Registration first = b.add(
                () -> {
                    trace.add("first");
                    b.prevent();
                },
                When.ON_REQUEST);
        Registration second = b.add(() -> trace.add("second"), When.ON_REQUEST);
        Registration third = b.add(() -> trace.add("third"), When.ON_REQUEST);
        loop.run(() -> {
            b.requestSoon(first);
            b.requestSoon(second);
            Asyncio.yieldNow();
            Asyncio.yieldNow();
            b.requestSoon(third);
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("first");
        });
        loop.close();
        assertThat(trace).containsExactly("first", "second", "third");
    }

    private static Thread ticker() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().equals("fastio-ticker"))
                .findFirst()
                .orElseThrow();
    }

    private static boolean quiet(AtomicInteger runs) {
        int before = runs.get();
        LockSupport.parkNanos(20 * MS);
        return runs.get() == before;
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("gave up waiting").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void B2_aRequestRunsThatTaskAloneAtTheNextStep() throws Exception {
        virtually(b -> {
            Registration a = traced(b, "a", When.ON_REQUEST);
            traced(b, "other", When.ON_REQUEST);
            Asyncio.sleepMs(20);
            assertThat(trace).isEmpty();
            b.requestSoon(a);
            b.requestSoon(a);
            var _ = Asyncio.createTask(() -> trace.add("t"));
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("a", "t");
        });
    }

    @Test
    void B2_requestsRunInTheOrderOfAsking() throws Exception {
        virtually(b -> {
            Registration one = traced(b, "1", When.EVERY_TICK);
            Registration two = traced(b, "2", When.ON_REQUEST);
            Registration three = traced(b, "3", When.ON_REQUEST);
            b.disableTick();
            b.requestSoon(three);
            b.requestSoon(one);
            b.requestSoon(two);
            b.requestSoon(three);
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("3", "1", "2");
        });
    }

    @Test
    void B2_whatIsRequestedInABatchGoesIntoTheNextOneAndNothingIsLost() throws Exception {
        virtually(b -> {
            List<Registration> all = new ArrayList<>();
            AtomicReference<Registration> self = new AtomicReference<>();
            AtomicInteger runs = new AtomicInteger();
            self.set(b.add(
                    () -> {
                        trace.add("self");
                        if (runs.incrementAndGet() < 3) {
                            b.requestSoon(self.get());
                            b.requestSoon(self.get());
                            all.forEach(b::requestSoon); // not begun: they stay where they are in this batch
                        }
                    },
                    When.ON_REQUEST));
            all.add(traced(b, "x", When.ON_REQUEST));
            all.add(traced(b, "y", When.ON_REQUEST));
            b.requestSoon(self.get());
            all.forEach(b::requestSoon);
            for (int i = 0; i < 5; i++) {
                trace.add("step");
                Asyncio.yieldNow();
            }
            assertThat(String.join(" ", trace)).isEqualTo("step self x y step self step self x y step step");
        });
    }

    @Test
    void B2_aTaskThatAsksForItselfForEverStarvesNobody() throws Exception {
        virtually(b -> {
            AtomicReference<Registration> self = new AtomicReference<>();
            self.set(b.add(() -> b.requestSoon(self.get()), When.ON_REQUEST));
            b.requestSoon(self.get());
            int[] steps = new int[1];
            Asyncio.createTask(urgent(), () -> {
                        for (int i = 0; i < 50; i++) {
                            steps[0]++;
                            Asyncio.yieldNow();
                        }
                    })
                    .await();
            assertThat(steps[0]).isEqualTo(50);
            self.get().close();
        });
    }

    private static TaskOptions urgent() {
        return TaskOptions.of(Priority.URGENT);
    }

    @Test
    void B3_preventNestsAndKeepsWhatComes() throws Exception {
        virtually(b -> {
            Registration r = traced(b, "r", When.ON_REQUEST);
            traced(b, "tick", When.EVERY_TICK);
            b.prevent();
            b.prevent();
            b.requestSoon(r);
            Asyncio.sleepMs(5);
            b.allow();
            Asyncio.yieldNow();
            assertThat(trace).isEmpty();
            b.allow();
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("r", "tick");
            assertThatIllegalStateException().isThrownBy(b::allow);
        });
    }

    @Test
    void B3_aTaskMayPreventTheRestOfItsBatch() throws Exception {
        virtually(b -> {
            Registration first = b.add(
                    () -> {
                        trace.add("first");
                        b.prevent();
                    },
                    When.ON_REQUEST);
            Registration second = traced(b, "second", When.ON_REQUEST);
            b.requestSoon(first);
            b.requestSoon(second);
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("first");
            b.allow();
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("first", "second");
        });
    }

    @Test
    void B3_anExceptionDisablesNothingAndIsReported() throws Exception {
        virtually(b -> {
            b.add(
                    () -> {
                        throw new IllegalArgumentException("broken");
                    },
                    When.EVERY_TICK);
            traced(b, "next", When.EVERY_TICK);
            Asyncio.sleepNanos(2 * MS + MS / 2);
            assertThat(trace).containsExactly("next", "next");
            assertThat(reports).hasSize(2).allMatch(m -> m.contains("broken"));
        });
    }

    /** One that blocks by the JDK's means stops the others, not the loop, and is not entered a second time. */
    @Test
    void B3_thereIsNoReEntry() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            BackgroundTasks b = BackgroundTasks.of(loop);
            CountDownLatch go = new CountDownLatch(1);
            AtomicInteger inside = new AtomicInteger();
            Registration r = b.add(
                    () -> {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        try {
                            go.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        inside.decrementAndGet();
                        trace.add("r");
                    },
                    When.EVERY_TICK);
            Registration other = traced(b, "other", When.ON_REQUEST);
            loop.run(() -> {
                while (inside.get() == 0) {
                    Asyncio.sleepMs(1);
                }
                b.requestSoon(r);
                b.requestSoon(other);
                Asyncio.sleepMs(10);
                assertThat(trace).isEmpty();
                assertThat(inside).hasValue(1);
                go.countDown();
                while (trace.size() < 3) {
                    Asyncio.sleepMs(1);
                }
                assertThat(trace.subList(0, 3)).containsExactly("r", "r", "other");
            });
        }
    }

    @Test
    void B4_aCheckpointRunsWhatIsDueAndTheCallerGoesOnFirst() throws Exception {
        virtually(b -> {
            Registration r = traced(b, "background", When.ON_REQUEST);
            var _ = Asyncio.createTask(() -> trace.add("equal"));
            assertThat(Asyncio.checkpoint()).isFalse();
            b.requestSoon(r);
            assertThat(Asyncio.checkpoint()).isTrue();
            trace.add("caller");
            assertThat(Asyncio.checkpoint()).isFalse();
            var _ = Asyncio.createTask(urgent(), () -> trace.add("urgent"));
            assertThat(Asyncio.checkpoint()).isTrue();
            trace.add("caller");
            Asyncio.yieldNow();
            assertThat(trace).containsExactly("background", "caller", "urgent", "caller", "equal");
        });
    }

    @Test
    void B4_aCheckpointDeliversACancel() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> {
                Task<?> computation = Asyncio.createTask(() -> {
                    while (true) {
                        Asyncio.checkpoint();
                    }
                });
                Thread.ofPlatform().start(computation::cancel);
                try {
                    computation.await();
                    throw new AssertionError("it ended");
                } catch (CancelledError e) {
                    assertThat(computation.cancelled()).isTrue();
                }
            });
        }
    }

    @Test
    void B4_aLongComputationWithCheckpointsKeepsTheTick() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            BackgroundTasks b = BackgroundTasks.of(loop);
            AtomicInteger runs = new AtomicInteger();
            b.add(runs::incrementAndGet, When.EVERY_TICK);
            loop.run(() -> {
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
                while (System.nanoTime() < end) {
                    Asyncio.checkpoint();
                }
                assertThat(runs.get()).isBetween(20, 301);
                assertThat(b.ok()).isTrue();
            });
        }
    }

    @Test
    void B2_aRequestFromAnotherThreadEndsAnIdleSleep() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            BackgroundTasks b = BackgroundTasks.of(loop);
            AtomicInteger runs = new AtomicInteger();
            Registration r = b.add(runs::incrementAndGet, When.ON_REQUEST);
            loop.start();
            for (int i = 1; i <= 50; i++) {
                Thread.sleep(2); // asleep by now, most of the time
                assertThat(b.requestSoon(r)).isTrue();
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
                while (runs.get() < i) {
                    assertThat(System.nanoTime()).isLessThan(end);
                    Thread.onSpinWait();
                }
            }
            loop.close();
            assertThat(b.requestSoon(r)).isFalse();
            assertThatIllegalStateException().isThrownBy(() -> b.add(() -> {}, When.ON_REQUEST));
        }
    }

    /** The last request of each of four threads is followed by a run, whatever the moment. */
    @Test
    void B2_noRequestIsLost() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            BackgroundTasks b = BackgroundTasks.of(loop);
            AtomicInteger asked = new AtomicInteger();
            AtomicInteger seen = new AtomicInteger();
            Registration r = b.add(() -> seen.set(asked.get()), When.ON_REQUEST);
            loop.start();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int n = 0; n < 50_000; n++) {
                        asked.incrementAndGet();
                        b.requestSoon(r);
                    }
                }));
            }
            for (Thread t : threads) {
                t.join();
            }
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (seen.get() != 200_000) {
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void aLoopHasOneSetOfThem() {
        try (EventLoop one = EventLoop.create();
                EventLoop two = EventLoop.create()) {
            assertThat(BackgroundTasks.of(one))
                    .isSameAs(BackgroundTasks.of(one))
                    .isNotSameAs(BackgroundTasks.of(two));
        }
    }
}
