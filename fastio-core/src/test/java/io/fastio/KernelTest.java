package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.sync.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Corners of the kernel: each of these was wrong once. */
@Timeout(60)
final class KernelTest {
    private static void busy(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    // ---- virtual time

    @Test
    void V1_aThreadOfALibraryThatIsInAJdkCallHoldsVirtualTime() throws Exception {
        TestLoop.run(t -> {
            Event event = new Event();
            Thread library = Thread.ofVirtual().start(() -> {
                try {
                    Thread.sleep(30); // real: the clock must not jump meanwhile
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                t.log("library at " + t.ms());
                event.set();
            });
            Asyncio.createTask(() -> {
                Asyncio.sleepMs(3_600_000);
                t.log("an hour");
            });
            event.await(); // and nobody finds a deadlock
            Asyncio.sleepMs(7_200_000);
            library.join();
            assertThat(t.trace()).containsExactly("library at 0", "an hour");
        });
    }

    @Test
    void V1_aThreadOfALibraryThatEndedOrGivesWayDoesNotHoldTime() throws Exception {
        TestLoop.run(t -> {
            Thread ended = Thread.ofVirtual().start(() -> {});
            boolean[] end = {false};
            Thread giving = Thread.ofVirtual().start(() -> {
                for (int i = 0; i < 100 && !end[0]; i++) {
                    Thread.yield();
                }
            });
            Asyncio.sleepMs(1_000);
            end[0] = true;
            ended.join();
            giving.join();
            assertThat(t.ms()).isEqualTo(1_000);
        });
    }

    // ---- the extension point

    @Test
    void W1_aWakeByTicketBeforeTheTaskSuspendsIsRemembered() throws Exception {
        TestLoop.run(t -> {
            for (int i = 0; i < 3; i++) {
                Task<?> me = Wait.begin();
                long ticket = Wait.nextTicket();
                Wait.resume(me, ticket);
                assertThat(Wait.suspend((task, woken) -> true, null, Wait.FOREVER))
                        .isEqualTo(Wait.Reason.WOKEN);
                Wait.resume(me, ticket); // late: hits no later wait
                assertThat(Wait.suspend((task, woken) -> true, null, Wait.deadlineIn(1_000_000)))
                        .isEqualTo(Wait.Reason.DEADLINE);
            }
        });
    }

    @Test
    void W1_C6_aWakeAheadOfACancelledWaitIsGivenBack() throws Exception {
        TestLoop.run(t -> {
            List<Boolean> told = new ArrayList<>();
            Task<Void> task = Asyncio.createTask(() -> {
                Task<?> me = Wait.begin();
                Wait.resume(me, Wait.nextTicket());
                me.cancel();
                Wait.suspend((x, woken) -> told.add(woken), null, Wait.FOREVER);
            });
            assertThatThrownBy(task::await).isInstanceOf(CancelledError.class);
            assertThat(told).containsExactly(true);
        });
    }

    // ---- order

    @Test
    void S2_aTimerThatFellDueInALongStepGoesAheadOfWhatTheStepWakes() throws Exception {
        Asyncio.run(() -> {
            List<String> order = new ArrayList<>();
            Event event = new Event();
            Task<Void> timer = Asyncio.createTask(() -> {
                Asyncio.sleepMs(130);
                order.add("timer");
            });
            Task<Void> woken = Asyncio.createTask(() -> {
                event.await();
                order.add("woken");
            });
            Asyncio.yieldNow();
            busy(200_000_000);
            event.set();
            timer.await();
            woken.await();
            assertThat(order).containsExactly("timer", "woken");
        });
    }

    @Test
    void S14_slowOperationsGiveWayAfterAMillisecondFromTheFirstOn() throws Exception {
        Asyncio.run(() -> {
            Event set = new Event();
            set.set();
            int[] others = {0};
            Task<Void> other = Asyncio.createTask(() -> {
                while (true) {
                    others[0]++;
                    Asyncio.yieldNow();
                }
            });
            Asyncio.yieldNow();
            for (int round = 0; round < 20; round++) {
                int before = others[0];
                for (int i = 0; i < 8; i++) {
                    busy(400_000);
                    set.await();
                }
                assertThat(others[0]).isGreaterThan(before);
            }
            other.cancel();
        });
    }

    // ---- ends

    @Test
    void S15_stopReturnsAlsoWhereUrgentWorkNeverEndsAndHasNoBudget() throws Exception {
        try (EventLoop loop = EventLoop.builder().urgentBudget(Duration.ZERO).build()) {
            long[] steps = {0};
            for (int i = 0; i < 2; i++) {
                loop.createTask(TaskOptions.of(Priority.URGENT), () -> {
                    while (true) {
                        steps[0]++;
                        Asyncio.yieldNow();
                    }
                });
            }
            loop.createTask(() -> {
                while (true) {
                    Asyncio.yieldNow();
                }
            });
            Thread stopper = Thread.ofPlatform().start(() -> {
                try {
                    Thread.sleep(50);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                loop.stop();
            });
            loop.runForever();
            stopper.join();
            assertThat(steps[0]).isPositive();
            loop.stop();
            loop.runForever(); // one round
        }
    }

    @Test
    void S13_aFactorysThreadThatIsStartedAfterTheCloseIsRefused() {
        EventLoop loop = EventLoop.create();
        Thread late = loop.threadFactory(Priority.NORMAL).newThread(() -> {});
        loop.close();
        assertThatThrownBy(late::start).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void S13_workOfAnExecutorThatNeverRunsEndsItsFuture() throws Exception {
        EventLoop loop = EventLoop.create();
        ExecutorService executor = loop.executor(Priority.NORMAL);
        List<Integer> ran = new ArrayList<>();
        Future<Integer> work = executor.submit(() -> {
            ran.add(1);
            return 1;
        });
        loop.close();
        assertThat(work.isDone()).isTrue();
        if (ran.isEmpty()) {
            assertThatThrownBy(() -> work.get(1, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        }
    }

    @Test
    void F97_runLeavesTheInterruptOfItsThreadAsItWas() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            Thread.currentThread().interrupt();
            assertThat(loop.run(() -> {
                        Asyncio.sleepMs(5);
                        return 1;
                    }))
                    .isEqualTo(1);
            assertThat(Thread.interrupted()).isTrue();
            loop.run(() -> Asyncio.sleepMs(1));
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    // ---- circles

    @Test
    void S12_aChildThatAwaitsItsGroupsParentIsToldTheCircle() throws Exception {
        TestLoop.run(t -> {
            Task<Void> parent = Asyncio.createTask("parent", () -> {
                Task<?> me = Asyncio.currentTask();
                Asyncio.taskGroup(g -> {
                    g.createTask("child", () -> {
                        Asyncio.sleepMs(1);
                        me.await();
                    });
                    return null;
                });
            });
            assertThatThrownBy(parent::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("child")
                    .hasMessageContaining("parent");
        });
    }

    @Test
    void S12_aGatheredTaskThatAwaitsTheGathererIsToldTheCircleWhicheverComesFirst() throws Exception {
        for (boolean early : new boolean[] {true, false}) {
            TestLoop.run(t -> {
                Task<Void> parent = Asyncio.createTask("parent", () -> {
                    Task<?> me = Asyncio.currentTask();
                    Asyncio.gather(List.of(() -> {
                        if (!early) {
                            Asyncio.sleepMs(1);
                        }
                        me.await();
                        return 1;
                    }));
                });
                assertThatThrownBy(parent::await)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("parent");
            });
        }
    }

    // ---- stack traces

    @Test
    void G3_aStackTraceGoesOnWhereTheFailureWasAwaited() throws Exception {
        TestLoop.run(t -> {
            IllegalArgumentException thrown = new IllegalArgumentException("broken");
            Task<Void> failing = Asyncio.createTask("failing", () -> {
                throw thrown;
            });
            Throwable seen = TestLoop.thrownBy(this.awaiting(failing));
            assertThat(seen).isSameAs(thrown);
            assertThat(Arrays.stream(thrown.getStackTrace()).map(StackTraceElement::toString))
                    .anyMatch(line -> line.contains("awaited by main"))
                    .anyMatch(line -> line.contains("KernelTest") && line.contains("awaiting"));
            int length = thrown.getStackTrace().length;
            for (int i = 0; i < 10_000; i++) {
                TestLoop.thrownBy(failing::await);
            }
            assertThat(thrown.getStackTrace().length).isLessThan(4 * length); // F29
        });
    }

    private Action awaiting(Task<Void> failing) {
        return () -> failing.await();
    }

    @Test
    void C4_aCancelSaysWhoCancelledAndItsTraceInWhichWait() throws Exception {
        TestLoop.run(t -> {
            Task<Void> sleeper = Asyncio.createTask("sleeper", () -> Asyncio.sleepMs(1_000));
            Task<Void> killer = Asyncio.createTask("killer", () -> {
                Asyncio.sleepMs(1);
                sleeper.cancel();
            });
            CancelledError e = (CancelledError) TestLoop.thrownBy(sleeper::await);
            killer.await();
            assertThat(e).isNotNull();
            assertThat(e.getMessage()).contains("sleeper").contains("killer");
            assertThat(Arrays.stream(e.getCause().getStackTrace()).map(StackTraceElement::getMethodName))
                    .contains("sleepMs");
        });
    }

    // ---- depth

    @Test
    void S13_aStackThatOverflowsEndsItsTaskOnly() throws Exception {
        try (EventLoop loop = EventLoop.builder().exceptionHandler(e -> {}).build()) {
            loop.run(() -> {
                Task<Void> deep = Asyncio.createTask("deep", () -> nested(1_000_000));
                Throwable e = TestLoop.thrownBy(deep::await);
                assertThat(e).isInstanceOf(StackOverflowError.class);
                nested(100);
                Asyncio.sleepMs(1);
            });
        }
    }

    private static void nested(int depth) throws Exception {
        if (depth == 0) {
            Asyncio.sleepMs(1);
        } else {
            Asyncio.waitForMs(() -> nested(depth - 1), 50_000);
        }
    }
}
