package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Asyncio;
import io.fastio.Priority;
import io.fastio.Task;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WaitAnyAllTest {
    @Test
    void Y4_anyReturnsTheFirst() throws Exception {
        Loops.virtually(() -> {
            Event a = new Event();
            Event b = new Event();
            Message<String> m = new Message<>();
            Task<?> t = Loops.spawn(() -> Asyncio.sleepMs(30));
            WaitAny any = new WaitAny(a, b).with(m).with(t);
            Asyncio.runningLoop().callLater(java.time.Duration.ofMillis(10), b::set);
            assertThat(any.await()).isSameAs(b);
            assertThat(any.await()).isSameAs(b); // it is set still
            any.clear();
            Asyncio.runningLoop().callLater(java.time.Duration.ofMillis(10), () -> m.set("x"));
            assertThat(any.await()).isSameAs(m);
            any.clear();
            assertThat(any.await()).isSameAs(t);
            assertThat(Asyncio.runningLoop().time()).isEqualTo(30_000_000);
            a.set();
            assertThat(any.await()).isSameAs(a);
            assertThat(any.happened()).containsExactly(a, t);
        });
    }

    @Test
    void Y4_anyHearsOfASetThatIsClearedAtOnce() throws Exception {
        Loops.virtually(() -> {
            Event a = new Event();
            Event b = new Event(Priority.URGENT);
            Task<Object> waiting = Asyncio.createTask(() -> new WaitAny(a, b).await());
            Loops.settle();
            Loops.onAnotherThread(() -> {
                b.set();
                b.clear();
            });
            assertThat(waiting.await()).isSameAs(b);
        });
    }

    @Test
    void Y4_allWaitsForEachOfThem() throws Exception {
        Loops.virtually(() -> {
            Event a = new Event();
            Event b = new Event();
            Task<?> t = Loops.spawn(() -> Asyncio.sleepMs(20));
            WaitAll all = new WaitAll(a, b).with(t);
            Task<?> waiting = Loops.spawn(all::await);
            a.set();
            Loops.settle();
            a.clear(); // it was set when the wait began
            Asyncio.sleepMs(10);
            assertThat(waiting.done()).isFalse();
            b.set();
            b.clear();
            Loops.settle();
            assertThat(waiting.done()).isFalse();
            waiting.await();
            assertThat(Asyncio.runningLoop().time()).isEqualTo(20_000_000);
            all.clear();
        });
    }

    @Test
    void C2_aCancelledWaitLeavesNoTrace() throws Exception {
        Loops.virtually(() -> {
            Event a = new Event();
            WaitAny any = new WaitAny(a);
            for (int i = 0; i < 1000; i++) {
                Task<?> t = Loops.spawn(any::await);
                Loops.settle();
                assertThatIllegalStateException().isThrownBy(any::await).withMessageContaining("waits for it already");
                t.cancel();
                Loops.settle();
                assertThat(t.cancelled()).isTrue();
            }
            assertThat(a.watching()).isZero();
            a.set();
            assertThat(any.await()).isSameAs(a);
        });
    }

    @Test
    void nothingToWaitForIsAnError() throws Exception {
        Loops.virtually(() -> {
            List<Object> errors = new ArrayList<>();
            assertThatIllegalStateException().isThrownBy(new WaitAny()::await).satisfies(errors::add);
            assertThatIllegalStateException().isThrownBy(new WaitAll()::await).satisfies(errors::add);
            assertThat(errors).hasSize(2);
        });
    }
}
