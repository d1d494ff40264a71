package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Section G of the semantics: gather and task groups. */
final class GroupTest {
    private static void assertCancelled(Task<?> t) {
        assertThat(TestLoop.thrownBy(t::await)).isInstanceOf(CancelledError.class);
        assertThat(t.cancelled()).isTrue();
    }

    private static <T> Callable<T> after(long ms, T value) {
        return () -> {
            Asyncio.sleepMs(ms);
            return value;
        };
    }

    private static <T> Callable<T> failsAfter(long ms, String message) {
        return () -> {
            Asyncio.sleepMs(ms);
            throw new IOException(message);
        };
    }

    // ---- G1

    @Test
    void G1_resultsInArgumentOrder() throws Exception {
        TestLoop.run(t -> {
            assertThat(Asyncio.gather(after(30, 1), after(10, 2), after(20, 3))).containsExactly(1, 2, 3);
            assertThat(t.ms()).isEqualTo(30);
            assertThat(Asyncio.gather(List.of())).isEmpty();
            assertThat(Asyncio.gatherOutcomes(List.of())).isEmpty();
            List<String> withNull = Asyncio.gather(Arrays.asList(after(1, null), after(1, "x")));
            assertThat(withNull).containsExactly(null, "x");
        });
    }

    @Test
    void G1_F26_theFirstExceptionIsThrownAtOnceAndTheOthersGoOn() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.gather(
                    after(5, 1),
                    failsAfter(10, "first"),
                    () -> {
                        Asyncio.sleepMs(20);
                        t.log("went on");
                        return 3;
                    },
                    failsAfter(30, "later")));
            assertThat(e).isInstanceOf(IOException.class).hasMessage("first");
            assertThat(t.ms()).isEqualTo(10);
            Asyncio.sleepMs(100);
            assertThat(t.trace()).containsExactly("went on");
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(x -> assertThat(x.exception()).hasMessage("later"));
        });
    }

    @Test
    void C4_aCancelJustAfterTheFirstExceptionCancelsTheOthersOnce() throws Exception {
        TestLoop.run(t -> {
            AtomicReference<Task<?>> gathering = new AtomicReference<>();
            Task<List<Object>> g = Asyncio.createTask(
                    TaskOptions.of(Priority.LOW),
                    () -> Asyncio.gather(
                            () -> {
                                Asyncio.sleepMs(10);
                                t.loop.callSoon(() -> gathering.get().cancel()); // before LOW has its turn
                                throw new IOException("first");
                            },
                            () -> {
                                try {
                                    Asyncio.sleepMs(100);
                                } finally {
                                    Asyncio.sleepMs(5);
                                    t.log("cleaned up");
                                }
                                return 2;
                            }));
            gathering.set(g);
            assertCancelled(g);
            assertThat(t.ms()).isEqualTo(15);
            assertThat(t.trace()).containsExactly("cleaned up");
            Asyncio.sleepMs(1);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(x -> assertThat(x.exception()).hasMessage("first"));
        });
    }

    @Test
    void G1_twoFailuresInOneTick() throws Exception {
        TestLoop.run(t -> {
            assertThat(TestLoop.thrownBy(() -> Asyncio.gather(failsAfter(10, "first"), failsAfter(10, "second"))))
                    .hasMessage("first");
            Asyncio.sleepMs(1);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(x -> assertThat(x.exception()).hasMessage("second"));
        });
    }

    @Test
    void G1_F25_cancellingItCancelsAllChildrenAndWaitsForThem() throws Exception {
        TestLoop.run(t -> {
            List<Callable<Integer>> bodies = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                int n = i;
                bodies.add(() -> {
                    try {
                        Asyncio.sleepMs(1_000);
                    } finally {
                        t.log("cancelled at " + t.ms());
                        Asyncio.sleepMs(n * 10L);
                    }
                    return n;
                });
            }
            Task<List<Integer>> gather = Asyncio.createTask(() -> Asyncio.gather(bodies));
            TestLoop.yields(3);
            gather.cancel();
            assertCancelled(gather);
            assertThat(t.ms()).isEqualTo(40);
            assertThat(t.trace()).hasSize(5).containsOnly("cancelled at 0");
        });
    }

    @Test
    void G1_aCancelledGatherThrowsItAlsoIfTheChildrenSwallowIt() throws Exception {
        TestLoop.run(t -> {
            Task<List<Integer>> gather = Asyncio.createTask(() -> Asyncio.gather(() -> {
                try {
                    Asyncio.sleepMs(1_000);
                } catch (CancelledError e) {
                    t.log("swallowed");
                }
                return 1;
            }));
            TestLoop.yields(3);
            gather.cancel();
            assertCancelled(gather);
            assertThat(t.trace()).containsExactly("swallowed");
        });
    }

    @Test
    void G1_whatFailsInTheCleanupOfACancelledGatherIsReported() throws Exception {
        for (boolean outcomes : new boolean[] {false, true}) {
            TestLoop.run(t -> {
                Callable<Integer> body = () -> {
                    try {
                        Asyncio.sleepMs(1_000);
                    } finally {
                        throwIo("cleanup");
                    }
                    return 1;
                };
                Task<?> gather = Asyncio.createTask(
                        () -> outcomes ? Asyncio.gatherOutcomes(List.of(body)) : Asyncio.gather(body));
                TestLoop.yields(3);
                gather.cancel();
                assertCancelled(gather);
                Asyncio.sleepMs(1);
                assertThat(t.errors()).hasSize(1);
            });
        }
    }

    private static void throwIo(String message) throws IOException {
        throw new IOException(message);
    }

    @Test
    void G1_aFailureThatACancelledGatherHadTakenIsReported() throws Exception {
        TestLoop.run(t -> {
            AtomicReference<Task<?>> gather = new AtomicReference<>();
            // LOW, so that the cancel comes between the failure and the step of the gather.
            gather.set(t.loop.createTask(TaskOptions.of(Priority.LOW), () -> {
                Asyncio.gather(
                        () -> {
                            Asyncio.sleepMs(10);
                            t.loop.callSoon(() -> gather.get().cancel());
                            throw new IOException("lost");
                        },
                        after(500, 1));
            }));
            assertCancelled(gather.get());
            Asyncio.sleepMs(1);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(e -> assertThat(e.exception()).hasMessage("lost"));
        });
    }

    @Test
    void G1_theSameTaskManyTimes() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> shared = Asyncio.createTask(after(10, 5));
            for (int i = 0; i < 3; i++) {
                assertThat(Asyncio.gather(shared::await, shared::await, shared::await))
                        .containsExactly(5, 5, 5);
                assertThat(shared.await()).isEqualTo(5);
                Integer inGroup =
                        Asyncio.taskGroup(g -> g.createTask(shared::await).await());
                assertThat(inGroup).isEqualTo(5);
            }
        });
    }

    @Test
    void G1_outcomesTellHowEachEnded() throws Exception {
        TestLoop.run(t -> {
            List<Outcome<Integer>> outcomes = Asyncio.gatherOutcomes(List.of(
                    after(10, 1),
                    failsAfter(5, "x"),
                    () -> {
                        Asyncio.currentTask().cancel();
                        Asyncio.yieldNow();
                        return 3;
                    },
                    () -> {
                        throw new StackOverflowError("an error");
                    }));
            assertThat(outcomes.get(0)).isEqualTo(new Outcome.Success<>(1));
            assertThat(outcomes.get(1))
                    .isInstanceOfSatisfying(
                            Outcome.Failure.class,
                            f -> assertThat(f.exception()).hasMessage("x"));
            assertThat(outcomes.get(2)).isEqualTo(new Outcome.Cancelled<>());
            assertThat(outcomes.get(3))
                    .isInstanceOfSatisfying(
                            Outcome.Failure.class,
                            f -> assertThat(f.exception()).hasCauseInstanceOf(StackOverflowError.class));
            assertThat(t.ms()).isEqualTo(10);
        });
    }

    @Test
    void G1_aCancelledChildIsThrown() throws Exception {
        TestLoop.run(t -> {
            AtomicReference<Task<?>> child = new AtomicReference<>();
            Task<List<Integer>> gather = Asyncio.createTask(() -> Asyncio.gather(
                    () -> {
                        child.set(Asyncio.currentTask());
                        Asyncio.sleepMs(1_000);
                        return 1;
                    },
                    after(100, 2)));
            Asyncio.sleepMs(10);
            child.get().cancel();
            assertThat(TestLoop.thrownBy(gather::await)).isInstanceOf(CancelledError.class);
            assertThat(t.ms()).isEqualTo(10);
        });
    }

    @Test
    void G1_childrenRunInTheClassOfTheCaller() throws Exception {
        TestLoop.run(t -> {
            for (Priority p : Priority.values()) {
                Task<List<Priority>> gather = Asyncio.createTask(
                        TaskOptions.of(p),
                        () -> Asyncio.gather(() -> Asyncio.currentTask().priority()));
                assertThat(gather.await()).containsExactly(p);
            }
        });
    }

    // ---- G2

    @Test
    void G2_endsWhenAllChildrenEnded() throws Exception {
        TestLoop.run(t -> {
            Integer value = Asyncio.taskGroup(g -> {
                g.createTask(() -> {
                    Asyncio.sleepMs(20);
                    g.createTask(() -> Asyncio.sleepMs(30)); // a child may add
                });
                return 5;
            });
            assertThat(value).isEqualTo(5);
            assertThat(t.ms()).isEqualTo(50);
            assertThat((Object) Asyncio.taskGroup(g -> 6)).isEqualTo(6);
        });
    }

    @Test
    void G2_aFailureCancelsTheOthersAndTheBody() throws Exception {
        TestLoop.run(t -> {
            List<Task<?>> children = new ArrayList<>();
            Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                children.add(g.createTask(after(1_000, 1)));
                children.add(g.createTask(failsAfter(10, "first")));
                children.add(g.createTask(after(1_000, 1)));
                try {
                    Asyncio.sleepMs(1_000);
                } finally {
                    t.log("body cancelled at " + t.ms());
                }
                return null;
            }));
            assertThat(e).isInstanceOf(IOException.class).hasMessage("first").hasNoSuppressedExceptions();
            assertThat(t.trace()).containsExactly("body cancelled at 10");
            assertThat(children.get(0).cancelled()).isTrue();
            assertThat(children.get(2).cancelled()).isTrue();
            Asyncio.sleepMs(1);
            assertThat(t.ms()).isEqualTo(11);
        });
    }

    @Test
    void G2_F16_theRestAreSuppressed() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                g.createTask(failsAfter(10, "first"));
                for (String name : List.of("a", "b")) {
                    g.createTask(() -> {
                        try {
                            Asyncio.sleepMs(1_000);
                        } finally {
                            throwIo("cleanup " + name);
                        }
                    });
                }
                return null;
            }));
            assertThat(e).hasMessage("first");
            assertThat(e.getSuppressed()).extracting(Throwable::getMessage).containsExactly("cleanup a", "cleanup b");
        });
    }

    @Test
    void G2_theBodysOwnExceptionComesFirst() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                g.createTask(() -> {
                    try {
                        Asyncio.sleepMs(1_000);
                    } finally {
                        throwIo("child");
                    }
                });
                Asyncio.sleepMs(1);
                throw new IllegalArgumentException("body");
            }));
            assertThat(e).hasMessage("body");
            assertThat(e.getSuppressed()).extracting(Throwable::getMessage).containsExactly("child");
            Throwable same = TestLoop.thrownBy(() -> Asyncio.taskGroup(
                    g -> g.createTask(failsAfter(1, "awaited")).await()));
            assertThat(same).hasMessage("awaited").hasNoSuppressedExceptions();
        });
    }

    @Test
    void G2_F22_anErrorOfTheBodyOfACancelledGroupStandsAlone() throws Exception {
        TestLoop.run(t -> assertThat(TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                    g.cancel();
                    throw new StackOverflowError("mine");
                })))
                .hasMessage("mine")
                .hasNoSuppressedExceptions());
    }

    @Test
    void G2_cancellingOneChildDoesNotAbortTheGroup() throws Exception {
        TestLoop.run(t -> {
            Integer value = Asyncio.taskGroup(g -> {
                Task<Integer> a = g.createTask(after(1_000, 1));
                Task<Integer> b = g.createTask(after(20, 2));
                Asyncio.sleepMs(10);
                a.cancel();
                return b.await();
            });
            assertThat(value).isEqualTo(2);
        });
    }

    @Test
    void G2_F17_childrenAddedWhileItAbortsAreCancelled() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                g.createTask(() -> {
                    try {
                        Asyncio.sleepMs(1_000);
                    } finally {
                        g.createTask(() -> t.log("not reached"));
                        g.createTask(() -> Asyncio.sleepMs(Long.MAX_VALUE));
                    }
                });
                g.createTask(failsAfter(10, "first"));
                return null;
            }));
            assertThat(e).hasMessage("first");
            assertThat(t.ms()).isEqualTo(10);
            assertThat(t.trace()).isEmpty();
        });
    }

    @Test
    void G2_cancelEndsItWithoutAnError() throws Exception {
        TestLoop.run(t -> {
            assertThat((Object) Asyncio.taskGroup(g -> {
                        g.createTask(after(1_000, 1));
                        g.cancel();
                        g.cancel();
                        Asyncio.sleepMs(1_000);
                        return "not reached";
                    }))
                    .isNull();
            assertThat((Object) Asyncio.taskGroup(g -> {
                        g.createTask(() -> {
                            Asyncio.sleepMs(10);
                            g.cancel();
                        });
                        g.createTask(after(1_000, 1));
                        return "the body had one";
                    }))
                    .isEqualTo("the body had one");
            assertThat(t.ms()).isEqualTo(10);
            Asyncio.sleepMs(1);
        });
    }

    @Test
    void G2_aCancelOfTheParentCancelsChildrenAndIsThrownWhenTheyEnded() throws Exception {
        TestLoop.run(t -> {
            for (boolean bodyWaits : new boolean[] {true, false}) {
                long start = t.ms();
                Task<Void> parent = Asyncio.createTask(() -> {
                    Asyncio.taskGroup(g -> {
                        g.createTask(() -> {
                            try {
                                Asyncio.sleepMs(1_000);
                            } finally {
                                Asyncio.sleepMs(50);
                            }
                        });
                        if (bodyWaits) {
                            Asyncio.sleepMs(1_000);
                        }
                        return null;
                    });
                    t.log("not reached");
                });
                Asyncio.sleepMs(10);
                parent.cancel();
                assertCancelled(parent);
                assertThat(t.ms()).isEqualTo(start + 60);
            }
            assertThat(t.trace()).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"body waits", "body swallows", "join"})
    void G2_ifTheParentIsCancelledAndAChildFailsTheCancelArrivesAtTheNextWait(String how) throws Exception {
        TestLoop.run(t -> {
            Task<Void> parent = Asyncio.createTask(() -> {
                Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                    g.createTask(() -> {
                        try {
                            Asyncio.sleepMs(1_000);
                        } finally {
                            throwIo("child");
                        }
                    });
                    switch (how) {
                        case "body waits" -> Asyncio.sleepMs(1_000);
                        case "body swallows" -> {
                            assertThat(TestLoop.thrownBy(() -> Asyncio.sleepMs(1_000)))
                                    .isInstanceOf(CancelledError.class);
                            g.cancel();
                        }
                        default -> {}
                    }
                    return null;
                }));
                t.log(e.getMessage());
                Asyncio.yieldNow();
                t.log("not reached");
            });
            TestLoop.yields(3);
            parent.cancel();
            assertCancelled(parent);
            assertThat(t.trace()).containsExactly("child");
        });
    }

    @Test
    void G2_aFailureInsideATimeoutIsThrownWithTheTimeoutAsSuppressed() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.waitFor(
                    () -> Asyncio.taskGroup(g -> {
                        for (String name : List.of("a", "b")) {
                            g.createTask(() -> {
                                try {
                                    Asyncio.sleepMs(1_000);
                                } finally {
                                    throwIo(name);
                                }
                            });
                        }
                        Asyncio.sleepMs(1_000);
                        return null;
                    }),
                    Duration.ofMillis(10)));
            assertThat(e).isInstanceOf(IOException.class).hasMessage("a");
            assertThat(e.getSuppressed())
                    .satisfiesExactlyInAnyOrder(
                            x -> assertThat(x).hasMessage("b"),
                            x -> assertThat(x).isInstanceOf(TimeoutException.class));
            Asyncio.sleepMs(1);
        });
    }

    @Test
    void F13_outerTimeoutSurvivesGroupCancel() throws Exception {
        TestLoop.run(t -> {
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> Asyncio.taskGroup(g -> {
                                g.createTask(() -> {
                                    try {
                                        Asyncio.sleepMs(10_000);
                                    } finally {
                                        Asyncio.sleepMs(1_000);
                                    }
                                });
                                Asyncio.sleepMs(100);
                                g.cancel();
                                return null;
                            }),
                            Duration.ofMillis(500))))
                    .isInstanceOf(TimeoutException.class);
            assertThat(t.ms()).isBetween(500L, 1_100L);
        });
    }

    @Test
    void F14_nestedGroupsKeepTheParentsCancel() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(outer -> {
                outer.createTask(failsAfter(20, "outer child"));
                Asyncio.taskGroup(inner -> {
                    inner.createTask(() -> {
                        try {
                            Asyncio.sleepMs(1_000);
                        } finally {
                            Asyncio.sleepMs(30);
                        }
                    });
                    Asyncio.sleepMs(10);
                    inner.cancel(); // at 20 it is still ending, and the outer one cancels the parent
                    return null;
                });
                t.log("not reached");
                return null;
            }));
            assertThat(e).hasMessage("outer child");
            assertThat(t.trace()).isEmpty();
            Asyncio.sleepMs(1);
        });
    }

    @Test
    void F14_anExternalCancelSurvivesAnInnerGroupThatEndsByItself() throws Exception {
        TestLoop.run(t -> {
            Task<Void> parent = Asyncio.createTask(() -> {
                Asyncio.taskGroup(outer -> {
                    Asyncio.taskGroup(inner -> {
                        inner.createTask(() -> {
                            try {
                                Asyncio.sleepMs(1_000);
                            } finally {
                                Asyncio.sleepMs(30);
                            }
                        });
                        Asyncio.sleepMs(10);
                        inner.cancel();
                        return null;
                    });
                    t.log("not reached");
                    return null;
                });
            });
            Asyncio.sleepMs(20);
            parent.cancel();
            assertCancelled(parent);
            assertThat(t.trace()).isEmpty();
        });
    }

    @Test
    void F19_aChildThatFailsAtOnceLeaksNoCancel() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                g.createTask(() -> throwIo("at once"));
                return null;
            }));
            assertThat(e).hasMessage("at once").hasNoSuppressedExceptions();
            Asyncio.yieldNow();
            Asyncio.sleepMs(1);
        });
    }

    @Test
    void F20_cancellingTheCallerOfAStartKillsOnlyThatTask() throws Exception {
        TestLoop.run(t -> Asyncio.taskGroup(g -> {
            Task<Integer> other = g.createTask(after(50, 5));
            Object started = Asyncio.cancelScope(s -> {
                s.deadline(Duration.ofMillis(10));
                Task<Void> starting = t.loop.createTask(() -> Asyncio.sleepMs(1_000)); // not ready yet
                starting.await();
                return "";
            });
            assertThat(started).isNull();
            assertThat(other.await()).isEqualTo(5);
            return null;
        }));
    }

    @Test
    void G2_wrongUse() throws Exception {
        TestLoop.run(t -> {
            AtomicReference<TaskGroup> left = new AtomicReference<>();
            Asyncio.taskGroup(g -> {
                left.set(g);
                assertThat(TestLoop.thrownBy(() -> g.createTask((Callable<Integer>) null)))
                        .isInstanceOf(NullPointerException.class);
                Throwable fromOutside = Asyncio.offload(() -> TestLoop.thrownBy(() -> g.createTask(() -> 5)));
                assertThat(fromOutside).isInstanceOf(IllegalStateException.class);
                fromOutside = Asyncio.offload(() -> TestLoop.thrownBy(g::cancel));
                assertThat(fromOutside).isInstanceOf(IllegalStateException.class);
                return null;
            });
            assertThat(TestLoop.thrownBy(() -> left.get().createTask(() -> 5)))
                    .isInstanceOf(IllegalStateException.class);
            left.get().cancel(); // no effect
            assertThat(TestLoop.thrownBy(() -> Asyncio.gather(() -> 1, null))).isInstanceOf(NullPointerException.class);
        });
    }

    // ---- G3

    @Test
    void G3_F127_anExceptionThatNobodyAwaitedIsReportedOnceAndStillThrownLater() throws Exception {
        TestLoop.run(t -> {
            Task<Void> failing = Asyncio.createTask("failing", () -> throwIo("mine"));
            Asyncio.sleepMs(10);
            assertThat(t.errors()).singleElement().satisfies(e -> {
                assertThat(e.message()).contains("failing");
                assertThat(e.exception()).hasMessage("mine");
                assertThat(e.task()).isSameAs(failing);
            });
            assertThat(TestLoop.thrownBy(failing::await)).hasMessage("mine");
            assertThat(TestLoop.thrownBy(failing::await)).hasMessage("mine");
            Asyncio.sleepMs(10);
        });
    }

    @Test
    void G3_whoAwaitsWithinOneRoundIsInTime() throws Exception {
        TestLoop.run(t -> {
            Task<Void> failing = Asyncio.createTask(() -> throwIo("mine"));
            Asyncio.yieldNow(); // it has ended, and we are in the next round
            assertThat(failing.done()).isTrue();
            assertThat(TestLoop.thrownBy(failing::await)).hasMessage("mine");
            Task<Void> looked = Asyncio.createTask(() -> throwIo("mine"));
            Asyncio.yieldNow();
            assertThat(looked.exception()).hasMessage("mine");
            Asyncio.sleepMs(10);
        });
    }

    @Test
    void G3_cancelledTasksAreNeverReported() throws Exception {
        TestLoop.run(t -> {
            Task<Void> a = Asyncio.createTask(() -> Asyncio.sleepMs(100));
            Task<Void> fresh = Asyncio.createTask(() -> Asyncio.sleepMs(100));
            fresh.cancel();
            Asyncio.yieldNow();
            a.cancel();
            Asyncio.sleepMs(1);
            assertThat(a.cancelled() && fresh.cancelled()).isTrue();
        });
    }

    @Test
    void G3_aThreadThatGaveUpWaitingDoesNotCountAsWaiting() throws Exception {
        TestLoop.run(t -> {
            Task<Void> failing = Asyncio.createTask(() -> {
                Asyncio.sleepMs(100);
                throwIo("late");
            });
            Asyncio.offload(() -> {
                assertThat(TestLoop.thrownBy(() -> failing.get(1, TimeUnit.MILLISECONDS)))
                        .isInstanceOf(TimeoutException.class);
                Thread.currentThread().interrupt();
                assertThat(TestLoop.thrownBy(failing::get)).isInstanceOf(InterruptedException.class);
                return true;
            });
            Asyncio.sleepMs(200);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(x -> assertThat(x.exception()).hasMessage("late"));
        });
    }

    @Test
    void F28_aShieldedFailureThatIsAwaitedIsNotReported() throws Exception {
        TestLoop.run(t -> {
            Task<Void> f = Asyncio.createTask(() -> {
                Asyncio.sleepMs(1_000);
                throwIo("late");
            });
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(() -> Asyncio.shield(f), Duration.ofMillis(500))))
                    .isInstanceOf(TimeoutException.class);
            assertThat(TestLoop.thrownBy(f::await)).hasMessage("late");
            assertThat(t.ms()).isEqualTo(1_000);
            Asyncio.sleepMs(10);
        });
    }

    @Test
    void C5_anExceptionOfAShieldedTaskIsReportedOnce() throws Exception {
        TestLoop.run(t -> {
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> Asyncio.shield(() -> {
                                Asyncio.sleepMs(1_000);
                                throwIo("late");
                                return null;
                            }),
                            Duration.ofMillis(500))))
                    .isInstanceOf(TimeoutException.class);
            Asyncio.sleepMs(1_000);
            assertThat(t.errors()).hasSize(1);
        });
    }

    @Test
    void G3_aFailureThatSeveralTasksTookOverIsReportedOnce() throws Exception {
        TestLoop.run(t -> {
            Task<Void> shared = Asyncio.createTask(() -> {
                Asyncio.sleepMs(10);
                throwIo("shared");
            });
            Asyncio.createTask(() -> shared.await());
            Asyncio.createTask(() -> shared.await());
            Asyncio.createTask(() -> Asyncio.gather(shared::await, shared::await));
            Asyncio.sleepMs(20);
            assertThat(t.errors()).hasSize(1);
        });
    }

    @Test
    void G3_aFailureOfItsOwnAfterAnotherOneIsReported() throws Exception {
        TestLoop.run(t -> {
            Task<Void> first = Asyncio.createTask(() -> throwIo("first"));
            Asyncio.createTask(() -> {
                assertThat(TestLoop.thrownBy(first::await)).hasMessage("first");
                throwIo("second");
            });
            assertThat(TestLoop.thrownBy(first::await)).hasMessage("first");
            Asyncio.sleepMs(10);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(e -> assertThat(e.exception()).hasMessage("second"));
        });
    }

    @Test
    void G3_aFailureWhoseOnlyAwaiterIsCancelledInTheSameTickIsReported() throws Exception {
        TestLoop.run(t -> {
            Task<Void> failing = Asyncio.createTask(() -> {
                Asyncio.sleepMs(10);
                throwIo("lost");
            });
            Task<Void> awaiting = t.loop.createTask(TaskOptions.of(Priority.LOW), failing::await);
            Asyncio.sleepMs(1);
            Asyncio.createTask(() -> {
                Asyncio.sleepMs(9);
                while (!failing.done()) {
                    Asyncio.yieldNow();
                }
                awaiting.cancel();
            });
            assertThat(TestLoop.thrownBy(awaiting::await)).isInstanceOf(CancelledError.class);
            Asyncio.sleepMs(10);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(e -> assertThat(e.exception()).hasMessage("lost"));
        });
    }

    @Test
    void G3_aHandlerThatThrowsDoesNotHurtTheLoop() throws Exception {
        EventLoop loop = EventLoop.builder()
                .exceptionHandler(e -> {
                    throw new IllegalStateException("the handler is broken");
                })
                .build();
        loop.run(() -> {
            Asyncio.createTask(() -> throwIo("mine"));
            Asyncio.runningLoop().callSoon(() -> {
                throw new IllegalArgumentException("callback");
            });
            Asyncio.sleepMs(5);
        });
        assertThat(loop.run(() -> 5)).isEqualTo(5);
        loop.close();
    }

    @Test
    void G3_aCallbackThatThrowsIsReported() throws Exception {
        TestLoop.run(t -> {
            t.loop.callSoon(() -> {
                throw new IllegalArgumentException("callback");
            });
            t.loop.callSoon(() -> t.log("the next one runs"));
            Asyncio.sleepMs(1);
            assertThat(t.trace()).containsExactly("the next one runs");
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(e -> assertThat(e.exception()).hasMessage("callback"));
        });
    }

    @Test
    void G4_errorsOfTheVirtualMachineReachWhoAwaits() throws Exception {
        TestLoop.run(t -> {
            StackOverflowError mine = new StackOverflowError("mine");
            Task<Void> failing = Asyncio.createTask(() -> {
                throw mine;
            });
            assertThat(TestLoop.thrownBy(failing::await)).isSameAs(mine);
            assertThat(failing.exception()).isSameAs(mine);
            Asyncio.createTask(() -> {
                throw mine;
            });
            Asyncio.sleepMs(1);
            assertThat(t.errors())
                    .singleElement()
                    .satisfies(e -> assertThat(e.exception()).isSameAs(mine));
        });
        assertThat(TestLoop.thrownBy(() -> Asyncio.run(() -> {
                    throw new OutOfMemoryError("main's");
                })))
                .isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void doneCallbacksRunOnceInOrderAlsoWhenAddedLate() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> task = Asyncio.createTask(after(10, 5));
            task.addDoneCallback(x -> t.log("1 " + (x == task)));
            task.addDoneCallback(x -> {
                throw new IllegalArgumentException("callback");
            });
            task.addDoneCallback(x -> t.log("2 " + x.resultNow()));
            task.await();
            Asyncio.yieldNow();
            task.addDoneCallback(x -> t.log("late"));
            assertThat(t.trace()).containsExactly("1 true", "2 5");
            Asyncio.yieldNow();
            assertThat(t.trace()).containsExactly("late");
            assertThat(t.errors()).hasSize(1);
            Task<Void> cancelled = Asyncio.createTask(() -> Asyncio.sleepMs(10));
            cancelled.addDoneCallback(x -> t.log("cancelled " + x.cancelled()));
            cancelled.cancel();
            Asyncio.sleepMs(1);
            assertThat(t.trace()).containsExactly("cancelled true");
        });
    }

    @Test
    void F130_doneTasksHoldNothing() throws Exception {
        TestLoop.run(t -> {
            Object big = new Object();
            java.lang.ref.WeakReference<Object> ref = new java.lang.ref.WeakReference<>(big);
            Task<Void> done = createTaskThatHolds(big);
            big = null;
            done.await();
            for (int i = 0; i < 50 && ref.get() != null; i++) {
                System.gc();
                Asyncio.sleepMs(1);
            }
            assertThat(ref.get()).isNull();
            assertThat(done.done()).isTrue();
        });
    }

    private static Task<Void> createTaskThatHolds(Object big) {
        return Asyncio.createTask(() -> {
            assertThat(big).isNotNull();
            Asyncio.sleepMs(1);
        });
    }
}
