package io.fastio.sync;

import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A number of permits (Y3), handed out first in, first out: a permit that comes back goes to the one that has waited
 * longest. Answers to {@code asyncio.Semaphore}.
 */
public sealed class Semaphore permits BoundedSemaphore {
    private static final VarHandle PERMITS;

    static {
        try {
            PERMITS = MethodHandles.lookup().findVarHandle(Semaphore.class, "permits", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int bound;

    /** Free permits. Compare-and-set by everybody, since a release must know at once whether it is one too many. */
    private volatile int permits;

    private WaitList waiters = new WaitList();
    private final Wait.Hook hook = this::abandon;
    private final Guard guard = this::release;

    private final Home home = new Home() {
        @Override
        void settle() {
            Semaphore.this.settle();
        }

        @Override
        void forsake() {
            waiters = new WaitList();
        }
    };

    /**
     * A semaphore.
     *
     * @param permits zero or more
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public Semaphore(int permits) {
        this(permits, Integer.MAX_VALUE);
    }

    Semaphore(int permits, int bound) {
        if (permits < 0) {
            throw new IllegalArgumentException("permits must not be negative: " + permits);
        }
        this.permits = permits;
        this.bound = bound;
    }

    /**
     * Waits for a permit and takes it. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled; the permit, if it was on its way, has passed on
     */
    public final void acquire() {
        acquire(Wait.FOREVER);
    }

    /**
     * Acquires, or gives up after {@code timeout}: never both. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether a permit was taken
     * @throws io.fastio.CancelledError if the task was cancelled; the permit, if it was on its way, has passed on
     */
    public final boolean acquireWithin(@Nullable Duration timeout) {
        return acquire(Home.deadline(timeout));
    }

    private boolean acquire(long deadline) {
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        if (waiters.isEmpty() && take()) {
            return true;
        }
        if (deadline == Home.NO_WAIT) {
            return false;
        }
        waiters.add(me);
        return Wait.suspend(hook, null, deadline) == Wait.Reason.WOKEN;
    }

    /** Takes a permit if one is free and nobody waits for it. Any thread; does not wait. */
    public final boolean tryAcquire() {
        if (home.isCurrent()) {
            settle();
        }
        return waiters.isEmpty() && take();
    }

    /** Acquires, and has the guard release: {@code try (var held = semaphore.hold()) { … }}. Allocates nothing. */
    public final Guard hold() {
        acquire();
        return guard;
    }

    /**
     * Gives a permit back: to the one that has waited longest, if any. Any thread; does not wait.
     *
     * @throws IllegalStateException if there would be more permits than the bound; nothing has changed
     */
    public final void release() {
        releaseMany(1);
    }

    /**
     * Gives {@code n} permits back. Any thread; does not wait.
     *
     * @param n zero or more
     * @throws IllegalStateException if there would be more permits than the bound; nothing has changed
     * @throws IllegalArgumentException if {@code n} is negative
     */
    public final void releaseMany(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("n must not be negative: " + n);
        }
        boolean onLoop = home.isCurrent();
        if (onLoop) {
            settle();
            if (n == 1 && bound > 0 && permits == 0 && !waiters.isEmpty()) {
                handToFirst(); // past the counter
                return;
            }
        }
        int p;
        do {
            p = permits;
            if (n > bound - p) {
                throw new IllegalStateException(
                        "release of " + n + " where " + p + " of at most " + bound + " permits are free");
            }
        } while (!PERMITS.compareAndSet(this, p, p + n));
        if (onLoop) {
            settle();
        } else {
            home.ring();
        }
    }

    /** How many permits are free. Any thread. */
    public final int availablePermits() {
        return permits;
    }

    /** Whether an {@code acquire} would have to wait. Any thread. */
    public final boolean locked() {
        return permits == 0 || !waiters.isEmpty();
    }

    private boolean take() {
        int p;
        do {
            p = permits;
            if (p == 0) {
                return false;
            }
        } while (!PERMITS.compareAndSet(this, p, p - 1));
        return true;
    }

    private void settle() {
        while (!waiters.isEmpty() && take()) {
            handToFirst();
        }
    }

    private void handToFirst() {
        Task<?> first = waiters.poll();
        if (first != null) {
            Wait.resume(first);
        }
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            waiters.remove(task);
        } else if (waiters.isEmpty()) {
            PERMITS.getAndAdd(this, 1);
        } else {
            handToFirst();
        }
        return true;
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + "[" + permits + " free, " + waiters.size() + " waiting]";
    }
}
