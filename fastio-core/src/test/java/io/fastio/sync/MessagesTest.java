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
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** Message, RingQueue and Broker: how things are handed around. */
final class MessagesTest {
    @Test
    void Y4_aMessageCarriesItsPayloadToAllWaiters() throws Exception {
        Loops.virtually(() -> {
            Message<String> message = new Message<>();
            assertThatIllegalStateException().isThrownBy(message::value);
            Task<String> one = Asyncio.createTask(() -> message.await());
            Task<String> two = Asyncio.createTask(() -> message.await());
            Loops.settle();
            message.set("hello");
            message.clear();
            assertThat(one.await()).isEqualTo("hello");
            assertThat(two.await()).isEqualTo("hello");
            assertThat(message.isSet()).isFalse();
            assertThat(message.awaitWithin(Duration.ofMillis(1))).isNull();
            Loops.onAnotherThread(() -> message.set("from outside"));
            assertThat(message.await()).isEqualTo("from outside");
        });
    }

    @Test
    void Y4_aFullRingDropsTheOldest() throws Exception {
        Loops.virtually(() -> {
            RingQueue<Integer> ring = new RingQueue<>(3, RingQueue.WhenFull.DROP_OLDEST);
            for (int i = 0; i < 10; i++) {
                assertThat(ring.put(i)).isTrue();
            }
            assertThat(ring.size()).isEqualTo(3);
            assertThat(ring.lost()).isEqualTo(7);
            assertThat(List.of(ring.get(), ring.get(), ring.getNowait())).containsExactly(7, 8, 9);
            assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(ring::getNowait);
            assertThat(ring.poll(Duration.ofMillis(1))).isNull();
        });
    }

    @Test
    void Y4_aFullRingRefuses() throws Exception {
        Loops.virtually(() -> {
            RingQueue<Integer> ring = new RingQueue<>(1, RingQueue.WhenFull.REFUSE);
            assertThat(ring.put(1)).isTrue();
            assertThat(ring.put(2)).isFalse();
            assertThat(ring.lost()).isEqualTo(1);
            assertThat(ring.get()).isEqualTo(1);
            assertThat(ring.put(3)).isTrue();
            assertThat(ring.poll(Duration.ZERO)).isEqualTo(3);
        });
    }

    @Test
    void Y4_gettersOfARingAreServedInOrder() throws Exception {
        Loops.virtually(() -> {
            RingQueue<Integer> ring = new RingQueue<>(4, RingQueue.WhenFull.DROP_OLDEST);
            Task<Integer> one = Asyncio.createTask(() -> ring.get());
            Task<Integer> two = Asyncio.createTask(() -> ring.get());
            Task<Integer> three = Asyncio.createTask(() -> ring.get());
            Loops.settle();
            ring.put(1);
            one.cancel(); // C6
            assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(ring::getNowait);
            assertThat(two.await()).isEqualTo(1);
            assertThatExceptionOfType(CancelledError.class).isThrownBy(one::await);
            Loops.onAnotherThread(() -> ring.put(2));
            assertThat(three.await()).isEqualTo(2);
        });
    }

    @Test
    void Y4_aBrokerHandsToAllSubscribersOfATopic() throws Exception {
        Loops.virtually(() -> {
            Broker<String> broker = new Broker<>();
            List<String> seen = new ArrayList<>();
            AsyncQueue<Broker.Published<String>> queue = new AsyncQueue<>();
            RingQueue<Broker.Published<String>> ring = new RingQueue<>(1, RingQueue.WhenFull.DROP_OLDEST);
            Message<String> newest = new Message<>();
            assertThat(broker.publish("a", "nobody listens")).isZero();
            Broker.Subscription subscription = broker.subscribe("a", (topic, m) -> seen.add(topic + ":" + m));
            broker.subscribe("a", queue);
            broker.subscribe("a", ring);
            broker.subscribe("a", newest);
            broker.subscribe("b", (topic, m) -> seen.add("wrong"));
            assertThat(broker.publish("a", "one")).isEqualTo(4);
            Loops.onAnotherThread(() -> broker.publish("a", "two"));
            assertThat(queue.get()).isEqualTo(new Broker.Published<>("a", "one"));
            assertThat(queue.get().message()).isEqualTo("two");
            assertThat(ring.get().message()).isEqualTo("two");
            assertThat(newest.await()).isEqualTo("two");
            assertThat(seen).containsExactly("a:one", "a:two");
            subscription.close();
            subscription.close();
            assertThat(broker.publish("a", "three")).isEqualTo(3);
            assertThat(seen).hasSize(2);
        });
    }

    @Test
    void Y4_aSubscriberThatThrowsKeepsNothingFromTheOthers() {
        Broker<String> broker = new Broker<>();
        AsyncQueue<Broker.Published<String>> closed = new AsyncQueue<>();
        closed.close();
        List<String> seen = new ArrayList<>();
        broker.subscribe("t", closed);
        broker.subscribe("t", (topic, m) -> seen.add(m));
        assertThatExceptionOfType(QueueClosedException.class).isThrownBy(() -> broker.publish("t", "m"));
        assertThat(seen).containsExactly("m");
    }

    @Test
    void wrongUse() {
        for (int capacity : new int[] {0, -1, (1 << 24) + 1, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new RingQueue<>(capacity, RingQueue.WhenFull.REFUSE))
                    .withMessage("capacity must be 1 to 16777216: " + capacity);
        }
        assertThatIllegalStateException().isThrownBy(new Message<String>()::await);
        assertThatIllegalStateException()
                .isThrownBy(new RingQueue<String>(1, RingQueue.WhenFull.REFUSE)::getNowait)
                .withMessageContaining("no running event loop");
    }
}
