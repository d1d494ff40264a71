package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BarrierTest {
    @Test
    void Y3_allGoOnTogetherRoundAfterRound() throws Exception {
        Loops.virtually(() -> {
            Barrier barrier = new Barrier(3);
            int[] round = new int[3];
            List<Integer> numbers = new ArrayList<>();
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int me = i;
                tasks.add(Loops.spawn(() -> {
                    for (int r = 0; r < 10; r++) {
                        Asyncio.sleepMs(me + 1);
                        round[me] = r;
                        numbers.add(barrier.await());
                        assertThat(round).containsOnly(r);
                        barrier.await();
                    }
                }));
            }
            for (Task<?> t : tasks) {
                t.await();
            }
            for (int r = 0; r < 10; r++) {
                assertThat(numbers.subList(3 * r, 3 * r + 3)).containsExactlyInAnyOrder(0, 1, 2);
            }
        });
    }

    @Test
    void C6_aCancelledWaiterHasNotArrived() throws Exception {
        Loops.virtually(() -> {
            Barrier barrier = new Barrier(2);
            Task<?> cancelled = Asyncio.createTask(() -> barrier.await());
            Loops.settle();
            cancelled.cancel();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(cancelled::await);
            assertThat(barrier.awaitWithin(Duration.ofMillis(5))).isFalse();
            assertThat(barrier.awaitWithin(Duration.ZERO)).isFalse();
            assertThat(barrier.arrived()).isZero();
            Task<Integer> one = Asyncio.createTask(() -> barrier.await());
            Loops.settle();
            assertThat(barrier.await()).isEqualTo(1);
            assertThat(one.await()).isEqualTo(0);
        });
    }

    @Test
    void C6_aCancelAfterTheRoundIsCompleteHoldsNobodyUp() throws Exception {
        Loops.virtually(() -> {
            Barrier barrier = new Barrier(3);
            Task<?> one = Asyncio.createTask(() -> barrier.await());
            Task<?> two = Asyncio.createTask(() -> barrier.await());
            Loops.settle();
            barrier.await();
            one.cancel();
            two.await();
            assertThat(barrier.arrived()).isZero();
        });
    }

    @Test
    void otherThreadsArriveToo() throws Exception {
        Loops.virtually(() -> {
            Barrier barrier = new Barrier(3);
            barrier.arrive();
            Task<Integer> t = Asyncio.createTask(() -> barrier.await());
            Loops.settle();
            assertThat(t.done()).isFalse();
            Loops.onAnotherThread(barrier::arrive);
            assertThat(t.await()).isEqualTo(0);
            Loops.onAnotherThread(() -> {
                barrier.arrive();
                barrier.arrive();
                barrier.arrive();
                barrier.arrive();
            });
            assertThat(barrier.arrived()).isEqualTo(1);
            assertThat(barrier.parties()).isEqualTo(3);
        });
    }

    @Test
    void wrongUse() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Barrier(0));
        assertThatIllegalStateException().isThrownBy(() -> new Barrier(1).await());
    }
}
