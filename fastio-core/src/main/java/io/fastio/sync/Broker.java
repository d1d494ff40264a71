package io.fastio.sync;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Publish and subscribe by topic (Y4): whoever publishes does not know who listens. Answers to MicroPython's {@code
 * Broker}.
 *
 * @param <T> the type of what is published, which is never null
 */
public final class Broker<T> {
    /**
     * Takes what is published. Called by whatever thread publishes: it must not wait.
     *
     * @param <T> the type of what is published
     */
    @FunctionalInterface
    public interface Subscriber<T> {
        void receive(String topic, T message);
    }

    /** A topic, and what was published on it. */
    public record Published<T>(String topic, T message) {
        public Published {
            Objects.requireNonNull(topic, "topic");
            Objects.requireNonNull(message, "message");
        }
    }

    /** One subscription; closing it ends it. */
    @FunctionalInterface
    public interface Subscription extends AutoCloseable {
        /** Ends it. Any thread; does not wait; again: no effect. */
        @Override
        void close();
    }

    private final ConcurrentHashMap<String, CopyOnWriteArrayList<Subscriber<? super T>>> topics =
            new ConcurrentHashMap<>();

    /** A broker that nobody has subscribed to. */
    public Broker() {}

    /** Has {@code subscriber} receive what is published on {@code topic} from now on, in the order of subscribing. Any thread. */
    public Subscription subscribe(String topic, Subscriber<? super T> subscriber) {
        Objects.requireNonNull(topic, "topic");
        Objects.requireNonNull(subscriber, "subscriber");
        Subscriber<T> own = subscriber::receive; // an identity of its own: the same subscriber may subscribe twice
        topics.compute(topic, (t, list) -> {
            CopyOnWriteArrayList<Subscriber<? super T>> subscribers =
                    list == null ? new CopyOnWriteArrayList<>() : list;
            subscribers.add(own);
            return subscribers;
        });
        return () -> topics.computeIfPresent(topic, (t, subscribers) -> {
            subscribers.remove(own);
            return subscribers.isEmpty() ? null : subscribers;
        });
    }

    /** Has a queue receive it; what a full queue, or a closed one, refuses is an error for whoever publishes. Any thread. */
    public Subscription subscribe(String topic, AsyncQueue<? super Published<T>> queue) {
        Objects.requireNonNull(queue, "queue");
        return subscribe(topic, (t, message) -> queue.putNowait(new Published<>(t, message)));
    }

    /** Has a ring receive it, which drops or refuses when it is full. Any thread. */
    public Subscription subscribe(String topic, RingQueue<? super Published<T>> ring) {
        Objects.requireNonNull(ring, "ring");
        return subscribe(topic, (t, message) -> ring.put(new Published<>(t, message)));
    }

    /** Has a message carry the newest. Any thread. */
    public Subscription subscribe(String topic, Message<? super T> newest) {
        Objects.requireNonNull(newest, "newest");
        return subscribe(topic, (t, message) -> newest.set(message));
    }

    /**
     * Hands {@code message} to all who have subscribed to {@code topic}. Any thread; does not wait. Every subscriber gets
     * it, also if one before it throws; the first exception is thrown at the end, with the others as suppressed.
     *
     * @return how many received it
     */
    public int publish(String topic, T message) {
        Objects.requireNonNull(topic, "topic");
        Objects.requireNonNull(message, "message");
        List<Subscriber<? super T>> subscribers = topics.get(topic);
        if (subscribers == null) {
            return 0;
        }
        int received = 0;
        List<RuntimeException> failures = new ArrayList<>(0);
        for (Subscriber<? super T> s : subscribers) {
            try {
                s.receive(topic, message);
                received++;
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            RuntimeException first = failures.getFirst();
            failures.subList(1, failures.size()).forEach(first::addSuppressed);
            throw first;
        }
        return received;
    }
}
