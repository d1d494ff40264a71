package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class AsyncQueueTest {
    @Test
    void Y3_givesOutFirstInFirstOut() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            Task<List<Integer>> consumer = Asyncio.createTask(() -> {
                List<Integer> got = new ArrayList<>();
                for (int i : q) {
                    got.add(i);
                }
                return got;
            });
            for (int i = 0; i < 1000; i++) {
                q.put(i);
                if (i % 7 == 0) {
                    Asyncio.yieldNow();
                }
            }
            q.close();
            assertThat(consumer.await())
                    .isEqualTo(IntStream.range(0, 1000).boxed().toList());
        });
    }

    @Test
    void Y3_aBoundedOneHoldsItsPuttersUp() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>(2);
            int[] put = new int[1];
            for (int i = 0; i < 5; i++) {
                int n = i;
                Loops.start(() -> {
                    q.put(n);
                    put[0]++;
                });
            }
            Loops.settle();
            assertThat(put[0]).isEqualTo(2);
            assertThat(q.isFull()).isTrue();
            assertThatIllegalStateException().isThrownBy(() -> q.putNowait(9)).withMessageContaining("full");
            for (int i = 0; i < 5; i++) {
                assertThat(q.get()).isEqualTo(i);
                assertThat(q.size()).isLessThanOrEqualTo(2);
                Loops.settle();
            }
            assertThat(q.isEmpty()).isTrue();
            q.putNowait(1);
            q.putNowait(2);
            assertThatIllegalStateException().isThrownBy(() -> q.putNowait(3));
            Loops.onAnotherThread(() -> assertThatIllegalStateException().isThrownBy(() -> q.putNowait(3)));
        });
    }

    @Test
    void Y3_roomGoesToTheOneThatHasWaitedLongest() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<String> q = new AsyncQueue<>(1);
            q.put("a");
            Task<?> waiting = Loops.spawn(() -> q.put("b"));
            Loops.settle();
            assertThat(q.get()).isEqualTo("a");
            assertThatIllegalStateException().isThrownBy(() -> q.putNowait("barger"));
            assertThat(q.offer("barger", Duration.ZERO)).isFalse();
            waiting.await();
            assertThat(q.get()).isEqualTo("b");
        });
    }

    @Test
    void Y3_anItemGoesToTheOneThatHasWaitedLongest() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<String> q = new AsyncQueue<>();
            Task<String> waiting = Asyncio.createTask(() -> q.get());
            Loops.settle();
            q.put("a");
            assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(q::getNowait);
            assertThat(q.poll(Duration.ZERO)).isNull();
            assertThat(waiting.await()).isEqualTo("a");
        });
    }

    @Test
    void Y3_priorityOrderIsStable() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<String> q = AsyncQueue.priority(0, Comparator.comparingInt(String::length));
            for (String s : List.of("ccc", "a", "bb", "b", "aaa", "c", "aa")) {
                q.put(s);
            }
            Loops.onAnotherThread(() -> q.putNowait("d"));
            q.close();
            List<String> got = new ArrayList<>();
            for (String s : q) {
                got.add(s);
            }
            assertThat(got).containsExactly("a", "b", "c", "d", "bb", "aa", "ccc", "aaa");
            AsyncQueue<Integer> numbers = AsyncQueue.priority();
            for (int i = 0; i < 1000; i++) {
                numbers.put(i * 7919 % 1000);
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(numbers.get()).isEqualTo(i);
            }
        });
    }

    @Test
    void Y3_lifoOrder() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = AsyncQueue.lifo(3);
            q.put(1);
            q.put(2);
            q.put(3);
            assertThat(q.offer(4, Duration.ofMillis(1))).isFalse();
            assertThat(List.of(q.get(), q.get(), q.get())).containsExactly(3, 2, 1);
        });
    }

    @Test
    void Y3_getNowaitOnAnEmptyOneIsAnError() throws Exception {
        AsyncQueue<Integer> q = new AsyncQueue<>();
        assertThatIllegalStateException().isThrownBy(q::getNowait).withMessageContaining("no running event loop");
        q.putNowait(1);
        assertThat(q.size()).isEqualTo(1);
        Loops.virtually(() -> {
            assertThat(q.getNowait()).isEqualTo(1);
            assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(q::getNowait);
        });
    }

    @Test
    void Y3_closeLetsReadersDrainThenBothSidesFail() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>(2);
            q.put(1);
            q.put(2);
            Task<?> putter = Loops.spawn(() -> q.put(3));
            Loops.settle();
            q.close();
            q.close();
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(putter::await);
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(() -> q.put(4));
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(() -> q.putNowait(4));
            assertThat(q.get()).isEqualTo(1);
            assertThat(q.getNowait()).isEqualTo(2);
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(q::get);
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(q::getNowait);
            assertThatExceptionOfType(QueueClosedException.class)
                    .isThrownBy(() -> q.poll(Duration.ofSeconds(1)))
                    .isInstanceOf(IllegalStateException.class);
        });
    }

    @Test
    void Y3_closeFromAnotherThreadEndsTheWaitsOfReaders() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            Task<?> one = Asyncio.createTask(() -> q.get());
            Task<?> two = Asyncio.createTask(() -> q.get());
            Loops.settle();
            Loops.onAnotherThread(() -> {
                q.putNowait(1);
                q.close();
                assertThatExceptionOfType(QueueClosedException.class).isThrownBy(() -> q.putNowait(2));
            });
            assertThat(one.await()).isEqualTo(1);
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(two::await);
        });
    }

    @Test
    void Y3_joinWaitsUntilAllIsDone() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            q.join();
            assertThatIllegalStateException().isThrownBy(q::taskDone);
            for (int i = 0; i < 3; i++) {
                q.put(i);
            }
            Task<?> worker = Loops.spawn(() -> {
                for (int i : q) {
                    Asyncio.sleepMs(10);
                    if (i == 1) {
                        Loops.onAnotherThread(q::taskDone);
                    } else {
                        q.taskDone();
                    }
                }
            });
            Task<?> joiner = Loops.spawn(q::join);
            Asyncio.sleepMs(25);
            assertThat(joiner.done()).isFalse();
            q.join();
            assertThat(Asyncio.runningLoop().time()).isEqualTo(30_000_000);
            joiner.await();
            q.close();
            worker.await();
            q.join();
            assertThatIllegalStateException().isThrownBy(q::taskDone);
            Loops.onAnotherThread(() -> assertThatIllegalStateException().isThrownBy(q::taskDone));
        });
    }

    /** F44: producer puts, and the consumer's get ends on that very step. */
    @Test
    void C6_F44_anItemOnItsWayToACancelledGetterStaysInItsPlace() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            List<Integer> got = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Task<Integer> getter = Asyncio.createTask(() -> q.get());
                Loops.settle();
                q.put(2 * i);
                q.put(2 * i + 1);
                getter.cancel();
                assertThatExceptionOfType(CancelledError.class).isThrownBy(getter::await);
                got.add(q.get());
                got.add(q.get());
            }
            assertThat(got).isEqualTo(IntStream.range(0, 200).boxed().toList());
        });
    }

    @Test
    void C6_anItemOnItsWayToACancelledGetterGoesToTheNext() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            Task<Integer> first = Asyncio.createTask(() -> q.get());
            Task<Integer> second = Asyncio.createTask(() -> q.get());
            Loops.settle();
            q.put(1);
            first.cancel();
            assertThat(second.await()).isEqualTo(1);
            assertThat(q.isEmpty()).isTrue();
        });
    }

    @Test
    void C6_getOrTimeoutLosesNothing() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            List<Integer> got = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                int n = i;
                Task<Integer> getter = Asyncio.createTask(() -> q.poll(Duration.ofMillis(10)));
                Loops.settle();
                Asyncio.sleep(Duration.ofMillis(10).plusNanos(i % 3 - 1));
                q.putNowait(n);
                Integer item = getter.await();
                got.add(item != null ? item : q.getNowait());
            }
            assertThat(got).isEqualTo(IntStream.range(0, 100).boxed().toList());
        });
    }

    @Test
    void C6_aCancelledPutHasPutOrNot() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<String> q = new AsyncQueue<>(1);
            q.put("a");
            Task<?> cancelled = Loops.spawn(() -> q.put("b"));
            Task<?> stays = Loops.spawn(() -> q.put("c"));
            Loops.settle();
            assertThat(q.get()).isEqualTo("a"); // room is on its way to "b"
            cancelled.cancel();
            assertThatExceptionOfType(CancelledError.class).isThrownBy(cancelled::await);
            stays.await();
            assertThat(q.get()).isEqualTo("c");

            q.put("d");
            Task<?> alone = Loops.spawn(() -> q.put("e"));
            Loops.settle();
            assertThat(q.get()).isEqualTo("d");
            alone.cancel();
            Loops.settle();
            q.putNowait("f"); // the room has come back
            assertThat(q.get()).isEqualTo("f");
        });
    }

    @Test
    void aComparatorThatThrowsLeavesTheQueueUsable() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Object> q = AsyncQueue.priority(3, (a, b) -> ((Integer) a).compareTo((Integer) b));
            q.put(2);
            assertThatExceptionOfType(ClassCastException.class).isThrownBy(() -> q.put("x"));
            q.put(1);
            Loops.onAnotherThread(() -> q.putNowait("y"));
            assertThatExceptionOfType(ClassCastException.class).isThrownBy(() -> q.poll(Duration.ZERO));
            q.put(3);
            assertThat(List.of(q.get(), q.get(), q.get())).containsExactly(1, 2, 3);
            Task<Object> getter = Asyncio.createTask(() -> q.get());
            Loops.settle();
            q.put(7);
            assertThat(getter.await()).isEqualTo(7);
        });
    }

    @Test
    void wrongUse() throws Exception {
        assertThatIllegalArgumentException().isThrownBy(() -> new AsyncQueue<Integer>(-1));
        AsyncQueue<Integer> q = new AsyncQueue<>();
        assertThatNullPointerException().isThrownBy(() -> q.putNowait(null));
        assertThatIllegalStateException().isThrownBy(q::get);
        assertThatIllegalStateException().isThrownBy(() -> q.put(1));
    }

    @Test
    void aHundredThousandGettersEachGetOne() throws Exception {
        Loops.virtually(() -> {
            AsyncQueue<Integer> q = new AsyncQueue<>();
            List<Task<Integer>> getters = new ArrayList<>();
            for (int i = 0; i < 100_000; i++) {
                getters.add(Asyncio.createTask(() -> q.get()));
            }
            Loops.settle();
            for (int i = 0; i < 100_000; i++) {
                q.put(i);
            }
            for (int i = 0; i < 100_000; i++) {
                assertThat(getters.get(i).await()).isEqualTo(i);
            }
        });
    }
}
