package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.LoopLocal;
import io.fastio.Polling;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What the kernel offers to streams and devices. */
final class PollingTest {
    private final List<LoopError> errors = new CopyOnWriteArrayList<>();

    private EventLoop virtual() {
        return EventLoop.builder()
                .clock(LoopClock.virtual())
                .devicePollInterval(Duration.ofMillis(2))
                .exceptionHandler(errors::add)
                .build();
    }

    @Test
    void I8_underVirtualTimeAnIdleLoopAsksAtTheIntervalExactly() throws Exception {
        try (EventLoop loop = virtual()) {
            loop.run(() -> {
                for (Priority p : Priority.values()) {
                    int[] asked = {0};
                    Polling question = new Polling(loop, p, () -> asked[0]++);
                    question.arm();
                    question.arm();
                    Asyncio.sleepMs(100);
                    assertThat(asked[0]).isBetween(49, 55);
                    question.disarm();
                    question.disarm();
                    int before = asked[0];
                    Asyncio.sleepMs(100);
                    assertThat(asked[0]).isEqualTo(before);
                }
            });
        }
    }

    @Test
    void I8_aNormalQuestionIsAskedOnceARound() throws Exception {
        try (EventLoop loop = virtual()) {
            loop.run(() -> {
                int[] asked = {0};
                Polling question = new Polling(loop, Priority.NORMAL, () -> asked[0]++);
                question.arm();
                Task<Void> other = Asyncio.createTask(() -> {
                    while (true) {
                        Asyncio.yieldNow();
                    }
                });
                for (int i = 0; i < 100; i++) {
                    Asyncio.yieldNow();
                }
                assertThat(asked[0]).isBetween(95, 105);
                other.cancel();
                question.disarm();
            });
        }
    }

    @Test
    void aQuestionMayDisarmItselfAndOthersAndThrow() throws Exception {
        try (EventLoop loop = virtual()) {
            loop.run(() -> {
                List<String> asked = new ArrayList<>();
                Polling[] q = new Polling[3];
                q[0] = new Polling(loop, Priority.NORMAL, () -> asked.add("first"));
                q[1] = new Polling(loop, Priority.NORMAL, () -> {
                    asked.add("second");
                    q[0].disarm();
                    q[1].disarm();
                });
                q[2] = new Polling(loop, Priority.NORMAL, () -> {
                    asked.add("third");
                    throw new IllegalStateException("question");
                });
                for (Polling p : q) {
                    p.arm();
                }
                Asyncio.sleepMs(10);
                assertThat(asked).containsExactly("third", "second");
                assertThat(errors)
                        .singleElement()
                        .satisfies(e -> assertThat(e.exception()).hasMessage("question"));
            });
        }
    }

    @Test
    void aLoopLocalIsOneForEachLoopAndClosedWithIt() throws Exception {
        List<EventLoop> closed = new ArrayList<>();
        record Value(EventLoop loop, List<EventLoop> closed) implements AutoCloseable {
            @Override
            public void close() {
                closed.add(loop);
            }
        }
        LoopLocal<Value> local = new LoopLocal<>(l -> new Value(l, closed));
        assertThatThrownBy(local::get).isInstanceOf(IllegalStateException.class);
        try (EventLoop a = virtual();
                EventLoop b = virtual()) {
            Value ofA = a.run(local::get);
            assertThat(ofA.loop()).isSameAs(a);
            assertThat(a.run(local::get)).isSameAs(ofA);
            assertThat(b.run(local::get)).isNotSameAs(ofA);
            b.close();
            assertThat(closed).containsExactly(b);
        }
        assertThat(closed).hasSize(2);
    }
}
