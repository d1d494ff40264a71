package io.fastio.sync;

import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A queue between tasks, and from other threads to tasks (Y3): bounded or not; first in first out, last in first out, or
 * by a comparator. Answers to {@code asyncio.Queue}, {@code LifoQueue} and {@code PriorityQueue}.
 *
 * <p>A getter that waits is <em>promised</em> an item and woken; the item stays in the queue until the getter takes it.
 * So a getter that is cancelled on its way leaves the item in its place, and the next one is promised it (C6); and nobody
 * who comes later gets in between. Putters that wait for room are promised room in the same way.
 *
 * <p>What other threads put lies on a stack of its own until a task of the loop moves it over; the bell wakes getters, and
 * no more, since a comparator is not run on the loop's carrier.
 *
 * @param <T> the type of its items, which are never null
 */
public final class AsyncQueue<T> implements Iterable<T> {
    private static final VarHandle OUTSIDE;
    private static final VarHandle ROOM;
    private static final VarHandle OUTSIDE_DONE;
    private static final VarHandle IN;
    private static final VarHandle DONE;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            OUTSIDE = l.findVarHandle(AsyncQueue.class, "outside", Delivery.class);
            ROOM = l.findVarHandle(AsyncQueue.class, "room", int.class);
            OUTSIDE_DONE = l.findVarHandle(AsyncQueue.class, "outsideDone", long.class);
            IN = l.findVarHandle(AsyncQueue.class, "in", long.class);
            DONE = l.findVarHandle(AsyncQueue.class, "done", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** What another thread put, or its close, on top of what came before. */
    private static final class Delivery {
        final @Nullable Object item;
        final @Nullable Delivery below;
        final int items;
        final boolean closes;

        Delivery(@Nullable Object item, @Nullable Delivery below) {
            this.item = item;
            this.below = below;
            this.closes = item == null;
            this.items = (below == null ? 0 : below.items) + (closes ? 0 : 1);
        }
    }

    private static final Delivery CLOSED = new Delivery(null, null);

    private final int capacity;
    private final Store<T> store;

    /** What other threads put, newest on top; {@link Delivery#closes} on top: nothing more comes. */
    private volatile @Nullable Delivery outside;

    /** Places that are neither taken nor promised; of a bounded queue only. */
    private volatile int room;

    private int promisedItems;
    private int size; // of the store, to be read from anywhere
    private WaitList getters = new WaitList();
    private WaitList putters = new WaitList();
    private WaitList joiners = new WaitList();
    private final Wait.Hook getHook = this::abandonGet;
    private final Wait.Hook putHook = this::abandonPut;
    private final Wait.Hook joinHook = this::abandonJoin;

    // How many items came in, and for how many taskDone() was called, on the loop and by others; they only grow.
    private volatile long in;
    private volatile long done;
    private volatile long outsideDone;

    private final Home home = new Home() {
        @Override
        void settle() {
            wakeForOutside();
        }

        @Override
        void forsake() {
            if (capacity > 0) {
                ROOM.getAndAdd(AsyncQueue.this, promisedRoom);
            }
            promisedRoom = 0;
            promisedItems = 0;
            getters = new WaitList();
            putters = new WaitList();
            joiners = new WaitList();
        }
    };

    private int promisedRoom;

    /** A queue without a bound, first in, first out. */
    public AsyncQueue() {
        this(0);
    }

    /**
     * A queue, first in, first out.
     *
     * @param capacity the most items it holds; zero: no bound
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public AsyncQueue(int capacity) {
        this(capacity, new Store.Fifo<>());
    }

    private AsyncQueue(int capacity, Store<T> store) {
        if (capacity < 0) {
            throw new IllegalArgumentException("capacity must not be negative: " + capacity);
        }
        this.capacity = capacity;
        this.room = capacity;
        this.store = store;
    }

    /**
     * A queue that gives out the least item, and equal ones first in, first out.
     *
     * @param capacity the most items it holds; zero: no bound
     * @param order must not wait
     */
    public static <T> AsyncQueue<T> priority(int capacity, Comparator<? super T> order) {
        return new AsyncQueue<>(capacity, new Store.Least<T>(Objects.requireNonNull(order, "order")));
    }

    /** A queue without a bound that gives out the least item by its natural order, and equal ones first in, first out. */
    public static <T extends Comparable<? super T>> AsyncQueue<T> priority() {
        return priority(0, Comparator.<T>naturalOrder());
    }

    /**
     * A queue that gives out the newest item.
     *
     * @param capacity the most items it holds; zero: no bound
     */
    public static <T> AsyncQueue<T> lifo(int capacity) {
        return new AsyncQueue<>(capacity, new Store.Lifo<T>());
    }

    // ---- putting

    /**
     * Puts an item; waits while the queue is full. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled: the item has not been put
     * @throws QueueClosedException if it is closed: the item has not been put
     */
    public void put(T item) {
        put(item, Wait.FOREVER);
    }

    /**
     * Puts an item, or gives up after {@code timeout}: never both. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether it was put
     * @throws io.fastio.CancelledError if the task was cancelled: the item has not been put
     * @throws QueueClosedException if it is closed: the item has not been put
     */
    public boolean offer(T item, @Nullable Duration timeout) {
        return put(item, Home.deadline(timeout));
    }

    private boolean put(T item, long deadline) {
        Objects.requireNonNull(item, "item");
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        requireOpen();
        if (capacity > 0 && !(putters.isEmpty() && takeRoom())) {
            if (deadline == Home.NO_WAIT) {
                return false;
            }
            putters.add(me);
            if (Wait.suspend(putHook, null, deadline) == Wait.Reason.DEADLINE) {
                return false;
            }
            settle();
            requireOpen(); // closed: whatever it was promised
            promisedRoom--;
        }
        add(item);
        return true;
    }

    /**
     * Puts an item without waiting. Any thread.
     *
     * @throws IllegalStateException if the queue is full, or others wait for room
     * @throws QueueClosedException if it is closed
     */
    public void putNowait(T item) {
        Objects.requireNonNull(item, "item");
        boolean onLoop = home.isCurrent();
        if (onLoop) {
            settle();
        }
        requireOpen();
        if (capacity > 0 && !(putters.isEmpty() && takeRoom())) {
            throw new IllegalStateException("the queue is full: it holds " + capacity);
        }
        if (onLoop) {
            add(item);
            return;
        }
        Delivery below;
        do {
            below = outside;
            if (below != null && below.closes) {
                if (capacity > 0) {
                    ROOM.getAndAdd(this, 1);
                }
                throw new QueueClosedException();
            }
        } while (!OUTSIDE.compareAndSet(this, below, new Delivery(item, below)));
        home.ring();
    }

    private void add(T item) {
        boolean added = false;
        try {
            store.add(item);
            added = true;
        } finally {
            if (!added) { // the comparator threw
                giveRoom();
            }
        }
        size = store.size();
        IN.setRelease(this, in + 1);
        promiseItems();
    }

    private boolean takeRoom() {
        int r;
        do {
            r = room;
            if (r == 0) {
                return false;
            }
        } while (!ROOM.compareAndSet(this, r, r - 1));
        return true;
    }

    /** A place has become free. */
    private void giveRoom() {
        if (capacity > 0) {
            Task<?> next = putters.poll();
            if (next == null) {
                ROOM.getAndAdd(this, 1);
            } else {
                promisedRoom++;
                Wait.resume(next);
            }
        }
    }

    private boolean abandonPut(Task<?> task, boolean woken) {
        if (!woken) {
            putters.remove(task);
        } else if (!isClosed()) {
            promisedRoom--;
            giveRoom();
        }
        return true;
    }

    // ---- getting

    /**
     * Takes the next item; waits while there is none. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled: nothing has been taken
     * @throws QueueClosedException if it is closed, and empty
     */
    public T get() {
        return Objects.requireNonNull(get(Wait.FOREVER));
    }

    /**
     * Takes the next item, or gives up after {@code timeout}: never both. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return the item; null if none came
     * @throws io.fastio.CancelledError if the task was cancelled: nothing has been taken
     * @throws QueueClosedException if it is closed, and empty
     */
    public @Nullable T poll(@Nullable Duration timeout) {
        return get(Home.deadline(timeout));
    }

    private @Nullable T get(long deadline) {
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        if (isUnpromised()) {
            return take();
        }
        if (isClosed()) {
            throw new QueueClosedException();
        }
        if (deadline == Home.NO_WAIT) {
            return null;
        }
        do {
            getters.add(me);
            if (Wait.suspend(getHook, null, deadline) == Wait.Reason.DEADLINE) {
                return null;
            }
            boolean promised = !isClosed();
            boolean settled = false;
            try {
                settle();
                settled = true;
            } finally {
                if (promised) {
                    promisedItems--;
                    if (!settled) {
                        promiseItems();
                    }
                }
            }
            if (store.size() > 0) {
                return take();
            }
        } while (!isClosed()); // empty: a comparator refused the item that another thread had put
        throw new QueueClosedException();
    }

    /**
     * Takes the next item without waiting. For tasks and callbacks.
     *
     * @throws NoSuchElementException if there is none, or it is promised to a task that waits
     * @throws QueueClosedException if it is closed, and empty
     * @throws IllegalStateException outside a loop
     */
    public T getNowait() {
        home.enter(Asyncio.runningLoop());
        settle();
        if (isUnpromised()) {
            return take();
        }
        if (isClosed()) {
            throw new QueueClosedException();
        }
        throw new NoSuchElementException("the queue is empty");
    }

    /** Whether there is an item for a newcomer; once it is closed promises do not count any more. */
    private boolean isUnpromised() {
        int n = store.size();
        return n > promisedItems || n > 0 && isClosed();
    }

    private T take() {
        T item = store.take();
        size = store.size();
        giveRoom();
        return item;
    }

    /** Wakes as many of those who wait as there are items that nobody has been promised. */
    private void promiseItems() {
        int items = store.size() + waitingOutside();
        while (promisedItems < items && !getters.isEmpty()) {
            Task<?> next = Objects.requireNonNull(getters.poll());
            promisedItems++;
            Wait.resume(next);
        }
    }

    private boolean abandonGet(Task<?> task, boolean woken) {
        if (!woken) {
            getters.remove(task);
        } else if (!isClosed()) {
            promisedItems--;
            promiseItems();
        }
        return true;
    }

    // ---- what other threads did

    /** How many items other threads put that have not been moved over. */
    private int waitingOutside() {
        Delivery d = outside;
        return d == null ? 0 : d.items;
    }

    /** Moves over what other threads put. On the loop, for tasks and callbacks: it may run a comparator. */
    private void settle() {
        Delivery d = outside;
        if (d != null && d != CLOSED) {
            moveOver();
        }
    }

    private void moveOver() {
        Delivery newest;
        do {
            newest = Objects.requireNonNull(outside);
        } while (!OUTSIDE.compareAndSet(this, newest, newest.closes ? CLOSED : null));
        int n = newest.items;
        Object[] items = new Object[n];
        for (Delivery d = newest; d != null; d = d.below) {
            if (d.item != null) {
                items[--n] = d.item;
            }
        }
        RuntimeException refused = null;
        for (Object item : items) {
            try {
                @SuppressWarnings("unchecked") // by putNowait
                T t = (T) item;
                store.add(t);
                IN.setRelease(this, in + 1);
            } catch (RuntimeException e) { // the comparator: this item has no place, the others have
                refused = e;
                giveRoom();
            }
        }
        size = store.size();
        wakeForOutside();
        if (refused != null) {
            throw refused;
        }
    }

    /** On the loop, possibly on its carrier. */
    private void wakeForOutside() {
        promiseItems();
        if (isClosed()) {
            wakeAll(getters);
            wakeAll(putters);
        }
        wakeJoiners();
    }

    private static void wakeAll(WaitList waiters) {
        waiters.wakeAll();
    }

    // ---- closing

    /**
     * Closes it: putting is an error from now on, for those who wait to put too; getters take what is left, and then it is
     * an error for them as well. Any thread; does not wait; again: no effect.
     */
    public void close() {
        Delivery top;
        do {
            top = outside;
            if (top != null && top.closes) {
                return;
            }
        } while (!OUTSIDE.compareAndSet(this, top, top == null ? CLOSED : new Delivery(null, top)));
        home.ring();
    }

    /** Whether it was closed; there may be items left. Any thread. */
    public boolean isClosed() {
        Delivery d = outside;
        return d != null && d.closes;
    }

    private void requireOpen() {
        if (isClosed()) {
            throw new QueueClosedException();
        }
    }

    // ---- work done

    /**
     * Says that the work on one item that was taken is done. Any thread; does not wait.
     *
     * @throws IllegalStateException if it was called more often than items were put
     */
    public void taskDone() {
        if (home.isCurrent()) {
            settle();
            if (unfinished() <= 0) {
                throw tooOften();
            }
            DONE.setRelease(this, done + 1);
            wakeJoiners();
        } else {
            long d;
            do {
                d = outsideDone;
                if (unfinished() <= 0) {
                    throw tooOften();
                }
            } while (!OUTSIDE_DONE.compareAndSet(this, d, d + 1));
            home.ring();
        }
    }

    private static IllegalStateException tooOften() {
        return new IllegalStateException("taskDone() was called more often than items were put");
    }

    /**
     * Waits until {@link #taskDone} was called for every item put. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled
     */
    public void join() {
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        if (unfinished() > 0) {
            joiners.add(me);
            Wait.suspend(joinHook, null, Wait.FOREVER);
        }
    }

    private long unfinished() {
        long finished = done + outsideDone; // first: those that are put meanwhile do no harm
        return in - finished;
    }

    private void wakeJoiners() {
        if (!joiners.isEmpty() && waitingOutside() == 0 && unfinished() <= 0) {
            wakeAll(joiners);
        }
    }

    private boolean abandonJoin(Task<?> task, boolean woken) {
        if (!woken) {
            joiners.remove(task);
        }
        return true;
    }

    // ---- looking

    /** How many items it holds. Any thread. */
    public int size() {
        int more = waitingOutside(); // first: what is moved over meanwhile is counted twice rather than not at all
        return size + more;
    }

    /** Whether it holds no item. Any thread. */
    public boolean isEmpty() {
        return size() == 0;
    }

    /** Whether a {@code put} would have to wait. Any thread. */
    public boolean isFull() {
        return capacity > 0 && (room == 0 || !putters.isEmpty());
    }

    /** The most items it holds; zero: no bound. Any thread. */
    public int capacity() {
        return capacity;
    }

    /**
     * Takes items as {@link #get} does until the queue is closed and empty: {@code for (T item : queue) { … }}. For one
     * task; {@code hasNext} waits, and takes the item that {@code next} returns.
     */
    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private @Nullable T next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    try {
                        next = get();
                    } catch (QueueClosedException end) {
                        return false;
                    }
                }
                return true;
            }

            @Override
            public T next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("the queue is closed");
                }
                T item = Objects.requireNonNull(next);
                next = null;
                return item;
            }
        };
    }

    @Override
    public String toString() {
        return "AsyncQueue[" + size() + (capacity > 0 ? " of " + capacity : "") + " items, " + getters.size()
                + " getting, " + putters.size() + " putting" + (isClosed() ? ", closed]" : "]");
    }
}
