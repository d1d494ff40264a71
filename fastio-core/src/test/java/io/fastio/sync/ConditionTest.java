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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

final class ConditionTest {
    private final Condition condition = new Condition();
    private final List<Object> order = new ArrayList<>();

    private Task<?> waiter(Object name) {
        return Loops.spawn(() -> {
            try (Guard held = condition.hold()) {
                condition.await();
                assertThat(held).isNotNull();
                assertThat(condition.lock().owner()).isSameAs(Asyncio.currentTask());
                order.add(name);
            }
        });
    }

    @Test
    void Y3_signalWakesTheOneThatHasWaitedLongest() throws Exception {
        Loops.virtually(() -> {
            for (int i = 0; i < 3; i++) {
                assertThat(waiter(i).done()).isFalse();
            }
            Loops.settle();
            for (int i = 0; i < 3; i++) {
                condition.signal();
                Loops.settle();
                assertThat(order).hasSize(i + 1);
            }
            assertThat(order).containsExactly(0, 1, 2);
            condition.signal();
            assertThat(condition.lock().locked()).isFalse();
        });
    }

    @Test
    void Y3_signalAllWakesAllInOrder() throws Exception {
        Loops.virtually(() -> {
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                tasks.add(waiter(i));
            }
            Loops.settle();
            try (Guard held = condition.hold()) {
                condition.signalAll();
                Loops.settle();
                assertThat(order).isEmpty();
                assertThat(held).isNotNull();
            }
            for (Task<?> t : tasks) {
                t.await();
            }
            assertThat(order).containsExactly(0, 1, 2, 3, 4);
        });
    }

    @Test
    void Y3_otherThreadsNotifyToo() throws Exception {
        Loops.virtually(() -> {
            Task<?> one = waiter(1);
            Task<?> two = waiter(2);
            Task<?> three = waiter(3);
            Loops.settle();
            Loops.onAnotherThread(condition::signal);
            one.await();
            Loops.settle();
            assertThat(order).containsExactly(1);
            Loops.onAnotherThread(condition::signalAll);
            two.await();
            three.await();
        });
    }

    /** F47: a notification from outside is for those who waited then. */
    @Test
    void Y3_F47_aLaterWaitIsNotWokenByAnEarlierNotification() throws Exception {
        Loops.virtually(() -> {
            condition.signal();
            condition.signalAll();
            Loops.onAnotherThread(condition::signalAll);
            try (Guard held = condition.hold()) {
                Thread t = Thread.ofPlatform().start(condition::signal);
                while (t.isAlive()) {
                    Thread.onSpinWait(); // the loop hears nothing in this step
                }
                assertThat(condition.awaitWithin(Duration.ofMillis(1))).isFalse();
                assertThat(held).isNotNull();
            }
        });
    }

    @Test
    void Y3_theLockIsHeldAfterACancel() throws Exception {
        Loops.virtually(() -> {
            Task<?> t = Loops.spawn(() -> {
                condition.lock().acquire();
                try {
                    condition.await();
                } finally {
                    assertThat(condition.lock().owner()).isSameAs(Asyncio.currentTask());
                    order.add("cleaned up");
                    condition.lock().release();
                }
            });
            Loops.settle();
            condition.lock().acquire();
            t.cancel();
            t.cancel();
            Loops.settle();
            assertThat(order).isEmpty(); // it waits for the lock, whatever comes
            assertThat(t.cancel()).isTrue();
            Asyncio.sleepMs(5);
            assertThat(order).isEmpty();
            condition.lock().release();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(t::await);
            assertThat(order).containsExactly("cleaned up");
            assertThat(condition.lock().locked()).isFalse();
        });
    }

    @Test
    void Y3_theLockIsHeldAfterATimeout() throws Exception {
        Loops.virtually(() -> {
            try (Guard held = condition.hold()) {
                assertThatExceptionOfType(TimeoutException.class)
                        .isThrownBy(() -> Asyncio.waitForMs(
                                () -> {
                                    condition.await();
                                    return true;
                                },
                                5));
                assertThat(condition.lock().owner()).isSameAs(Asyncio.currentTask());
                assertThat(condition.awaitWithin(Duration.ofMillis(5))).isFalse();
                assertThat(condition.awaitWithin(Duration.ZERO)).isFalse();
                assertThat(condition.lock().owner()).isSameAs(Asyncio.currentTask());
                assertThat(held).isNotNull();
            }
            assertThat(condition.lock().locked()).isFalse();
        });
    }

    /** F41: notified and cancelled in one step. */
    @Test
    void C6_F41_aNotificationOfACancelledWaiterPassesOn() throws Exception {
        Loops.virtually(() -> {
            Task<?> first = waiter(1);
            Task<?> second = waiter(2);
            Loops.settle();
            condition.signal();
            first.cancel();
            second.await();
            assertThat(first.cancelled()).isTrue();
            assertThat(order).containsExactly(2);
        });
    }

    /** F41: cancelled when it was notified, and waits for the lock. */
    @Test
    void C6_F41_aNotificationPassesOnAlsoWhileItsReceiverWaitsForTheLock() throws Exception {
        Loops.virtually(() -> {
            Task<?> first = waiter(1);
            Task<?> second = waiter(2);
            Loops.settle();
            condition.lock().acquire();
            condition.signal();
            Loops.settle(); // the first one has run, and waits for the lock
            first.cancel();
            Loops.settle();
            condition.lock().release();
            second.await();
            assertThat(first.cancelled()).isTrue();
            assertThat(order).containsExactly(2);
        });
    }

    /** F46: who was woken with all has nothing to pass on to a later wait. */
    @Test
    void C6_F46_oneOfAllThatIsCancelledWakesNoLaterWaiter() throws Exception {
        Loops.virtually(() -> {
            Task<?> first = waiter(1);
            Task<?> second = waiter(2);
            Loops.settle();
            condition.lock().acquire();
            condition.signalAll();
            first.cancel();
            condition.lock().release();
            Task<?> late = waiter("late");
            second.await();
            Loops.settle();
            assertThat(first.cancelled()).isTrue();
            assertThat(late.done()).isFalse();
            condition.signal();
            late.await();
            assertThat(order).containsExactly(2, "late");
        });
    }

    /** F46: all, then one, then the one is dropped. */
    @Test
    void C6_F46_aNotificationAfterOneForAllPassesOn() throws Exception {
        Loops.virtually(() -> {
            Task<?> early = waiter("early");
            Loops.settle();
            condition.signalAll();
            early.await();
            Task<?> one = waiter(1);
            Task<?> two = waiter(2);
            Loops.settle();
            condition.signal();
            one.cancel();
            two.await();
            assertThat(order).containsExactly("early", 2);
        });
    }

    /** F43. */
    @Test
    void Y3_F43_twoConditionsMayShareALock() throws Exception {
        Loops.virtually(() -> {
            Lock lock = new Lock();
            Condition a = new Condition(lock);
            Condition b = new Condition(lock);
            Task<?> t = Loops.spawn(() -> {
                lock.acquire();
                a.await();
                b.signal();
                lock.release();
            });
            Loops.settle();
            lock.acquire();
            a.signal();
            b.await();
            lock.release();
            t.await();
        });
    }

    @Test
    void awaitForLooksAtThePredicateWithTheLockHeld() throws Exception {
        Loops.virtually(() -> {
            int[] state = new int[1];
            Task<?> t = Loops.spawn(() -> {
                try (Guard held = condition.hold()) {
                    condition.awaitFor(() -> {
                        assertThat(condition.lock().owner()).isSameAs(Asyncio.currentTask());
                        assertThat(held).isNotNull();
                        return state[0] == 3;
                    });
                }
            });
            for (int i = 1; i <= 3; i++) {
                Loops.settle();
                assertThat(t.done()).isFalse();
                state[0] = i;
                condition.signalAll();
            }
            t.await();
        });
    }

    @Test
    void Y2_theHolderInheritsFromWhoWaitsForTheLockAfterANotification() throws Exception {
        Loops.virtually(() -> {
            Task<?> urgent = Asyncio.createTask(TaskOptions.of(Priority.URGENT), () -> {
                condition.lock().acquire();
                condition.await();
                condition.lock().release();
            });
            Loops.settle();
            Task<?> low = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                condition.lock().acquire();
                condition.signal();
                Asyncio.sleepMs(10);
                condition.lock().release();
            });
            Asyncio.sleepMs(5);
            assertThat(Wait.effectivePriority(low)).isEqualTo(Priority.URGENT);
            urgent.await();
            assertThat(Wait.effectivePriority(low)).isEqualTo(Priority.LOW);
        });
    }

    @Test
    void waitingWithoutTheLockIsAnError() throws Exception {
        assertThatIllegalStateException().isThrownBy(condition::await);
        Loops.virtually(() -> {
            assertThatIllegalStateException()
                    .isThrownBy(condition::await)
                    .withMessageContaining("does not hold the lock");
            assertThatIllegalStateException().isThrownBy(() -> condition.awaitFor(() -> true));
            condition.lock().acquire();
            Task<?> other = Loops.spawn(condition::await);
            assertThatIllegalStateException().isThrownBy(other::await);
            condition.lock().release();
        });
    }
}
