package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Priority;
import io.fastio.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ThreadSafeFlagTest {
    @Test
    void Y1_isStickyAndClearsItself() throws Exception {
        ThreadSafeFlag flag = new ThreadSafeFlag();
        flag.set();
        Loops.virtually(() -> {
            flag.await();
            assertThat(flag.isSet()).isFalse();
            assertThat(flag.awaitWithin(Duration.ofMillis(1))).isFalse();
        });
    }

    @Test
    void Y1_setsMerge() throws Exception {
        Loops.virtually(() -> {
            ThreadSafeFlag flag = new ThreadSafeFlag();
            int[] wakes = new int[1];
            Task<?> waiter = Loops.spawn(() -> {
                while (true) {
                    flag.await();
                    wakes[0]++;
                }
            });
            Loops.settle();
            for (int i = 0; i < 3; i++) {
                flag.set();
            }
            Loops.settle();
            assertThat(wakes[0]).isEqualTo(1);
            Loops.onAnotherThread(() -> {
                flag.set();
                flag.set();
            });
            Loops.settle();
            assertThat(wakes[0]).isBetween(2, 3); // the loop may have run between the two
            waiter.cancel();
        });
    }

    @Test
    void Y1_aSecondWaiterQueues() throws Exception {
        Loops.virtually(() -> {
            ThreadSafeFlag flag = new ThreadSafeFlag();
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int n = i;
                Loops.start(() -> {
                    flag.await();
                    order.add(n);
                });
            }
            Loops.settle();
            for (int n = 0; n < 3; n++) {
                flag.set();
                Loops.settle();
                assertThat(order).hasSize(n + 1);
            }
            assertThat(order).containsExactly(0, 1, 2);
            assertThat(flag.isSet()).isFalse();
        });
    }

    /** F95: a set between the wake and the next wait is not lost. */
    @Test
    void Y1_F95_aSetWhileTheWaiterWorksIsKeptForItsNextWait() throws Exception {
        Loops.virtually(() -> {
            ThreadSafeFlag flag = new ThreadSafeFlag();
            Task<?> waiter = Loops.spawn(() -> {
                flag.await();
                flag.set();
                flag.await();
            });
            Loops.settle();
            flag.set();
            waiter.await();
        });
    }

    @Test
    void C6_aSetOnItsWayToACancelledWaiterPassesOn() throws Exception {
        Loops.virtually(() -> {
            ThreadSafeFlag flag = new ThreadSafeFlag();
            Task<?> first = Loops.spawn(flag::await);
            Task<?> second = Loops.spawn(flag::await);
            Loops.settle();
            flag.set();
            first.cancel();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(first::await);
            second.await();

            Task<?> third = Loops.spawn(flag::await);
            Loops.settle();
            flag.set();
            third.cancel();
            Loops.settle();
            assertThat(flag.isSet()).isTrue();
        });
    }

    @Test
    void S1_anUrgentFlagWakesAsUrgent() throws Exception {
        Loops.virtually(() -> {
            List<String> order = new ArrayList<>();
            ThreadSafeFlag flag = new ThreadSafeFlag(Priority.URGENT);
            Task<?> urgent = Loops.spawn(() -> {
                flag.await();
                order.add("urgent");
            });
            Loops.settle();
            Loops.start(() -> order.add("normal"));
            flag.set();
            urgent.await();
            Loops.settle();
            assertThat(order).containsExactly("urgent", "normal");
        });
    }

    @Test
    void S13_waitsOutsideATaskAreErrors() {
        assertThatIllegalStateException().isThrownBy(new ThreadSafeFlag()::await);
    }

    @Test
    void clearTakesASetBack() throws Exception {
        Loops.virtually(() -> {
            ThreadSafeFlag flag = new ThreadSafeFlag();
            flag.set();
            flag.clear();
            assertThat(flag.awaitWithin(Duration.ZERO)).isFalse();
            Loops.onAnotherThread(flag::set);
            flag.clear();
            assertThat(flag.awaitWithin(Duration.ZERO)).isFalse();
            assertThat(Asyncio.allTasks()).hasSize(1);
        });
    }
}
