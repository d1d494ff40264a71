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

final class SemaphoreTest {
    @Test
    void Y3_handsOutPermitsFirstInFirstOut() throws Exception {
        Loops.virtually(() -> {
            Semaphore s = new Semaphore(2);
            List<Integer> order = new ArrayList<>();
            int[] inside = new int[2];
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                int n = i;
                tasks.add(Loops.spawn(() -> {
                    try (Guard g = s.hold()) {
                        order.add(n);
                        inside[1] = Math.max(inside[1], ++inside[0]);
                        Asyncio.sleepMs(1);
                        inside[0]--;
                        assertThat(g).isNotNull();
                    }
                }));
            }
            for (Task<?> t : tasks) {
                t.await();
            }
            assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
            assertThat(inside[1]).isEqualTo(2);
            assertThat(s.availablePermits()).isEqualTo(2);
        });
    }

    @Test
    void Y3_nobodyBargesIn() throws Exception {
        Loops.virtually(() -> {
            Semaphore s = new Semaphore(0);
            Task<?> waiter = Loops.spawn(s::acquire);
            Loops.settle();
            s.release();
            assertThat(s.tryAcquire()).isFalse();
            assertThat(s.acquireWithin(Duration.ZERO)).isFalse();
            waiter.await();

            Task<?> another = Loops.spawn(s::acquire);
            Loops.settle();
            Thread t = Thread.ofPlatform().start(s::release);
            while (t.isAlive()) {
                Thread.onSpinWait(); // the loop hears nothing in this step
            }
            assertThat(s.tryAcquire()).isFalse();
            another.await();
        });
    }

    @Test
    void Y3_overReleaseOfABoundedOneIsAnErrorAtOnce() throws Exception {
        BoundedSemaphore s = new BoundedSemaphore(2);
        assertThatIllegalStateException().isThrownBy(s::release);
        Loops.virtually(() -> {
            assertThatIllegalStateException().isThrownBy(s::release);
            s.acquire();
            assertThatIllegalStateException().isThrownBy(() -> s.releaseMany(2));
            assertThat(s.availablePermits()).isEqualTo(1);
            s.release();
            Loops.onAnotherThread(() -> assertThatIllegalStateException().isThrownBy(s::release));
            assertThat(s.availablePermits()).isEqualTo(2);
        });
        assertThatIllegalStateException().isThrownBy(new BoundedSemaphore(0)::release);
        Semaphore full = new Semaphore(Integer.MAX_VALUE);
        assertThatIllegalStateException().isThrownBy(full::release);
    }

    @Test
    void negativeCountsAreErrors() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Semaphore(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> new BoundedSemaphore(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Semaphore(1).releaseMany(-1));
    }

    /** F40. */
    @Test
    void C6_F40_aPermitOnItsWayToACancelledWaiterPassesOn() throws Exception {
        Loops.virtually(() -> {
            BoundedSemaphore s = new BoundedSemaphore(1);
            s.acquire();
            Task<?> first = Loops.spawn(s::acquire);
            Task<?> second = Loops.spawn(s::acquire);
            Loops.settle();
            s.release();
            first.cancel();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(first::await);
            second.await();
            s.release();
            assertThat(s.availablePermits()).isEqualTo(1);

            s.acquire();
            Task<?> alone = Loops.spawn(s::acquire);
            Loops.settle();
            s.release();
            alone.cancel();
            Loops.settle();
            assertThat(s.availablePermits()).isEqualTo(1);
        });
    }

    @Test
    void C6_acquireOrTimeoutIsOneOrTheOther() throws Exception {
        Loops.virtually(() -> {
            for (int offset = -1; offset <= 1; offset++) {
                Semaphore s = new Semaphore(0);
                Task<Boolean> t = Asyncio.createTask(() -> s.acquireWithin(Duration.ofMillis(10)));
                Loops.settle();
                Asyncio.sleep(Duration.ofMillis(10).plusNanos(offset));
                s.release();
                boolean got = t.await();
                assertThat(s.availablePermits()).isEqualTo(got ? 0 : 1);
            }
        });
    }

    @Test
    void releaseOfManyWakesAsMany() throws Exception {
        Loops.virtually(() -> {
            Semaphore s = new Semaphore(0);
            int[] got = new int[1];
            for (int i = 0; i < 5; i++) {
                Loops.start(() -> {
                    s.acquire();
                    got[0]++;
                });
            }
            Loops.settle();
            s.releaseMany(3);
            Loops.settle();
            assertThat(got[0]).isEqualTo(3);
            Loops.onAnotherThread(() -> s.releaseMany(3));
            Loops.settle();
            assertThat(got[0]).isEqualTo(5);
            assertThat(s.availablePermits()).isEqualTo(1);
            s.releaseMany(0);
            assertThat(s.availablePermits()).isEqualTo(1);
            assertThat(s.locked()).isFalse();
        });
    }

    @Test
    void S13_waitsOutsideATaskAreErrors() {
        assertThatIllegalStateException().isThrownBy(new Semaphore(1)::acquire);
        assertThat(new Semaphore(1).tryAcquire()).isTrue();
    }
}
