package io.fastio.sync;

import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waiting, inside a lock, for a state that another task brings about (Y3): {@link #await} gives the lock back, waits for a
 * notification, and takes the lock again, first in, first out. The lock is held when it returns, always: also after a
 * cancel or a timeout, which wait for the lock first. Several conditions may share a lock. Answers to {@code
 * asyncio.Condition}; a notification needs no lock here, so that any thread can give one.
 */
public final class Condition {
    private static final long ALL = 1L << 32;
    private static final VarHandle NOTIFICATIONS;

    static {
        try {
            NOTIFICATIONS = MethodHandles.lookup().findVarHandle(Condition.class, "notifications", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Ends a wait that has a cancel to deliver. */
    private static final Wait.Hook CANCELLABLE = (task, woken) -> true;

    private final Lock lock;
    private WaitList waiters = new WaitList();

    /** Woken by {@link #signalAll}, and not run yet: these have nothing to pass on to later waits. */
    private WaitList wokenWithAll = new WaitList();

    private final Wait.Hook hook = this::abandon;

    /**
     * Notifications of other threads that the loop has not acted upon; in the upper half those for all. They are for the
     * {@link #waiters} of this moment: a newcomer first sees to it that they get them.
     */
    private volatile long notifications;

    private final Home home = new Home() {
        @Override
        void settle() {
            Condition.this.settle();
        }

        @Override
        void forsake() {
            waiters = new WaitList();
            wokenWithAll = new WaitList();
        }
    };

    /** The wait for the lock after the notification: it has to finish, whatever happens. */
    private final class Regain implements Wait.Hook {
        boolean struck;

        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            struck = true;
            return false;
        }

        @Override
        public void classChanged(Task<?> task, Priority before) {
            lock.classChanged(task, before);
        }
    }

    /** A condition with a lock of its own. */
    public Condition() {
        this(new Lock());
    }

    /** A condition of {@code lock}. */
    public Condition(Lock lock) {
        this.lock = Objects.requireNonNull(lock, "lock");
    }

    /** The lock. Any thread. */
    public Lock lock() {
        return lock;
    }

    /** {@link Lock#hold()} of the lock. For tasks. */
    public Guard hold() {
        return lock.hold();
    }

    /**
     * Gives the lock back, waits for a notification, and takes the lock again. For the task that holds the lock.
     *
     * @throws io.fastio.CancelledError if the task was cancelled; it holds the lock, and a notification that was on its
     *     way to it has passed on
     * @throws IllegalStateException if this task does not hold the lock
     */
    public void await() {
        await(Wait.FOREVER);
    }

    /**
     * {@link #await} for at most {@code timeout}, and then as long as it takes to get the lock.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether it was notified
     * @throws io.fastio.CancelledError if the task was cancelled; it holds the lock, and a notification that was on its
     *     way to it has passed on
     * @throws IllegalStateException if this task does not hold the lock
     */
    public boolean awaitWithin(@Nullable Duration timeout) {
        return await(Home.deadline(timeout));
    }

    /**
     * Waits, as often as it is notified, until {@code predicate} is true; looks at it first. For the task that holds the
     * lock.
     *
     * @param predicate called with the lock held
     * @throws io.fastio.CancelledError as {@link #await}
     * @throws IllegalStateException if this task does not hold the lock
     */
    public void awaitFor(BooleanSupplier predicate) {
        Objects.requireNonNull(predicate, "predicate");
        requireHeld(Wait.begin());
        while (!predicate.getAsBoolean()) {
            await();
        }
    }

    private boolean await(long deadline) {
        Task<?> me = Wait.begin();
        requireHeld(me);
        home.enter(me);
        settle();
        if (deadline == Home.NO_WAIT) {
            return false;
        }
        waiters.add(me);
        lock.release();
        boolean notified;
        try {
            notified = Wait.suspend(hook, null, deadline) == Wait.Reason.WOKEN;
        } catch (Throwable e) {
            regain(me);
            throw e;
        }
        boolean withAll = wokenWithAll.remove(me);
        if (regain(me)) { // cancelled meanwhile, but not before it had the lock
            if (notified && !withAll) {
                signal();
            }
            Wait.suspend(CANCELLABLE, null, 0);
        }
        return notified;
    }

    /** Takes the lock; returns whether a cancel had to wait for that. */
    private boolean regain(Task<?> me) {
        if (lock.take(me, CANCELLABLE, Home.NO_WAIT)) {
            return false;
        }
        Regain how = new Regain();
        lock.take(me, how, Wait.FOREVER);
        return how.struck;
    }

    private void requireHeld(Task<?> me) {
        if (lock.owner() != me) {
            throw new IllegalStateException(me.name() + " does not hold the lock of the condition");
        }
    }

    /** Notifies the one that has waited longest, if any. Any thread, with or without the lock; does not wait. */
    public void signal() {
        if (home.isCurrent()) {
            settle();
            wakeFirst();
        } else {
            NOTIFICATIONS.getAndAdd(this, 1L);
            home.ring();
        }
    }

    /** Notifies all that wait. Any thread, with or without the lock; does not wait. */
    public void signalAll() {
        if (home.isCurrent()) {
            settle();
            wakeAll();
        } else {
            NOTIFICATIONS.getAndAdd(this, ALL);
            home.ring();
        }
    }

    private void settle() {
        if (notifications != 0) {
            long n = (long) NOTIFICATIONS.getAndSet(this, 0L);
            if (n >= ALL) {
                wakeAll();
            }
            for (; n % ALL > 0 && !waiters.isEmpty(); n--) {
                wakeFirst();
            }
        }
    }

    private void wakeFirst() {
        Task<?> first = waiters.poll();
        if (first != null) {
            Wait.resume(first);
        }
    }

    private void wakeAll() {
        for (Task<?> t = waiters.poll(); t != null; t = waiters.poll()) {
            wokenWithAll.add(t);
            Wait.resume(t);
        }
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            waiters.remove(task);
        } else if (!wokenWithAll.remove(task)) {
            wakeFirst();
        }
        return true;
    }

    @Override
    public String toString() {
        return "Condition[" + lock + ", " + waiters.size() + " waiting for it]";
    }
}
