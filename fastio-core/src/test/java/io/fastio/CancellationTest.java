package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Section C of the semantics: what a cancel does, and what it does not. */
final class CancellationTest {
    private static final Wait.Hook PLAIN = (task, woken) -> true;

    private static Task<Void> sleeper() {
        return Asyncio.createTask(() -> Asyncio.sleepMs(Long.MAX_VALUE));
    }

    private static void assertCancelled(Task<?> t) {
        assertThat(TestLoop.thrownBy(t::await)).isInstanceOf(CancelledError.class);
        assertThat(t.cancelled()).isTrue();
    }

    // ---- C1

    @Test
    void C1_F31_cancellingAFinishedTaskIsFalseAndDoesNothing() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> value = Asyncio.createTask(() -> 5);
            Task<Integer> failure = Asyncio.createTask(() -> {
                throw new IllegalArgumentException("mine");
            });
            Task<Void> cancelled = sleeper();
            TestLoop.yields(3);
            cancelled.cancel();
            assertCancelled(cancelled);
            assertThat(t.errors()).hasSize(1);
            assertThat(value.cancel()).isFalse();
            assertThat(failure.cancel()).isFalse();
            assertThat(cancelled.cancel()).isFalse();
            assertThat(value.await()).isEqualTo(5);
            assertThat(TestLoop.thrownBy(failure::await)).hasMessage("mine");
        });
    }

    @Test
    void C1_repeatedCancelsAreTrueAndDeliveredOnce() throws Exception {
        TestLoop.run(t -> {
            AtomicInteger deliveries = new AtomicInteger();
            Task<String> victim = Asyncio.createTask(() -> {
                try {
                    Asyncio.sleepMs(Long.MAX_VALUE);
                } catch (CancelledError e) {
                    deliveries.incrementAndGet();
                }
                Asyncio.sleepMs(10); // works again
                return "ended normally";
            });
            Asyncio.yieldNow();
            for (int i = 0; i < 5; i++) {
                assertThat(victim.cancel()).isTrue();
            }
            assertThat(victim.await()).isEqualTo("ended normally");
            assertThat(deliveries).hasValue(1);
        });
    }

    // ---- C2

    enum What {
        SLEEP,
        AFTER,
        WAIT,
        LOW_WAIT,
        AWAIT,
        YIELD,
        GATHER,
        GROUP,
        OFFLOAD
    }

    private static void waitOn(What what, TestLoop t, CountDownLatch offloaded) throws Exception {
        switch (what) {
            case SLEEP -> Asyncio.sleepMs(1_000_000);
            case AFTER -> Asyncio.afterMs(1_000_000);
            case WAIT -> Wait.suspend(PLAIN, null, Wait.FOREVER);
            case LOW_WAIT -> Wait.suspend(PLAIN, Priority.LOW, Wait.FOREVER);
            case AWAIT -> sleeper().await();
            case YIELD -> {
                while (true) {
                    t.hog(1);
                    Asyncio.yieldNow();
                }
            }
            case GATHER ->
                Asyncio.gather(() -> sleeper().await(), () -> sleeper().await());
            case GROUP ->
                Asyncio.taskGroup(g -> {
                    g.createTask(() -> Asyncio.sleepMs(1_000_000));
                    return null;
                });
            case OFFLOAD ->
                Asyncio.offload(() -> {
                    offloaded.await();
                    return null;
                });
        }
    }

    @ParameterizedTest
    @EnumSource
    void C2_aWaitEndsAtOnceAndLeavesNothingBehind(What what) throws Exception {
        TestLoop.run(t -> {
            CountDownLatch offloaded = new CountDownLatch(1);
            for (Priority p : Priority.values()) {
                Task<Void> victim = t.loop.createTask(TaskOptions.of(p), () -> {
                    try {
                        waitOn(what, t, offloaded);
                    } finally {
                        t.log("cancelled at " + t.loop.time());
                        Asyncio.sleepMs(50); // nothing of the old wait ends it early
                        t.log("slept until " + t.ms());
                    }
                });
                for (int i = 0; i < 3; i++) {
                    if (p == Priority.LOW) { // it starts when nothing else is ready
                        Asyncio.afterMs(0);
                    } else {
                        Asyncio.yieldNow();
                    }
                }
                long at = t.loop.time();
                assertThat(victim.cancel()).isTrue();
                assertCancelled(victim);
                assertThat(t.trace()).containsExactly("cancelled at " + at, "slept until " + (at / 1_000_000 + 50));
                if (what != What.OFFLOAD) { // it has one, for the report of a thread that does not obey
                    assertThat(t.loop.timerCount()).isZero();
                }
            }
            assertThat(Asyncio.allTasks()).containsExactly(Asyncio.currentTask());
        });
    }

    @Test
    void C2_aCancelledLowTaskRunsAsNormal() throws Exception {
        TestLoop.run(t -> {
            List<Task<?>> victims = new ArrayList<>();
            Action[] bodies = {
                () -> Asyncio.sleepMs(1_000),
                () -> {
                    t.clock.advance(Duration.ofNanos(1));
                    Asyncio.yieldNow();
                },
                () -> Asyncio.afterMs(1_000),
                () -> Wait.suspend(PLAIN, Priority.LOW, Wait.FOREVER)
            };
            for (Action body : bodies) {
                victims.add(t.loop.createTask(TaskOptions.of(Priority.LOW), () -> {
                    while (true) {
                        body.run();
                    }
                }));
            }
            Asyncio.sleepMs(1);
            Task<Void> fresh = t.loop.createTask(TaskOptions.of(Priority.LOW), () -> {});
            victims.add(fresh);
            victims.forEach(Task::cancel);
            TestLoop.yields(1); // never idle: a LOW task gets no step here
            assertThat(victims).allMatch(Task::cancelled);
        });
    }

    @Test
    void C2_aLowTaskThatWasWokenIsCancelledAsNormal() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = t.loop.createTask(TaskOptions.of(Priority.LOW), () -> {
                Wait.suspend(PLAIN, null, Wait.FOREVER);
            });
            Asyncio.sleepMs(1);
            Wait.resume(victim);
            TestLoop.yields(2);
            assertThat(victim.done()).isFalse();
            victim.cancel();
            TestLoop.yields(1);
            assertThat(victim.cancelled()).isTrue();
        });
    }

    @Test
    void C2_aCancelFromAnotherThreadWakesTheLoop() throws Exception {
        Asyncio.run(() -> {
            Task<Void> victim = sleeper();
            Asyncio.yieldNow();
            Thread canceller = Thread.ofPlatform().start(victim::cancel);
            assertCancelled(victim);
            canceller.join();
        });
    }

    @Test
    void C2_theErrorTellsWhoCancelled() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = t.loop.createTask(TaskOptions.named("victim"), () -> Asyncio.sleepMs(1_000));
            Asyncio.yieldNow();
            victim.cancel();
            assertThat(TestLoop.thrownBy(victim::await))
                    .hasMessageContaining("victim")
                    .hasMessageContaining("main");
        });
    }

    // ---- C3

    @Test
    void C3_cancelledBeforeItsFirstRunTheBodyNeverRuns() throws Exception {
        TestLoop.run(t -> {
            for (Priority p : Priority.values()) {
                Task<Void> task = t.loop.createTask(TaskOptions.of(p), () -> t.log("ran"));
                assertThat(task.cancel()).isTrue();
                assertThat(task.cancel()).isTrue();
                assertCancelled(task);
            }
            assertThat(t.trace()).isEmpty();
        });
    }

    @Test
    void C3_selfCancelIsDeliveredAtTheNextWait() throws Exception {
        TestLoop.run(t -> {
            Task<Void> self = Asyncio.createTask(() -> {
                Asyncio.currentTask().cancel();
                t.log("goes on");
                Asyncio.yieldNow();
                t.log("never");
            });
            assertCancelled(self);
            assertThat(t.trace()).containsExactly("goes on");
        });
    }

    @Test
    void C3_aPendingCancelIsDeliveredAlsoWhereNothingHasToWait() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> done = Asyncio.createTask(() -> 5);
            done.await();
            List<Action> operations = List.of(
                    done::await,
                    Wait::begin,
                    Asyncio::yieldNow,
                    Asyncio::checkpoint,
                    () -> Asyncio.sleepMs(-1),
                    () -> Asyncio.gather(List.of()),
                    () -> Asyncio.offload(() -> 1),
                    () -> Asyncio.shield(() -> {
                        t.log("a shielded body was started");
                        return 1;
                    }),
                    () -> Asyncio.shield(done),
                    () -> Asyncio.gather(() -> {
                        t.log("a gathered body was started");
                        return 1;
                    }));
            for (Action operation : operations) {
                Task<Void> self = Asyncio.createTask(() -> {
                    Asyncio.currentTask().cancel();
                    operation.run();
                });
                assertCancelled(self);
                Asyncio.sleepMs(1);
            }
            assertThat(t.trace()).isEmpty();
        });
    }

    @Test
    void F2_selfCancelBeforeATimedWaitOnADoneTask() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> done = Asyncio.createTask(() -> 5);
            done.await();
            Task<Integer> self = Asyncio.createTask(() -> {
                Asyncio.currentTask().cancel();
                return Asyncio.waitFor(done::await, Duration.ofSeconds(1));
            });
            assertCancelled(self);
        });
    }

    @Test
    void F7_aCancelBeforeATimeoutOfZeroIsNotAbsorbed() throws Exception {
        TestLoop.run(t -> {
            Task<Void> self = Asyncio.createTask(() -> {
                Asyncio.currentTask().cancel();
                Asyncio.waitFor(() -> Asyncio.sleepMs(10), Duration.ZERO);
            });
            assertCancelled(self);
        });
    }

    // ---- C4

    @Test
    void C4_aBodyThatSwallowsItGoesOnAndASecondCancelWorksAgain() throws Exception {
        TestLoop.run(t -> {
            Task<String> victim = Asyncio.createTask(() -> {
                for (int i = 0; ; i++) {
                    try {
                        Asyncio.sleepMs(1_000_000);
                    } catch (CancelledError e) {
                        t.log("cancel " + i);
                        if (i == 2) {
                            return "ended";
                        }
                    }
                }
            });
            for (int i = 0; i < 3; i++) {
                TestLoop.yields(2);
                assertThat(victim.cancel()).isTrue();
            }
            assertThat(victim.await()).isEqualTo("ended");
            assertThat(victim.cancelled()).isFalse();
            assertThat(t.trace()).containsExactly("cancel 0", "cancel 1", "cancel 2");
        });
    }

    @Test
    void C4_waitsInFinallyWorkNormally() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = Asyncio.createTask(() -> {
                try {
                    Asyncio.sleepMs(1_000_000);
                } finally {
                    Asyncio.sleepMs(10);
                    Asyncio.gather(() -> 1, () -> 2);
                    Asyncio.waitFor(() -> Asyncio.sleepMs(10), Duration.ofMillis(20));
                    t.log("cleaned up at " + t.ms());
                }
            });
            Asyncio.yieldNow();
            victim.cancel();
            assertCancelled(victim);
            assertThat(t.trace()).containsExactly("cleaned up at 20");
        });
    }

    @Test
    void C4_catchExceptionDoesNotSwallowIt() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = Asyncio.createTask(() -> {
                while (true) {
                    try {
                        Asyncio.sleepMs(1_000);
                    } catch (Exception e) {
                        t.log(e);
                    }
                }
            });
            Asyncio.yieldNow();
            victim.cancel();
            assertCancelled(victim);
            assertThat(t.trace()).isEmpty();
        });
    }

    // ---- C5

    @Test
    void C5_aThreadThatGaveUpWaitingDoesNotCountAsWaiting() throws Exception {
        TestLoop.run(t -> {
            Task<Void> inner = Asyncio.createTask("inner", () -> Asyncio.sleepMs(1_000));
            Asyncio.offload(() -> {
                assertThat(TestLoop.thrownBy(() -> inner.get(1, TimeUnit.MILLISECONDS)))
                        .isInstanceOf(TimeoutException.class);
                return true;
            });
            Task<Void> outer = Asyncio.createTask("outer", () -> inner.await());
            Asyncio.yieldNow();
            outer.cancel();
            Asyncio.sleepMs(1);
            assertThat(outer.cancelled()).isTrue();
            assertThat(inner.cancelled()).isTrue();
        });
    }

    @Test
    void C5_theInnermostAwaitedTaskIsCancelledIfNobodyElseWaits() throws Exception {
        TestLoop.run(t -> {
            Task<Void> c = Asyncio.createTask("c", () -> {
                try {
                    Asyncio.sleepMs(1_000);
                    return null;
                } finally {
                    t.log("c");
                }
            });
            Task<Void> b = Asyncio.createTask("b", () -> {
                try {
                    return c.await();
                } finally {
                    t.log("b");
                }
            });
            Task<Void> a = Asyncio.createTask("a", () -> {
                try {
                    return b.await();
                } finally {
                    t.log("a");
                }
            });
            TestLoop.yields(2);
            a.cancel();
            assertCancelled(a);
            assertThat(b.cancelled()).isTrue();
            assertThat(c.cancelled()).isTrue();
            assertThat(t.trace()).containsExactly("c", "b", "a");
            assertThat(t.loop.time()).isZero();
        });
    }

    @Test
    void C5_ifOthersWaitTooOnlyThisWaitEnds() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> shared = Asyncio.createTask(() -> {
                Asyncio.sleepMs(10);
                return 5;
            });
            Task<Integer> a = Asyncio.createTask(shared::await);
            Task<Integer> b = Asyncio.createTask(shared::await);
            Asyncio.yieldNow();
            a.cancel();
            assertCancelled(a);
            assertThat(b.await()).isEqualTo(5);
        });
    }

    @Test
    void C5_aThreadThatWaitsCountsToo() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        Task<Integer> shared = loop.createTask(() -> {
            Asyncio.sleepMs(300);
            return 5;
        });
        List<Object> got = new java.util.concurrent.CopyOnWriteArrayList<>();
        Thread outside = Thread.ofPlatform().start(() -> {
            try {
                got.add(shared.get());
            } catch (Exception e) {
                got.add(e);
            }
        });
        while (outside.getState() != Thread.State.WAITING && outside.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        Task<Integer> a = loop.createTask(shared::await);
        loop.createTask(() -> {
            Asyncio.sleepMs(20);
            return a.cancel();
        });
        outside.join();
        assertThat(a.cancelled()).isTrue();
        assertThat(got).containsExactly(5);
        loop.close();
    }

    @Test
    void C5_aGroupThatJoinsTheTaskCountsToo() throws Exception {
        TestLoop.run(t -> {
            Integer value = Asyncio.taskGroup(g -> {
                Task<Integer> child = g.createTask(() -> {
                    Asyncio.sleepMs(10);
                    return 5;
                });
                Task<Integer> other = t.loop.createTask(child::await);
                Asyncio.yieldNow();
                other.cancel();
                assertCancelled(other);
                return child.await();
            });
            assertThat(value).isEqualTo(5);
        });
    }

    @Test
    void C5_F5_theSameThroughWaitFor() throws Exception {
        TestLoop.run(t -> {
            for (Duration timeout : new Duration[] {null, Duration.ofSeconds(100)}) {
                Task<Void> inner = sleeper();
                Task<Void> outer = Asyncio.createTask(() -> Asyncio.waitFor(inner::await, timeout));
                TestLoop.yields(2);
                outer.cancel();
                assertCancelled(outer);
                assertThat(inner.cancelled()).isTrue();
            }
            assertThat(t.loop.time()).isZero();
        });
    }

    @Test
    void C5_aTimeoutCancelsTheAwaitedTaskToo() throws Exception {
        TestLoop.run(t -> {
            for (Duration timeout : List.of(Duration.ofMillis(10), Duration.ZERO)) {
                Task<Void> inner = sleeper();
                assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(inner::await, timeout)))
                        .isInstanceOf(TimeoutException.class);
                Asyncio.yieldNow();
                assertThat(inner.cancelled()).isTrue();
            }
        });
    }

    @Test
    void C5_F25_shieldProtects() throws Exception {
        TestLoop.run(t -> {
            Task<String> inner = Asyncio.createTask(() -> {
                Asyncio.sleepMs(10);
                return "untouched";
            });
            Task<String> outer = Asyncio.createTask(() -> Asyncio.shield(inner));
            Task<String> body = Asyncio.createTask(() -> Asyncio.shield(() -> {
                Asyncio.sleepMs(10);
                t.log("the body went on");
                return "";
            }));
            Asyncio.yieldNow();
            outer.cancel();
            body.cancel();
            assertCancelled(outer);
            assertCancelled(body);
            assertThat(t.loop.time()).isZero();
            assertThat(inner.await()).isEqualTo("untouched");
            Asyncio.yieldNow();
            assertThat(t.trace()).containsExactly("the body went on");
        });
    }

    @Test
    void C5_aShieldedScopeProtectsTheAwaitedTaskToo() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> inner = Asyncio.createTask(() -> {
                Asyncio.sleepMs(10);
                return 5;
            });
            Task<Integer> middle = Asyncio.createTask(() -> Asyncio.cancelScope(s -> {
                s.shield(true);
                return inner.await();
            }));
            Task<Integer> outer = Asyncio.createTask(middle::await);
            TestLoop.yields(2);
            middle.cancel();
            Asyncio.yieldNow();
            assertThat(inner.cancelled()).isFalse();
            assertThat(middle.await()).isEqualTo(5); // the scope was the last thing it waited in
            assertThat(outer.await()).isEqualTo(5);
        });
    }

    @Test
    void C5_timersThatFellDueWhileACancelPassesOnDoNotHurt() throws Exception {
        TestLoop.run(t -> {
            Task<Void> c = Asyncio.createTask(() -> Asyncio.sleepMs(1_000_000));
            Task<Void> b = Asyncio.createTask(c::await);
            Task<Void> a = Asyncio.createTask(() -> Asyncio.waitFor(b::await, Duration.ofMillis(10)));
            TestLoop.yields(2);
            t.hog(20); // the timeout is over, but nobody has noticed
            assertThat(a.cancel()).isTrue();
            assertCancelled(a); // C6: the external cancel wins
            assertCancelled(b);
            assertCancelled(c);
        });
    }

    @Test
    void F29_shieldAndCancelTenThousandTimesLeavesNothing() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> longOne = Asyncio.createTask(() -> {
                Asyncio.sleepMs(1_000);
                return 5;
            });
            for (int i = 0; i < 10_000; i++) {
                Task<Integer> shielding = Asyncio.createTask(() -> Asyncio.shield(longOne));
                Asyncio.yieldNow();
                shielding.cancel();
                Asyncio.yieldNow();
                assertThat(shielding.cancelled()).isTrue();
            }
            assertThat(((LoopTask<?>) longOne).waiterCount()).isZero();
            assertThat(longOne.await()).isEqualTo(5);
        });
    }

    // ---- C6

    @Test
    void F1_F4_aCancelInTheTickOfTheCompletionWins() throws Exception {
        TestLoop.run(t -> {
            for (boolean timed : new boolean[] {false, true}) {
                Task<Integer> b = Asyncio.createTask(() -> {
                    Asyncio.sleepMs(10);
                    return 5;
                });
                Task<Integer> a =
                        Asyncio.createTask(() -> timed ? Asyncio.waitFor(b::await, Duration.ofSeconds(1)) : b.await());
                Asyncio.sleepMs(9);
                Asyncio.createTask(() -> {
                    Asyncio.sleepMs(1);
                    while (!b.done()) {
                        Asyncio.yieldNow();
                    }
                    assertThat(a.done()).isFalse();
                    assertThat(a.cancel()).isTrue();
                });
                Asyncio.sleepMs(1);
                TestLoop.yields(5);
                assertThat(a.cancelled()).isTrue();
                assertThat(b.await()).isEqualTo(5);
            }
        });
    }

    @Test
    void C6_aWokenWaiterThatIsCancelledPassesOnWhatItWasGiven() throws Exception {
        TestLoop.run(t -> {
            List<Boolean> abandoned = new ArrayList<>();
            Task<Void> waiter = Asyncio.createTask(() -> {
                Wait.begin();
                Wait.suspend(
                        (task, woken) -> {
                            abandoned.add(woken);
                            return true;
                        },
                        null,
                        Wait.FOREVER);
            });
            Asyncio.yieldNow();
            assertThat(Wait.resume(waiter)).isTrue();
            assertThat(Wait.resume(waiter)).isFalse();
            waiter.cancel();
            waiter.cancel();
            assertCancelled(waiter);
            assertThat(abandoned).containsExactly(true);
        });
    }

    @Test
    void C6_aTimeoutDoesNotTakeBackAWake() throws Exception {
        TestLoop.run(t -> {
            List<Boolean> abandoned = new ArrayList<>();
            Task<String> waiter = Asyncio.createTask(() -> Asyncio.waitFor(
                    () -> {
                        Wait.suspend(
                                (task, woken) -> {
                                    abandoned.add(woken);
                                    return true;
                                },
                                null,
                                Wait.FOREVER);
                        return "got it";
                    },
                    Duration.ofMillis(10)));
            Asyncio.yieldNow();
            t.hog(5);
            Wait.resume(waiter);
            t.hog(10); // the deadline passes between the wake and the step
            assertThat(waiter.await()).isEqualTo("got it");
            assertThat(abandoned).isEmpty();
        });
    }

    @Test
    void C6_anExternalCancelWinsOverASimultaneousTimeout() throws Exception {
        TestLoop.run(t -> {
            for (boolean cancelFirst : new boolean[] {true, false}) {
                Task<Void> a =
                        Asyncio.createTask(() -> Asyncio.waitFor(() -> Asyncio.sleepMs(1_000), Duration.ofMillis(10)));
                Asyncio.yieldNow();
                if (cancelFirst) {
                    a.cancel();
                    t.hog(20);
                } else {
                    t.hog(20);
                    a.cancel();
                }
                assertCancelled(a);
            }
        });
    }

    @Test
    void C6_aStrayResumeOfAYieldingTaskDoesNoHarm() throws Exception {
        TestLoop.run(t -> {
            Task<Void> yielding = Asyncio.createTask(() -> {
                Asyncio.yieldNow();
                t.log("once");
            });
            TestLoop.yields(1);
            Asyncio.createTask(() -> Wait.resume(yielding));
            TestLoop.yields(3);
            assertThat(t.trace()).containsExactly("once");
        });
    }

    // ---- C7

    @Test
    void C7_F32_mutualCancellersDoNotStarveOthers() throws Exception {
        TestLoop.run(t -> {
            List<Task<?>> pair = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int other = 1 - i;
                pair.add(Asyncio.createTask(() -> {
                    for (int n = 0; n < 1_000; n++) {
                        try {
                            Asyncio.yieldNow(); // both have begun
                            pair.get(other).cancel();
                            Asyncio.sleepMs(1_000_000);
                        } catch (CancelledError e) {
                            t.log("");
                        }
                    }
                }));
            }
            int rounds = 0;
            while (!pair.get(0).done() && !pair.get(1).done()) {
                Asyncio.yieldNow();
                rounds++;
            }
            assertThat(rounds).isGreaterThanOrEqualTo(1_000);
            pair.forEach(Task::cancel);
        });
    }

    @Test
    void C7_selfCancellersDoNotStarveOthers() throws Exception {
        TestLoop.run(t -> {
            AtomicInteger cancels = new AtomicInteger();
            Task<Void> self = Asyncio.createTask(() -> {
                while (cancels.get() < 10_000) {
                    Asyncio.currentTask().cancel();
                    try {
                        Asyncio.yieldNow();
                    } catch (CancelledError e) {
                        cancels.incrementAndGet();
                        Asyncio.yieldNow();
                    }
                }
            });
            int rounds = 0;
            while (!self.done()) {
                Asyncio.yieldNow();
                rounds++;
            }
            assertThat(rounds).isGreaterThanOrEqualTo(10_000);
        });
    }

    // ---- C8

    @Test
    void C8_everyWaitInsideThrowsUntilTheScopeIsLeft() throws Exception {
        TestLoop.run(t -> {
            Object value = Asyncio.cancelScope(s -> {
                s.cancel();
                s.cancel();
                assertThat(s.cancelCalled()).isTrue();
                for (int i = 0; i < 5; i++) {
                    assertThat(TestLoop.thrownBy(() -> Asyncio.sleepMs(1))).isInstanceOf(CancelledError.class);
                    assertThat(TestLoop.thrownBy(Asyncio::yieldNow)).isInstanceOf(CancelledError.class);
                    assertThat(TestLoop.thrownBy(Wait::begin)).isInstanceOf(CancelledError.class);
                }
                Asyncio.yieldNow();
                return "not reached";
            });
            assertThat(value).isNull();
            Asyncio.sleepMs(1); // nothing has leaked
            assertThat(t.ms()).isEqualTo(1);
        });
    }

    @Test
    void C8_aScopeSwallowsItsOwnCancelOnly() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = Asyncio.createTask(() -> {
                Asyncio.cancelScope(s -> {
                    Asyncio.sleepMs(1_000);
                    return null;
                });
                t.log("not reached");
            });
            Asyncio.yieldNow();
            victim.cancel();
            assertCancelled(victim);
            assertThat(TestLoop.thrownBy(() -> Asyncio.cancelScope(s -> {
                        s.cancel();
                        throw new IllegalArgumentException("mine");
                    })))
                    .hasMessage("mine");
            assertThat(t.trace()).isEmpty();
        });
    }

    @Test
    void C8_theOuterScopeCancelsTheInnerOne() throws Exception {
        TestLoop.run(t -> {
            Asyncio.cancelScope(outer -> {
                Asyncio.cancelScope(inner -> {
                    outer.cancel();
                    Asyncio.sleepMs(1);
                    return null;
                });
                t.log("not reached");
                return null;
            });
            Asyncio.cancelScope(outer -> {
                Asyncio.cancelScope(inner -> {
                    inner.cancel();
                    Asyncio.sleepMs(1);
                    return null;
                });
                t.log("reached");
                Asyncio.sleepMs(1);
                return null;
            });
            assertThat(t.trace()).containsExactly("reached");
        });
    }

    @Test
    void C8_aDeadlineCancelsAndCanBeMoved() throws Exception {
        TestLoop.run(t -> {
            Asyncio.cancelScope(s -> {
                s.deadline(Duration.ofMillis(10));
                Asyncio.sleepMs(5);
                s.deadline(Duration.ofMillis(10));
                Asyncio.sleepMs(100);
                return null;
            });
            assertThat(t.ms()).isEqualTo(15);
            Asyncio.cancelScope(s -> {
                s.deadline(Duration.ofMillis(10));
                s.deadlineAt(Long.MAX_VALUE);
                Asyncio.sleepMs(100);
                return null;
            });
            assertThat(t.ms()).isEqualTo(115);
            assertThat(t.loop.timerCount()).isZero();
        });
    }

    @Test
    void C8_aShieldHoldsCancelsFromOutsideBackUntilItIsLeft() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = Asyncio.createTask(() -> {
                Asyncio.cancelScope(s -> {
                    s.shield(true);
                    Asyncio.sleepMs(10);
                    t.log("shielded until " + t.ms());
                    return null;
                });
                Asyncio.sleepMs(1);
                t.log("not reached");
            });
            Asyncio.yieldNow();
            victim.cancel();
            assertCancelled(victim);
            assertThat(t.trace()).containsExactly("shielded until 10");
        });
    }

    @Test
    void C8_aShieldHoldsScopesAndTimeoutsBackButNotItsOwnCancel() throws Exception {
        TestLoop.run(t -> {
            Asyncio.cancelScope(outer -> {
                outer.cancel();
                Asyncio.cancelScope(s -> {
                    s.shield(true);
                    Asyncio.sleepMs(10);
                    return null;
                });
                assertThat(t.ms()).isEqualTo(10);
                Asyncio.cancelScope(s -> {
                    s.shield(true);
                    s.deadline(Duration.ofMillis(10));
                    Asyncio.sleepMs(1_000);
                    return null;
                });
                assertThat(t.ms()).isEqualTo(20);
                Asyncio.yieldNow();
                t.log("not reached");
                return null;
            });
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> Asyncio.cancelScope(s -> {
                                s.shield(true);
                                Asyncio.sleepMs(100);
                                return "";
                            }),
                            Duration.ofMillis(10))))
                    .as("the body never waited outside the shield")
                    .isNull();
            assertThat(t.ms()).isEqualTo(120);
            assertThat(t.trace()).isEmpty();
        });
    }

    @Test
    void C8_cancelFromAnotherThread() throws Exception {
        Asyncio.run(() -> {
            Thread[] canceller = new Thread[1];
            Asyncio.cancelScope(s -> {
                canceller[0] = Thread.ofPlatform().start(s::cancel);
                Asyncio.sleepMs(Long.MAX_VALUE);
                return null;
            });
            canceller[0].join();
        });
    }

    @Test
    void C8_aScopeThatHasBeenLeftCancelsNothing() throws Exception {
        TestLoop.run(t -> {
            CancelScope[] left = new CancelScope[1];
            Asyncio.cancelScope(s -> left[0] = s);
            left[0].cancel();
            Asyncio.sleepMs(1);
            assertThat(TestLoop.thrownBy(() -> left[0].deadline(Duration.ZERO)))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(TestLoop.thrownBy(() -> left[0].shield(true))).isInstanceOf(IllegalStateException.class);
        });
    }

    @Test
    void C8_onlyItsTaskChangesAScope() throws Exception {
        TestLoop.run(t -> Asyncio.cancelScope(s -> {
            Asyncio.createTask(() -> t.log(TestLoop.thrownBy(() -> s.shield(true))));
            Asyncio.yieldNow();
            assertThat(t.trace()).singleElement().asString().contains("only main");
            return null;
        }));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5})
    void C8_scopesNestWithTimeoutsAndGroupsInEveryOrder(int order) throws Exception {
        int[][] orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        // Which of the three cancels: only the code behind it runs on, and nothing leaks further out.
        for (int striker = 0; striker < 3; striker++) {
            int s = striker;
            TestLoop.run(t -> {
                nest(t, orders[order], 0, s);
                int place = 0;
                while (orders[order][place] != s) {
                    place++;
                }
                List<String> expected = new ArrayList<>();
                for (int i = place - 1; i >= 0; i--) {
                    expected.add("after " + orders[order][i + 1]);
                }
                expected.add("after " + orders[order][0]);
                t.log("after " + orders[order][0]);
                assertThat(t.trace()).isEqualTo(expected);
                Asyncio.sleepMs(1);
                assertThat(t.loop.timerCount()).isZero();
            });
        }
    }

    private static void nest(TestLoop t, int[] order, int depth, int striker) throws Exception {
        if (depth == order.length) {
            Asyncio.sleepMs(1_000_000);
            return;
        }
        int kind = order[depth];
        Action inside = () -> {
            nest(t, order, depth + 1, striker);
            if (depth + 1 < order.length) {
                t.log("after " + order[depth + 1]);
            }
        };
        switch (kind) {
            case 0 ->
                Asyncio.cancelScope(s -> {
                    if (striker == 0) {
                        s.deadline(Duration.ofMillis(10));
                    }
                    inside.run();
                    return null;
                });
            case 1 -> {
                Throwable e = TestLoop.thrownBy(
                        () -> Asyncio.waitFor(inside, striker == 1 ? Duration.ofMillis(10) : Duration.ofDays(1)));
                if (e instanceof TimeoutException) {
                    assertThat(striker).isEqualTo(1);
                } else if (e != null) {
                    throw LoopTask.sneaky(e);
                }
            }
            default ->
                Asyncio.taskGroup(g -> {
                    if (striker == 2) {
                        g.createTask(() -> {
                            Asyncio.sleepMs(10);
                            g.cancel();
                        });
                    }
                    inside.run();
                    return null;
                });
        }
    }

    @Test
    void F23_levelWiseScopesAndWaitsThatRefuseDoNotSpin() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        EventLoop loop = EventLoop.create();
        loop.run(() -> {
            Asyncio.cancelScope(s -> {
                s.cancel();
                Asyncio.taskGroup(g -> {
                    g.createTask(() -> {
                        try {
                            Asyncio.sleepMs(Long.MAX_VALUE);
                        } finally {
                            Asyncio.sleepMs(300); // its cleanup takes a while
                        }
                    });
                    while (true) {
                        try {
                            Asyncio.yieldNow();
                        } catch (CancelledError e) {
                            steps.incrementAndGet();
                            return null;
                        }
                    }
                });
                return null;
            });
            // The join above refused the scope's cancel for 300 ms.
            long cpu = java.lang.management.ManagementFactory.getThreadMXBean()
                    .getThreadCpuTime(Asyncio.runningLoop().carrier().threadId());
            Asyncio.cancelScope(s -> {
                s.cancel();
                Asyncio.taskGroup(g -> {
                    g.createTask(() -> Asyncio.cancelScope(inner -> {
                        inner.shield(true);
                        Asyncio.sleepMs(500);
                        return null;
                    }));
                    return null;
                });
                return null;
            });
            long used = java.lang.management.ManagementFactory.getThreadMXBean()
                            .getThreadCpuTime(Asyncio.runningLoop().carrier().threadId())
                    - cpu;
            assertThat(used).isLessThan(100_000_000);
        });
        loop.close();
        assertThat(steps).hasValue(1);
    }

    // ---- checkpoint

    @Test
    void B4_checkpointDeliversACancelAndKeepsItsPlace() throws Exception {
        TestLoop.run(t -> {
            Task<Void> computing = Asyncio.createTask(() -> {
                for (int i = 0; ; i++) {
                    t.hog(1);
                    if (Asyncio.checkpoint()) {
                        t.log("gave way at " + i);
                    }
                    if (i == 5) {
                        Asyncio.currentTask().cancel();
                    }
                }
            });
            t.loop.createTask(TaskOptions.of(Priority.URGENT), () -> {
                Asyncio.sleepMs(3);
                t.log("urgent");
            });
            Asyncio.createTask(() -> t.log("normal"));
            assertCancelled(computing);
            Asyncio.yieldNow();
            assertThat(t.trace()).containsExactly("urgent", "gave way at 2", "normal");
        });
    }

    @Test
    void C2_aTaskInACheckpointIsCancelledByTheUrgentOneThatItLetRun() throws Exception {
        TestLoop.run(t -> {
            List<Task<Void>> victim = new ArrayList<>();
            victim.add(Asyncio.createTask(() -> {
                t.loop.createTask(
                        TaskOptions.of(Priority.URGENT), () -> victim.get(0).cancel());
                Asyncio.checkpoint();
                t.log("not reached");
            }));
            assertCancelled(victim.get(0));
            assertThat(t.trace()).isEmpty();
        });
    }
}
