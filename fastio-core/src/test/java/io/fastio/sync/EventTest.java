package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

final class EventTest {
    @Test
    void Y1_setWakesAllWaitersInTheOrderOfTheirWaits() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            List<Integer> order = new ArrayList<>();
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                int n = i;
                tasks.add(Loops.spawn(() -> {
                    event.await();
                    order.add(n);
                }));
            }
            Loops.settle();
            assertThat(order).isEmpty();
            event.set();
            for (Task<?> t : tasks) {
                t.await();
            }
            assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        });
    }

    @Test
    void Y1_setThenClearStillWakesThoseWhoWaited() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            Task<?> waiter = Loops.spawn(event::await);
            Loops.settle();
            event.set();
            event.clear();
            waiter.await();
            assertThat(event.isSet()).isFalse();
        });
    }

    @Test
    void Y1_setThenClearFromAnotherThreadStillWakesThoseWhoWaited() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            Task<?> waiter = Loops.spawn(event::await);
            Loops.settle();
            Loops.onAnotherThread(() -> {
                event.set();
                event.clear();
            });
            waiter.await();
            assertThat(event.isSet()).isFalse();
        });
    }

    @Test
    void Y1_waitingOnASetEventDoesNotYield() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            event.set();
            boolean[] other = new boolean[1];
            Task<?> t = Loops.spawn(() -> other[0] = true);
            for (int i = 0; i < 100; i++) {
                event.await();
            }
            assertThat(other[0]).isFalse();
            t.await();
        });
    }

    @Test
    void S14_aTaskThatAlwaysFindsItSetGivesWayInTheEnd() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            event.set();
            boolean[] other = new boolean[1];
            Loops.start(() -> other[0] = true);
            int waits = 0;
            while (!other[0] && waits < 1000) {
                event.await();
                waits++;
            }
            assertThat(waits).isBetween(200, 260);
        });
    }

    /** F47: each wait counts once. */
    @Test
    void Y1_F47_aLaterWaitIsNotWokenByAnEarlierSet() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            int[] wakes = new int[1];
            Task<?> waiter = Loops.spawn(() -> {
                while (true) {
                    event.await();
                    wakes[0]++;
                }
            });
            Loops.settle();
            for (int n = 1; n <= 5; n++) {
                event.set();
                event.clear();
                Loops.settle();
                assertThat(wakes[0]).isEqualTo(n);
            }
            waiter.cancel();
        });
    }

    /** F47 from outside: who begins to wait between the set and the loop's hearing of it is not woken. */
    @Test
    void Y1_aSetFromOutsideThatTheLoopHearsOfLaterWakesNoLaterWait() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            List<String> woken = new ArrayList<>();
            Task<?> before = Loops.spawn(() -> {
                event.await();
                woken.add("before");
            });
            Loops.settle();
            Thread t = Thread.ofPlatform().start(() -> {
                event.set();
                event.clear();
            });
            while (t.isAlive()) {
                Thread.onSpinWait(); // the loop hears nothing in this step
            }
            assertThat(event.awaitWithin(Duration.ofSeconds(1))).isFalse();
            assertThat(woken).containsExactly("before");
            assertThat(before.done()).isTrue();
        });
    }

    @Test
    void S1_anUrgentEventWakesAsUrgent() throws Exception {
        Loops.virtually(() -> {
            List<String> order = new ArrayList<>();
            Event urgent = new Event(Priority.URGENT);
            Event normal = new Event();
            List<Task<?>> tasks = List.of(
                    Loops.spawn(() -> {
                        normal.await();
                        order.add("normal");
                    }),
                    Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                        normal.await();
                        order.add("low");
                    }),
                    Loops.spawn(() -> {
                        urgent.await();
                        order.add("urgent");
                    }));
            Asyncio.afterMs(1);
            normal.set();
            urgent.set();
            for (Task<?> t : tasks) {
                t.await();
            }
            assertThat(order).containsExactly("urgent", "normal", "low");
        });
    }

    @Test
    void C2_aCancelledWaiterLeavesNoTrace() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            Task<?> cancelled = Loops.spawn(event::await);
            Task<?> stays = Loops.spawn(event::await);
            Loops.settle();
            cancelled.cancel();
            assertThat(event).hasToString("Event[not set, 1 waiting]");
            assertThatExceptionOfType(CancelledError.class).isThrownBy(cancelled::await);
            event.set();
            stays.await();
        });
    }

    @Test
    void C3_aPendingCancelIsDeliveredEvenIfItIsSet() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            event.set();
            Task<?> t = Loops.spawn(() -> {
                Asyncio.currentTask().cancel();
                event.await();
            });
            assertThatExceptionOfType(CancelledError.class).isThrownBy(t::await);
        });
    }

    @Test
    void awaitWithATimeoutSaysWhetherItWasSet() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            assertThat(event.awaitWithin(Duration.ZERO)).isFalse();
            assertThat(event.awaitWithin(Duration.ofMillis(5))).isFalse();
            assertThat(Asyncio.runningLoop().time()).isEqualTo(5_000_000);
            Asyncio.runningLoop().callLater(Duration.ofMillis(5), event::set);
            assertThat(event.awaitWithin(Duration.ofMillis(6))).isTrue();
            assertThat(event.awaitWithin(Duration.ZERO)).isTrue();
            assertThat(event.awaitWithin(null)).isTrue();
            event.clear();
            assertThatThrownBy(() -> Asyncio.waitForMs(event::await, 3)).isInstanceOf(TimeoutException.class);
            assertThat(event).hasToString("Event[not set, 0 waiting]");
        });
    }

    @Test
    void aSetBeforeAnyWaitIsKept() throws Exception {
        Event event = new Event();
        event.set();
        assertThat(event.isSet()).isTrue();
        Loops.virtually(event::await);
        event.clear();
        assertThat(event.isSet()).isFalse();
    }

    @Test
    void S13_waitsOutsideATaskAreErrors() {
        assertThatIllegalStateException().isThrownBy(new Event()::await);
    }

    @Test
    void waitingOnTwoLoopsAtOnceIsAnError() throws Exception {
        Event event = new Event();
        try (EventLoop one = EventLoop.create();
                EventLoop two = EventLoop.create()) {
            one.run(() -> {
                event.awaitWithin(Duration.ofNanos(1));
            });
            assertThatIllegalStateException()
                    .isThrownBy(() -> two.run(event::await))
                    .withMessageContaining("belongs to");
        }
    }

    @Test
    void anEventOutlivesItsLoop() throws Exception {
        Event event = new Event();
        for (int i = 0; i < 3; i++) {
            Loops.virtually(() -> {
                Task<?> waiter = Loops.spawn(event::await);
                Loops.settle();
                Loops.onAnotherThread(event::set);
                waiter.await();
                event.clear();
            });
        }
        event.set();
        assertThat(event.isSet()).isTrue();
    }

    @Test
    void setWakesAHundredThousand() throws Exception {
        Loops.virtually(() -> {
            Event event = new Event();
            int[] woken = new int[1];
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 100_000; i++) {
                tasks.add(Loops.spawn(() -> {
                    event.await();
                    woken[0]++;
                }));
            }
            Loops.settle();
            event.set();
            for (Task<?> t : tasks) {
                t.await();
            }
            assertThat(woken[0]).isEqualTo(100_000);
        });
    }
}
