package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.time.LoopClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class CompletionsTest {
    private final List<LoopError> reported = new ArrayList<>();
    private final EventLoop loop = EventLoop.builder()
            .clock(LoopClock.virtual())
            .exceptionHandler(reported::add)
            .build();

    @AfterEach
    void closesTheLoop() {
        loop.close();
        assertThat(reported).isEmpty();
    }

    private static Task<Integer> after(int ms) {
        return Asyncio.createTask(() -> {
            Asyncio.sleepMs(ms);
            return ms;
        });
    }

    private static Task<Integer> failsAfter(int ms) {
        return Asyncio.createTask(() -> {
            Asyncio.sleepMs(ms);
            throw new IOException("after " + ms);
        });
    }

    @Test
    void asCompletedReturnsTasksInTheOrderOfTheirEnds() throws Exception {
        loop.run(() -> {
            List<String> order = new ArrayList<>();
            for (Task<Integer> t : Asyncio.asCompleted(List.of(after(30), failsAfter(20), after(10)))) {
                assertThat(t.done()).isTrue();
                order.add(loop.time() / 1_000_000 + " "
                        + (t.exception() == null ? t.await() : t.exception().getMessage()));
            }
            assertThat(order).containsExactly("10 10", "20 after 20", "30 30");
        });
    }

    @Test
    void asCompletedStartsBodies() throws Exception {
        loop.run(() -> {
            List<Callable<Integer>> bodies = List.of(() -> 1, () -> 2);
            List<Integer> values = new ArrayList<>();
            for (Task<Integer> t : Asyncio.asCompleted(bodies)) {
                values.add(t.await());
            }
            assertThat(values).containsExactly(1, 2);
            var none = Asyncio.asCompleted(List.<Task<Integer>>of()).iterator();
            assertThat(none.hasNext()).isFalse();
            assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(none::next);
        });
    }

    @Test
    void C2_aCancelledWaitForTheNextLosesNone() throws Exception {
        loop.run(() -> {
            var tasks = Asyncio.asCompleted(List.of(after(10), after(20))).iterator();
            assertThatThrownBy(() -> Asyncio.waitForMs(() -> tasks.next(), 5)).isInstanceOf(TimeoutException.class);
            assertThat(tasks.next().await()).isEqualTo(10);
            assertThat(tasks.next().await()).isEqualTo(20);
        });
    }

    @Test
    void waitInItsThreeModes() throws Exception {
        loop.run(() -> {
            Task<Integer> ten = after(10);
            Task<Integer> fails = failsAfter(20);
            Task<Integer> thirty = after(30);
            Task<Integer> forever = after(1_000_000);
            List<Task<Integer>> tasks = List.of(forever, thirty, fails, ten);
            Waited<Integer> first = Asyncio.wait(tasks, ReturnWhen.FIRST_COMPLETED, null);
            assertThat(first.done()).containsExactly(ten);
            assertThat(first.pending()).containsExactly(forever, thirty, fails);
            Waited<Integer> failed = Asyncio.wait(tasks, ReturnWhen.FIRST_EXCEPTION, Duration.ofMinutes(1));
            assertThat(failed.done()).containsExactly(ten, fails);
            assertThat(loop.time()).isEqualTo(20_000_000);
            Waited<Integer> some = Asyncio.wait(tasks, ReturnWhen.ALL_COMPLETED, Duration.ofMillis(15));
            assertThat(some.done()).containsExactlyInAnyOrder(ten, fails, thirty);
            assertThat(loop.time()).isEqualTo(35_000_000);
            forever.cancel();
            Waited<Integer> all = Asyncio.wait(tasks, ReturnWhen.ALL_COMPLETED, null);
            assertThat(all.pending()).isEmpty();
            assertThat(all.done()).hasSize(4);
        });
    }

    @Test
    void waitTouchesNoTask() throws Exception {
        loop.run(() -> {
            Task<Integer> task = after(50);
            Task<?> waiting = Asyncio.createTask(() -> Asyncio.wait(List.of(task), ReturnWhen.ALL_COMPLETED, null));
            Asyncio.sleepMs(10);
            waiting.cancel();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(waiting::await);
            assertThat(Asyncio.wait(List.of(task), ReturnWhen.ALL_COMPLETED, Duration.ZERO)
                            .pending())
                    .containsExactly(task);
            assertThat(task.await()).isEqualTo(50);
        });
    }

    /** F29: waiting for one long task many times leaves nothing with it. */
    @Test
    void waitLeavesNoCallbackBehind() throws Exception {
        loop.run(() -> {
            Task<Integer> task = after(1_000_000);
            for (int i = 0; i < 10_000; i++) {
                Waited<Integer> w = Asyncio.wait(List.of(task), ReturnWhen.ALL_COMPLETED, Duration.ofMillis(1));
                assertThat(w.done()).isEmpty();
            }
            assertThat(((LoopTask<?>) task).doneCallbackCount()).isZero();
        });
    }

    @Test
    void waitForTasksOfAnotherLoop() throws Exception {
        try (EventLoop other = EventLoop.create();
                EventLoop mine = EventLoop.create()) {
            other.start();
            mine.run(() -> {
                Task<Integer> theirs = other.createTask(() -> {
                    Asyncio.sleepMs(20);
                    return 7;
                });
                Waited<Integer> w = Asyncio.wait(List.of(theirs), ReturnWhen.ALL_COMPLETED, Duration.ofSeconds(20));
                assertThat(w.done()).containsExactly(theirs);
            });
        }
    }

    @Test
    void firstCompletedEndsTheOthers() throws Exception {
        loop.run(() -> {
            List<String> ended = new ArrayList<>();
            int value = Asyncio.firstCompleted(
                    () -> {
                        try {
                            Asyncio.sleepMs(100);
                            return 1;
                        } finally {
                            Asyncio.sleepMs(5);
                            ended.add("cleaned up");
                        }
                    },
                    () -> {
                        Asyncio.sleepMs(10);
                        return 2;
                    });
            assertThat(value).isEqualTo(2);
            assertThat(ended).containsExactly("cleaned up");
            assertThat(loop.time()).isEqualTo(15_000_000);
            assertThat(Asyncio.allTasks()).hasSize(1);
        });
    }

    @Test
    void firstCompletedThrowsWhatTheFirstOneThrew() throws Exception {
        loop.run(() -> {
            List<Callable<Integer>> bodies = List.of(
                    () -> {
                        Asyncio.sleepMs(10);
                        throw new IOException("first");
                    },
                    () -> {
                        Asyncio.sleepMs(20);
                        return 2;
                    });
            assertThatThrownBy(() -> Asyncio.firstCompleted(bodies))
                    .isInstanceOf(IOException.class)
                    .hasMessage("first");
            assertThat(loop.time()).isEqualTo(10_000_000);
            assertThatIllegalArgumentException().isThrownBy(() -> Asyncio.firstCompleted(List.of()));
        });
    }

    @Test
    void firstCompletedIsCancelledWithItsCaller() throws Exception {
        loop.run(() -> {
            Task<Integer> caller = Asyncio.createTask(() -> Asyncio.firstCompleted(
                    () -> {
                        Asyncio.sleepMs(100);
                        return 1;
                    },
                    () -> {
                        Asyncio.sleepMs(200);
                        return 2;
                    }));
            Asyncio.sleepMs(10);
            caller.cancel();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(caller::await);
            assertThat(loop.time()).isEqualTo(10_000_000);
            assertThat(Asyncio.allTasks()).hasSize(1);
        });
    }
}
