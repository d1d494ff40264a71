package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.Wait;
import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LockTest {
    @Test
    void Y2_isHandedOverFirstInFirstOut() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            List<Integer> order = new ArrayList<>();
            lock.acquire();
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                int n = i;
                tasks.add(Loops.spawn(() -> {
                    try (Guard held = lock.hold()) {
                        order.add(n);
                        Asyncio.sleepMs(1);
                        assertThat(lock.owner()).isSameAs(Asyncio.currentTask());
                        assertThat(held).isNotNull();
                    }
                }));
            }
            Loops.settle();
            lock.release();
            for (Task<?> t : tasks) {
                t.await();
            }
            assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
            assertThat(lock.locked()).isFalse();
        });
    }

    @Test
    void Y2_staysLockedInTheHandOverAndNobodyBargesIn() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            List<String> order = new ArrayList<>();
            lock.acquire();
            Task<?> waiter = Loops.spawn(() -> {
                lock.acquire();
                order.add("waiter");
                lock.release();
            });
            Loops.settle();
            lock.release();
            assertThat(lock.locked()).isTrue();
            assertThat(lock.tryAcquire()).isFalse();
            assertThat(lock.acquireWithin(Duration.ZERO)).isFalse();
            lock.acquire();
            order.add("barger");
            lock.release();
            waiter.await();
            assertThat(order).containsExactly("waiter", "barger");
            assertThat(lock.locked()).isFalse();
        });
    }

    @Test
    void Y2_aSecondAcquireByTheHolderIsAnError() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            assertThatIllegalStateException().isThrownBy(lock::acquire).withMessageContaining("not re-entrant");
            assertThatIllegalStateException().isThrownBy(lock::tryAcquire);
            lock.release();
            lock.acquire();
            lock.release();
        });
    }

    @Test
    void Y2_releaseOfAFreeLockIsAnErrorFromAnyThread() throws Exception {
        Lock lock = new Lock();
        assertThatIllegalStateException().isThrownBy(lock::release);
        Loops.virtually(() -> {
            assertThatIllegalStateException().isThrownBy(lock::release);
            lock.acquire();
            lock.release();
            assertThatIllegalStateException().isThrownBy(lock::release);
            Loops.onAnotherThread(() -> assertThatIllegalStateException().isThrownBy(lock::release));
        });
    }

    @Test
    void Y2_anyTaskOrThreadMayRelease() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            Loops.spawn(lock::release).await();
            assertThat(lock.locked()).isFalse();

            lock.acquire();
            Task<?> waiter = Loops.spawn(lock::acquire);
            Loops.settle();
            Loops.onAnotherThread(lock::release);
            waiter.await();
            assertThat(lock.locked()).isTrue();
            assertThat(lock.owner()).isSameAs(waiter);

            Loops.onAnotherThread(() -> {
                lock.release();
                assertThat(lock.locked()).isFalse();
                assertThatIllegalStateException().isThrownBy(lock::release);
            });
            lock.acquire();
            lock.release();
        });
    }

    @Test
    void Y2_aReleaseFromOutsideWithinAStepCountsAtOnce() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            Thread t = Thread.ofPlatform().start(lock::release);
            while (t.isAlive()) {
                Thread.onSpinWait(); // the loop hears nothing in this step
            }
            assertThat(lock.tryAcquire()).isTrue();
            lock.release();
        });
    }

    @Test
    void Y2_onlyTheNextWaiterIsWoken() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            int[] steps = new int[1];
            lock.acquire();
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 100_000; i++) {
                tasks.add(Loops.spawn(() -> {
                    lock.acquire();
                    steps[0]++;
                }));
            }
            Loops.settle();
            lock.release();
            Loops.settle();
            assertThat(steps[0]).isEqualTo(1);
            for (Task<?> t : tasks) {
                t.cancel();
            }
            Loops.settle();
            assertThat(steps[0]).isEqualTo(1);
            assertThat(lock.locked()).isTrue(); // by the one that took it and ended
            assertThat(lock).asString().endsWith("0 waiting]");
        });
    }

    /** F34, F40: handed to a waiter that is cancelled before it runs. */
    @Test
    void C6_F34_F40_aLockOnItsWayToACancelledWaiterPassesOn() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            Task<?> first = Loops.spawn(lock::acquire);
            Task<?> second = Loops.spawn(lock::acquire);
            Loops.settle();
            lock.release();
            assertThat(first.cancel()).isTrue();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(first::await);
            second.await();
            assertThat(lock.owner()).isSameAs(second);
            lock.release();

            lock.acquire();
            Task<?> alone = Loops.spawn(lock::acquire);
            Loops.settle();
            lock.release();
            alone.cancel();
            Loops.settle();
            assertThat(lock.locked()).isFalse();
        });
    }

    /** F35: cancel the waiter, then release, in one step. */
    @Test
    void C6_F35_cancelThenReleaseLeavesExactlyOneOwner() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            List<String> owners = new ArrayList<>();
            Task<?> first = Loops.spawn(() -> {
                lock.acquire();
                owners.add("first");
            });
            Task<?> second = Loops.spawn(() -> {
                lock.acquire();
                owners.add("second");
            });
            Loops.settle();
            first.cancel();
            lock.release();
            second.await();
            assertThat(owners).containsExactly("second");
            assertThat(first.cancelled()).isTrue();
        });
    }

    /** F37: a cancel that is pending takes nothing. */
    @Test
    void C3_F37_aPendingCancelIsDeliveredBeforeTheLockIsTaken() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            Task<?> t = Loops.spawn(() -> {
                Asyncio.currentTask().cancel();
                lock.acquire();
            });
            Loops.settle();
            assertThat(t.cancelled()).isTrue();
            assertThat(lock.locked()).isFalse();
        });
    }

    /** F38. */
    @Test
    void C6_F38_aHolderThatCancelsItselfReleases() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            int[] held = new int[1];
            Task<?> contender = Loops.spawn(() -> {
                for (int i = 0; i < 1000; i++) {
                    try (Guard g = lock.hold()) {
                        held[0]++;
                        Asyncio.yieldNow();
                        assertThat(g).isNotNull();
                    }
                }
            });
            for (int i = 0; i < 1000; i++) {
                Task<?> t = Loops.spawn(() -> {
                    try (Guard g = lock.hold()) {
                        Asyncio.currentTask().cancel();
                        Asyncio.yieldNow();
                        assertThat(g).isNull();
                    }
                });
                assertThatExceptionOfType(CancelledError.class).isThrownBy(t::await);
            }
            contender.await();
            assertThat(held[0]).isEqualTo(1000);
            assertThat(lock.locked()).isFalse();
        });
    }

    /** F50: a wait that was given up is out of the queue. */
    @Test
    void C6_F50_aWaiterWhoseTimeIsOverHasLeftTheQueue() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            Task<?> t = Loops.spawn(() -> {
                assertThat(lock.acquireWithin(Duration.ofMillis(10))).isFalse();
                assertThat(lock).asString().endsWith("0 waiting]");
                lock.acquire();
            });
            Asyncio.sleepMs(20);
            assertThat(lock).asString().endsWith("1 waiting]");
            lock.release();
            t.await();
            assertThat(lock.owner()).isSameAs(t);
        });
    }

    @Test
    void C6_acquireOrTimeoutIsOneOrTheOther() throws Exception {
        Loops.virtually(() -> {
            for (int offset = -1; offset <= 1; offset++) {
                Lock lock = new Lock();
                lock.acquire();
                Task<Boolean> t = Asyncio.createTask(() -> lock.acquireWithin(Duration.ofMillis(10)));
                Loops.settle();
                Asyncio.sleep(Duration.ofMillis(10).plusNanos(offset));
                lock.release();
                boolean got = t.await();
                assertThat(lock.locked()).isEqualTo(got);
                if (offset != 0) {
                    assertThat(got).isEqualTo(offset < 0);
                }
            }
        });
    }

    /** F49: LOW holds, URGENT waits, NORMAL hogs. */
    @Test
    void Y2_F49_theHolderInheritsTheClassOfItsMostUrgentWaiter() throws Exception {
        LoopClock.Virtual clock = LoopClock.virtual();
        try (var loop = io.fastio.EventLoop.builder().clock(clock).build()) {
            loop.run(() -> {
                Lock lock = new Lock();
                Task<?> low = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                    try (Guard g = lock.hold()) {
                        for (int i = 0; i < 3; i++) {
                            clock.advance(Duration.ofMillis(1));
                            Asyncio.yieldNow();
                        }
                        assertThat(g).isNotNull();
                    }
                });
                Asyncio.afterMs(0); // it holds the lock now
                Asyncio.afterMs(0);
                assertThat(lock.owner()).isSameAs(low);
                for (int i = 0; i < 10; i++) {
                    Loops.start(() -> {
                        for (int k = 0; k < 100; k++) {
                            clock.advance(Duration.ofMillis(4));
                            Asyncio.yieldNow();
                        }
                    });
                }
                long before = loop.time();
                Task<Long> urgent = Asyncio.createTask(TaskOptions.of(Priority.URGENT), () -> {
                    lock.acquire();
                    long got = loop.time();
                    lock.release();
                    return got;
                });
                long waited = urgent.await() - before;
                assertThat(waited).isLessThan(Duration.ofMillis(12).toNanos());
                assertThat(Wait.effectivePriority(low)).isEqualTo(Priority.LOW);
            });
        }
    }

    @Test
    void Y2_theLoanEndsWhenTheUrgentWaiterLeaves() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            Task<?> holder = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                lock.acquire();
                Asyncio.sleepMs(1000);
                lock.release();
            });
            Asyncio.sleepMs(1);
            Task<?> normal = Loops.spawn(() -> {
                lock.acquire();
                lock.release();
            });
            Asyncio.sleepMs(1);
            assertThat(Wait.effectivePriority(holder)).isEqualTo(Priority.NORMAL);
            Task<?> urgent = Asyncio.createTask(TaskOptions.of(Priority.URGENT), lock::acquire);
            Asyncio.sleepMs(1);
            assertThat(Wait.effectivePriority(holder)).isEqualTo(Priority.URGENT);
            urgent.cancel();
            assertThat(Wait.effectivePriority(holder)).isEqualTo(Priority.NORMAL);
            normal.cancel();
            assertThat(Wait.effectivePriority(holder)).isEqualTo(Priority.LOW);
            holder.await();
        });
    }

    @Test
    void Y2_theHandOverMovesTheLoan() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            lock.acquire();
            Task<?> low = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                lock.acquire();
                Asyncio.sleepMs(10);
                lock.release();
            });
            Asyncio.sleepMs(1);
            Task<?> urgent = Asyncio.createTask(TaskOptions.of(Priority.URGENT), () -> {
                lock.acquire();
                lock.release();
            });
            Asyncio.sleepMs(1);
            assertThat(Wait.effectivePriority(Asyncio.currentTask())).isEqualTo(Priority.URGENT);
            assertThat(Wait.effectivePriority(low)).isEqualTo(Priority.LOW);
            lock.release();
            assertThat(Wait.effectivePriority(Asyncio.currentTask())).isEqualTo(Priority.NORMAL);
            assertThat(Wait.effectivePriority(low)).isEqualTo(Priority.URGENT);
            urgent.await();
            assertThat(Wait.effectivePriority(low)).isEqualTo(Priority.LOW);
        });
    }

    @Test
    void Y2_inheritanceFollowsAChainOfLocks() throws Exception {
        Loops.virtually(() -> {
            int length = 50;
            List<Lock> locks = new ArrayList<>();
            for (int i = 0; i <= length; i++) {
                locks.add(new Lock());
            }
            List<Task<?>> chain = new ArrayList<>();
            for (int i = 0; i < length; i++) {
                int n = i;
                chain.add(Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                    locks.get(n + 1).acquire();
                    if (n == 0) {
                        Asyncio.sleepMs(1000);
                    } else {
                        Asyncio.sleepMs(1);
                        locks.get(n).acquire();
                        locks.get(n).release();
                    }
                    locks.get(n + 1).release();
                }));
            }
            Asyncio.sleepMs(10);
            Task<?> urgent = Asyncio.createTask(
                    TaskOptions.of(Priority.URGENT), () -> locks.get(length).acquire());
            Asyncio.sleepMs(1);
            assertThat(chain).allMatch(t -> Wait.effectivePriority(t) == Priority.URGENT);
            urgent.cancel();
            assertThat(chain).allMatch(t -> Wait.effectivePriority(t) == Priority.LOW);
            for (Task<?> t : chain) {
                t.await();
            }
        });
    }

    @Test
    void Y2_loansInACircleEndWhenItIsBroken() throws Exception {
        Loops.virtually(() -> {
            Lock a = new Lock();
            Lock b = new Lock();
            Task<?> one = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                a.acquire();
                Asyncio.sleepMs(1);
                b.acquire();
            });
            Task<?> two = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                b.acquire();
                Asyncio.sleepMs(1);
                a.acquire();
            });
            Asyncio.sleepMs(5);
            Task<?> urgent = Asyncio.createTask(TaskOptions.of(Priority.URGENT), a::acquire);
            Asyncio.sleepMs(1);
            assertThat(Wait.effectivePriority(one)).isEqualTo(Priority.URGENT);
            assertThat(Wait.effectivePriority(two)).isEqualTo(Priority.URGENT);
            urgent.cancel();
            one.cancel();
            Loops.settle();
            assertThat(Wait.effectivePriority(one)).isEqualTo(Priority.LOW);
            assertThat(Wait.effectivePriority(two)).isEqualTo(Priority.LOW);
            two.cancel();
        });
    }

    @Test
    void S13_waitsOutsideATaskAreErrors() {
        assertThatIllegalStateException().isThrownBy(new Lock()::acquire);
        assertThatIllegalStateException().isThrownBy(new Lock()::tryAcquire);
    }
}
