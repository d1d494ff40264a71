package io.fastio.context;

import io.fastio.Asyncio;
import io.fastio.Wait;
import io.fastio.sync.QueueClosedException;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A bounded channel between loops, and between loops and threads. Unlike {@link io.fastio.sync.AsyncQueue}, which belongs to
 * one loop, tasks of any loop may send and receive, and foreign threads may too: they block. First in, first out; among
 * several that wait, whoever comes first.
 *
 * <p>What is sent is handed over: the sender does not touch it any more.
 *
 * @param <T> the type of its items, which are never null
 */
public final class Channel<T> implements Iterable<T>, AutoCloseable {
    private final int capacity;
    private final ConcurrentLinkedQueue<T> items = new ConcurrentLinkedQueue<>();

    /** Places taken: by items, and by senders that are about to put one. */
    private final AtomicInteger taken = new AtomicInteger();

    private final Waiters senders = new Waiters();
    private final Waiters receivers = new Waiters();
    private volatile boolean closed;

    /** @param capacity how many items it holds before senders wait; from 1 */
    public Channel(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a channel holds at least one item: " + capacity);
        }
        this.capacity = capacity;
    }

    /**
     * Sends {@code item}, and waits for room. Any thread.
     *
     * @throws QueueClosedException if the channel is closed; the item was not sent
     * @throws io.fastio.CancelledError if the task was cancelled; the item was not sent
     * @throws IllegalStateException if the thread was interrupted while it waited; the item was not sent, the status is kept
     */
    public void send(T item) {
        if (!send(item, Wait.FOREVER)) {
            throw new IllegalStateException("interrupted while waiting for room in a channel");
        }
    }

    /**
     * {@link #send(Object)} for at most {@code timeout}.
     *
     * @return false if there was no room in time, or the thread was interrupted: the item was not sent
     */
    public boolean offer(T item, Duration timeout) {
        return send(item, deadline(timeout));
    }

    private boolean send(T item, long deadline) {
        Objects.requireNonNull(item, "item");
        Place place = new Place();
        if (!senders.await(place, clock(), deadline, true)) {
            return false;
        }
        if (!place.reserved) {
            throw new QueueClosedException("the channel is closed");
        }
        items.add(item); // also if it has been closed meanwhile: receivers wait for what is reserved
        receivers.wakeNext();
        return true;
    }

    /** Succeeds with a place, or without one when the channel is closed. */
    private final class Place implements BooleanSupplier {
        boolean reserved;

        @Override
        public boolean getAsBoolean() {
            if (closed) {
                return true;
            }
            if (!reserve()) {
                return closed;
            }
            if (closed) { // perhaps before the place was taken: then receivers may have seen none, and be gone
                release();
                return true;
            }
            reserved = true;
            return true;
        }
    }

    private boolean reserve() {
        int n;
        do {
            n = taken.get();
            if (n >= capacity) {
                return false;
            }
        } while (!taken.compareAndSet(n, n + 1));
        return true;
    }

    /**
     * Receives the next item, and waits for one. Any thread.
     *
     * @throws QueueClosedException once the channel is closed and empty
     * @throws io.fastio.CancelledError if the task was cancelled; no item was taken
     * @throws IllegalStateException if the thread was interrupted while it waited; the status is kept
     */
    public T receive() {
        T item = receive(Wait.FOREVER);
        if (item == null) {
            throw new IllegalStateException("interrupted while waiting for an item of a channel");
        }
        return item;
    }

    /** {@link #receive()} for at most {@code timeout}; null if nothing came in time, or the thread was interrupted. */
    public @Nullable T poll(Duration timeout) {
        return receive(deadline(timeout));
    }

    private @Nullable T receive(long deadline) {
        Take take = new Take();
        if (!receivers.await(take, clock(), deadline, true)) {
            return null;
        }
        if (take.item == null) {
            throw new QueueClosedException("the channel is closed");
        }
        release();
        senders.wakeNext();
        return take.item;
    }

    private void release() {
        if (taken.decrementAndGet() == 0 && closed) {
            receivers.wakeAll(); // that was the last one
        }
    }

    /** Succeeds with an item, or without one when none will come any more. */
    private final class Take implements BooleanSupplier {
        @Nullable
        T item;

        @Override
        public boolean getAsBoolean() {
            item = items.poll();
            return item != null || closed && taken.get() == 0;
        }
    }

    /** No more is sent; what is in can still be received. Any thread; idempotent; does not wait. */
    @Override
    public void close() {
        closed = true;
        senders.wakeAll();
        receivers.wakeAll();
    }

    /** Whether it has been closed. Any thread. */
    public boolean isClosed() {
        return closed;
    }

    /** How many items are in it, or about to be. Any thread. */
    public int size() {
        return taken.get();
    }

    /** Receives until the channel is closed and empty. */
    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private @Nullable T next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    try {
                        next = receive();
                    } catch (QueueClosedException end) {
                        return false;
                    }
                }
                return true;
            }

            @Override
            public T next() {
                if (!hasNext() || next == null) {
                    throw new NoSuchElementException("the channel is closed");
                }
                T item = next;
                next = null;
                return item;
            }
        };
    }

    private static long deadline(Duration timeout) {
        long now = clock().getAsLong();
        long nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(Objects.requireNonNull(timeout, "timeout"))); // saturates
        return nanos > Wait.FOREVER - now ? Wait.FOREVER : now + nanos;
    }

    /** The clock of the calling task's loop; that of the machine for any other thread. */
    private static LongSupplier clock() {
        return Asyncio.inTask() ? Asyncio.runningLoop()::time : Channel::machineTime;
    }

    private static long machineTime() {
        return System.nanoTime() & Long.MAX_VALUE;
    }

    @Override
    public String toString() {
        return "Channel[" + taken + " of " + capacity + (closed ? ", closed]" : "]");
    }
}
