package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Section T of the semantics. */
final class TimeoutTest {
    private static Duration ms(long ms) {
        return Duration.ofMillis(ms);
    }

    // ---- T1

    @Test
    void T1_nullIsNoLimit() throws Exception {
        TestLoop.run(t -> {
            int value = Asyncio.waitFor(
                    () -> {
                        Asyncio.sleep(Duration.ofDays(30));
                        return 5;
                    },
                    null);
            assertThat(value).isEqualTo(5);
            assertThat(t.loop.timerCount()).isZero();
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -11, Long.MIN_VALUE})
    void T1_F8_zeroAndNegativeRunToTheFirstRealWait(long timeout) throws Exception {
        TestLoop.run(t -> {
            int value = Asyncio.waitForMs(() -> 5, timeout);
            assertThat(value).isEqualTo(5);
            Task<Integer> done = Asyncio.createTask(() -> 6);
            done.await();
            value = Asyncio.waitForMs(
                    () -> {
                        Wait.begin(); // an operation that can be satisfied at once
                        return done.await();
                    },
                    timeout);
            assertThat(value).isEqualTo(6);
            for (Action wait : new Action[] {Asyncio::yieldNow, () -> Asyncio.sleepMs(5), () -> Asyncio.afterMs(1)}) {
                assertThat(TestLoop.thrownBy(() -> Asyncio.waitForMs(
                                () -> {
                                    t.log("ran");
                                    wait.run();
                                    t.log("not reached");
                                },
                                timeout)))
                        .isInstanceOf(TimeoutException.class);
            }
            assertThat(t.trace()).containsExactly("ran", "ran", "ran");
            assertThat(t.loop.time()).isZero();
        });
    }

    @Test
    void T1_agroupThatNeverWaitsReturnsItsValueUnderATimeoutOfZero() throws Exception {
        TestLoop.run(t -> {
            int ofGroup = Asyncio.waitFor(() -> Asyncio.taskGroup(g -> 5), Duration.ZERO);
            assertThat(ofGroup).isEqualTo(5);
            int ofScope = Asyncio.waitFor(() -> Asyncio.cancelScope(s -> 6), Duration.ZERO);
            assertThat(ofScope).isEqualTo(6);
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> Asyncio.taskGroup(g -> {
                                g.createTask(() -> Asyncio.sleepMs(100));
                                return 5;
                            }),
                            Duration.ZERO)))
                    .isInstanceOf(TimeoutException.class);
        });
    }

    @Test
    void T1_whatOverflowsIsNoLimit() throws Exception {
        TestLoop.run(t -> {
            Asyncio.waitFor(() -> Asyncio.sleep(Duration.ofDays(1)), Duration.ofSeconds(Long.MAX_VALUE));
            Asyncio.waitForMs(() -> Asyncio.sleep(Duration.ofDays(1)), Long.MAX_VALUE);
            assertThat(t.loop.time()).isEqualTo(Duration.ofDays(2).toNanos());
        });
    }

    // ---- T2

    @Test
    void T2_theBodyRunsInTheCallingTask() throws Exception {
        TestLoop.run(t -> {
            Task<?> me = Asyncio.currentTask();
            Asyncio.waitFor(() -> assertThat(Asyncio.currentTask()).isSameAs(me), ms(10));
        });
    }

    @Test
    void T2_theCleanupIsWaitedFor() throws Exception {
        TestLoop.run(t -> {
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> {
                                try {
                                    Asyncio.sleepMs(1_000);
                                } finally {
                                    Asyncio.sleepMs(50);
                                }
                            },
                            ms(10))))
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("main");
            assertThat(t.ms()).isEqualTo(60);
        });
    }

    @Test
    void T2_alsoIfTheBodySwallowedTheCancelAndReturned() throws Exception {
        TestLoop.run(t -> assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                        () -> {
                            try {
                                Asyncio.sleepMs(1_000);
                            } catch (CancelledError e) {
                                t.log("swallowed");
                            }
                            return 5;
                        },
                        ms(10))))
                .isInstanceOf(TimeoutException.class));
    }

    @Test
    void T2_ifItEndedBeforeTheCancelReachedItItsValueCounts() throws Exception {
        TestLoop.run(t -> {
            int value = Asyncio.waitFor(
                    () -> {
                        t.hog(50);
                        return 5;
                    },
                    ms(10));
            assertThat(value).isEqualTo(5);
            Asyncio.sleepMs(100); // and the timeout hits nothing later
        });
    }

    @Test
    void T2_F11_anExceptionOfTheCleanupHasTheTimeoutAsSuppressed() throws Exception {
        TestLoop.run(t -> {
            Throwable e = TestLoop.thrownBy(() -> Asyncio.waitFor(
                    () -> {
                        try {
                            Asyncio.sleepMs(1_000);
                        } catch (CancelledError c) {
                            throw new IOException("cleanup");
                        }
                    },
                    ms(10)));
            assertThat(e).isInstanceOf(IOException.class).hasMessage("cleanup");
            assertThat(e.getSuppressed()).hasSize(1).hasOnlyElementsOfType(TimeoutException.class);
            Throwable own = TestLoop.thrownBy(() -> Asyncio.waitFor(
                    () -> {
                        Asyncio.sleepMs(5);
                        throw new IOException("in time");
                    },
                    ms(10)));
            assertThat(own).hasMessage("in time").hasNoSuppressedExceptions();
        });
    }

    @Test
    void T2_aTimeoutExceptionOfTheBodyIsItsOwn() throws Exception {
        TestLoop.run(t -> {
            TimeoutException mine = new TimeoutException("mine");
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> {
                                throw mine;
                            },
                            ms(10))))
                    .isSameAs(mine);
        });
    }

    @Test
    void F55_theSameWaitAgainAfterATimeoutWorks() throws Exception {
        TestLoop.run(t -> {
            for (int i = 0; i < 3; i++) {
                assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(() -> Asyncio.sleepMs(1_000), ms(10))))
                        .isInstanceOf(TimeoutException.class);
            }
            assertThat(t.ms()).isEqualTo(30);
        });
    }

    // ---- T3

    @ParameterizedTest
    @CsvSource({"1,2,3", "1,3,2", "2,1,3", "2,3,1", "3,1,2", "3,2,1", "1,1,2", "2,2,1"})
    void T3_F10_onlyTheScopeWhoseDeadlinePassedReports(long outer, long inner, long body) throws Exception {
        TestLoop.run(t -> {
            Throwable[] insideOuter = new Throwable[1];
            Throwable atOuter = TestLoop.thrownBy(() -> Asyncio.waitFor(
                    () -> {
                        Throwable e = TestLoop.thrownBy(
                                () -> Asyncio.waitFor(() -> Asyncio.sleepMs(body * 10), ms(inner * 10)));
                        insideOuter[0] = e;
                        if (e != null) {
                            throw LoopTask.sneaky(e);
                        }
                    },
                    ms(outer * 10)));
            if (body < Math.min(outer, inner)) {
                assertThat(atOuter).isNull();
            } else if (outer <= inner) { // equal ones: the outer counts, as its strike covers the inner
                assertThat(insideOuter[0]).isInstanceOf(CancelledError.class);
                assertThat(atOuter).isInstanceOf(TimeoutException.class).hasMessageContaining(ms(outer * 10) + "");
            } else {
                assertThat(insideOuter[0]).isInstanceOf(TimeoutException.class);
                assertThat(atOuter).isSameAs(insideOuter[0]);
            }
            assertThat(t.ms()).isEqualTo(10 * Math.min(body, Math.min(outer, inner)));
            assertThat(t.loop.timerCount()).isZero();
        });
    }

    @Test
    void T3_noTimerOutlivesItsScope() throws Exception {
        TestLoop.run(t -> {
            Asyncio.waitFor(() -> Asyncio.sleepMs(5), ms(10));
            assertThat(t.loop.timerCount()).isZero();
            Asyncio.sleepMs(100);
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> {
                                throw new IOException();
                            },
                            ms(10))))
                    .isInstanceOf(IOException.class);
            assertThat(t.loop.timerCount()).isZero();
        });
    }

    @Test
    void T3_theInnerTimeoutIsHandledAndTheOuterOneStillWorks() throws Exception {
        TestLoop.run(t -> {
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                            () -> {
                                while (true) {
                                    Throwable e = TestLoop.thrownBy(
                                            () -> Asyncio.waitFor(() -> Asyncio.sleepMs(1_000), ms(10)));
                                    t.log(t.ms() + " " + e.getClass().getSimpleName());
                                    if (e instanceof CancelledError) {
                                        return;
                                    }
                                }
                            },
                            ms(35))))
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("0.035");
            assertThat(t.trace())
                    .containsExactly(
                            "10 TimeoutException", "20 TimeoutException", "30 TimeoutException", "35 CancelledError");
        });
    }

    // ---- T4

    @Test
    void T4_anExternalCancelIsThrownAlsoIfTheBodySwallowedIt() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = Asyncio.createTask(() -> {
                Asyncio.waitFor(
                        () -> {
                            try {
                                Asyncio.sleepMs(1_000);
                            } catch (CancelledError e) {
                                Asyncio.sleepMs(10); // its cleanup is waited for
                                t.log("swallowed at " + t.ms());
                            }
                            return 5;
                        },
                        ms(100));
                t.log("not reached");
            });
            Asyncio.yieldNow();
            victim.cancel();
            assertThat(TestLoop.thrownBy(victim::await)).isInstanceOf(CancelledError.class);
            assertThat(t.trace()).containsExactly("swallowed at 10");
        });
    }

    @Test
    void T4_nestedScopesPassTheVeryErrorOn() throws Exception {
        TestLoop.run(t -> {
            Throwable[] seen = new Throwable[3];
            Task<Void> victim = Asyncio.createTask(() -> {
                seen[2] = TestLoop.thrownBy(() -> Asyncio.waitFor(
                        () -> {
                            seen[1] = TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                                seen[0] = TestLoop.thrownBy(() -> Asyncio.sleepMs(1_000));
                                return null;
                            }));
                        },
                        ms(100)));
            });
            Asyncio.yieldNow();
            victim.cancel();
            victim.await(); // the body has swallowed it in the end
            assertThat(seen[0]).isInstanceOf(CancelledError.class);
            assertThat(seen[1]).isSameAs(seen[0]);
            assertThat(seen[2]).isSameAs(seen[0]);
        });
    }

    @Test
    void T4_aCancelAfterTheTimeoutOfTheCleanupEndsTheCleanup() throws Exception {
        TestLoop.run(t -> {
            Task<Void> victim = Asyncio.createTask(() -> Asyncio.waitFor(
                    () -> {
                        try {
                            Asyncio.sleepMs(1_000);
                        } finally {
                            Asyncio.sleepMs(1_000);
                        }
                    },
                    ms(10)));
            Asyncio.sleepMs(20);
            victim.cancel();
            assertThat(TestLoop.thrownBy(victim::await)).isInstanceOf(CancelledError.class);
            assertThat(t.ms()).isEqualTo(20);
        });
    }

    @Test
    void S13_waitForNeedsATaskAndABody() {
        assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(() -> 5, ms(10)))).isInstanceOf(IllegalStateException.class);
        assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor((Action) null, ms(10))))
                .isInstanceOf(NullPointerException.class);
    }

    // ---- a stack that overflows

    private static void nestTimeouts() throws Exception {
        Asyncio.waitFor(() -> nestTimeouts(), Duration.ofSeconds(1));
    }

    private static void nestScopes() throws Exception {
        Asyncio.cancelScope(scope -> {
            scope.deadline(Duration.ofSeconds(1));
            nestScopes();
            return true;
        });
    }

    private static void deeper(int frames, Action body) throws Exception {
        if (frames > 0) {
            deeper(frames - 1, body);
        } else {
            body.run();
        }
    }

    @Test
    void T3_whereTheStackOverflowsInsideNestedTimeoutsTheErrorIsThrownAndNoTimerIsLeft() throws Exception {
        for (Action nest : List.<Action>of(TimeoutTest::nestTimeouts, TimeoutTest::nestScopes)) {
            for (int frames = 0; frames < 20; frames++) { // so that it overflows in other places
                int n = frames;
                TestLoop.run(t -> {
                    assertThat(TestLoop.thrownBy(() -> deeper(n, nest))).isInstanceOf(StackOverflowError.class);
                    assertThat(t.loop.timerCount()).isZero();
                    Asyncio.sleepMs(5_000); // nothing strikes here
                    assertThat(t.ms()).isEqualTo(5_000);
                });
            }
        }
    }
}
