package io.fastio.sync;

import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A queue of fixed size that never holds its producers up (Y4): when it is full, the oldest item makes room, or the new one
 * is refused. Any thread puts, native upcalls included, without allocating and without a lock. Answers to MicroPython's
 * {@code RingbufQueue}.
 *
 * <p>Each place has a stamp that says whose turn it is: {@code 2 n} to receive item number n, {@code 2 n + 1} to give it
 * out; so producers, the loop, and producers that drop the oldest item agree by one compare-and-set each (after D. Vyukov's
 * bounded queue).
 *
 * @param <T> the type of its items, which are never null
 */
public final class RingQueue<T> {
    /** What happens to an item that is put while the queue is full. */
    public enum WhenFull {
        /** The oldest item is dropped. */
        DROP_OLDEST,
        /** The new item is. */
        REFUSE
    }

    /** Its places are made with it, about 12 bytes each: an error before memory is out. */
    private static final int MOST = 1 << 24;

    private final int capacity;
    private final WhenFull whenFull;
    private final AtomicReferenceArray<@Nullable T> items;
    private final AtomicLongArray stamps;
    private final AtomicLong tail = new AtomicLong();
    private final AtomicLong head = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();

    private int promised;
    private WaitList getters = new WaitList();
    private final Wait.Hook hook = this::abandon;

    private final Home home = new Home() {
        @Override
        void settle() {
            promise();
        }

        @Override
        void forsake() {
            getters = new WaitList();
            promised = 0;
        }
    };

    /**
     * An empty queue.
     *
     * @param capacity the most items it holds; 1 to 16,777,216, for each of which there is a place from the beginning; an
     *     {@link AsyncQueue} has no such limit
     * @throws IllegalArgumentException if {@code capacity} is outside that range
     */
    public RingQueue(int capacity, WhenFull whenFull) {
        if (capacity < 1 || capacity > MOST) {
            throw new IllegalArgumentException("capacity must be 1 to " + MOST + ": " + capacity);
        }
        this.capacity = capacity;
        this.whenFull = Objects.requireNonNull(whenFull, "whenFull");
        this.items = new AtomicReferenceArray<>(capacity);
        this.stamps = new AtomicLongArray(capacity);
        for (int i = 0; i < capacity; i++) {
            stamps.set(i, 2L * i);
        }
    }

    /**
     * Puts an item. Any thread; does not wait.
     *
     * @return whether the queue has taken it: false only if it is full and made with {@link WhenFull#REFUSE}
     */
    public boolean put(T item) {
        Objects.requireNonNull(item, "item");
        while (!offer(item)) {
            if (whenFull == WhenFull.REFUSE) {
                lost.incrementAndGet();
                return false;
            }
            if (tail.get() - head.get() < capacity) {
                Thread.onSpinWait(); // somebody is taking the item that stands in our place
            } else if (take() != null) {
                lost.incrementAndGet();
            }
        }
        if (home.isCurrent()) {
            promise();
        } else {
            home.ring();
        }
        return true;
    }

    /**
     * Takes the oldest item; waits while there is none. For tasks; first in, first out.
     *
     * @throws io.fastio.CancelledError if the task was cancelled: nothing has been taken
     */
    public T get() {
        return Objects.requireNonNull(get(Wait.FOREVER));
    }

    /**
     * Takes the oldest item, or gives up after {@code timeout}: never both. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return the item; null if none came
     * @throws io.fastio.CancelledError if the task was cancelled: nothing has been taken
     */
    public @Nullable T poll(@Nullable Duration timeout) {
        return get(Home.deadline(timeout));
    }

    private @Nullable T get(long deadline) {
        Task<?> me = Wait.begin();
        home.enter(me);
        promise();
        T item = size() > promised ? take() : null;
        while (item == null) {
            if (deadline == Home.NO_WAIT) {
                return null;
            }
            getters.add(me);
            if (Wait.suspend(hook, null, deadline) == Wait.Reason.DEADLINE) {
                return null;
            }
            promised--;
            item = take(); // null: the one who puts it is not ready yet, and will ring
        }
        return item;
    }

    /**
     * Takes the oldest item without waiting. For tasks and callbacks.
     *
     * @throws NoSuchElementException if there is none, or it is promised to a task that waits
     * @throws IllegalStateException outside a loop
     */
    public T getNowait() {
        home.enter(Asyncio.runningLoop());
        promise();
        T item = size() > promised ? take() : null;
        if (item == null) {
            throw new NoSuchElementException("the queue is empty");
        }
        return item;
    }

    /** How many items it holds. Any thread. */
    public int size() {
        long h = head.get();
        return (int) Math.min(capacity, Math.max(0, tail.get() - h));
    }

    /** The most items it holds. Any thread. */
    public int capacity() {
        return capacity;
    }

    /** How many items were dropped or refused so far. Any thread. */
    public long lost() {
        return lost.get();
    }

    private boolean offer(T item) {
        while (true) {
            long n = tail.get();
            int place = (int) (n % capacity);
            long turn = stamps.get(place) - 2 * n;
            if (turn < 0) {
                return false;
            }
            if (turn == 0 && tail.compareAndSet(n, n + 1)) {
                items.set(place, item);
                stamps.set(place, 2 * n + 1);
                return true;
            }
        }
    }

    private @Nullable T take() {
        while (true) {
            long n = head.get();
            int place = (int) (n % capacity);
            long turn = stamps.get(place) - (2 * n + 1);
            if (turn < 0) {
                return null;
            }
            if (turn == 0 && head.compareAndSet(n, n + 1)) {
                T item = items.getAndSet(place, null);
                stamps.set(place, 2 * (n + capacity));
                return item;
            }
        }
    }

    private void promise() {
        while (promised < size() && !getters.isEmpty()) {
            Task<?> next = Objects.requireNonNull(getters.poll());
            promised++;
            Wait.resume(next);
        }
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (woken) {
            promised--;
            promise();
        } else {
            getters.remove(task);
        }
        return true;
    }

    @Override
    public String toString() {
        return "RingQueue[" + size() + " of " + capacity + " items, " + getters.size() + " getting]";
    }
}
