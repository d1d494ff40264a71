package io.fastio.sync;

import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Mutual exclusion over waits (Y2): handed from its holder straight to the one that has waited longest, so nobody
 * barges in and nobody is woken in vain. Not re-entrant. While tasks wait, the holder runs in the class of the most
 * urgent of them (priority inheritance, along chains of locks too), so that no third task comes between. Answers to
 * {@code asyncio.Lock}.
 *
 * <p>Between two waits a task has the loop to itself; a lock is needed only around a section that waits.
 */
public final class Lock {
    private static final int FREE = 0;
    private static final int HELD = 1;

    /** Released; the loop has yet to hand it over. */
    private static final int GIVEN_UP = 2;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Lock.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Written by the loop alone, but for HELD to GIVEN_UP, which is whoever releases it, by compare-and-set. */
    private volatile int state;

    private @Nullable Task<?> owner;
    private WaitList waiters = new WaitList();

    // Priority inheritance: how many wait in each class, each counted in the class that it has now, and the class that
    // the owner has been lent on their account; LOW is none. Every change is O(1).
    private int urgentWaiters;
    private int normalWaiters;
    private Priority lent = Priority.LOW;

    private final Guard guard = this::release;

    private final Wait.Hook hook = new Wait.Hook() {
        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            leave(task, woken);
            return true;
        }

        @Override
        public void classChanged(Task<?> task, Priority before) {
            Lock.this.classChanged(task, before);
        }
    };

    private final Home home = new Home() {
        @Override
        void settle() {
            Lock.this.settle();
        }

        @Override
        void forsake() {
            waiters = new WaitList();
            urgentWaiters = 0;
            normalWaiters = 0;
            lent = Priority.LOW;
            owner = null;
            state = FREE;
        }
    };

    /** A free lock. */
    public Lock() {}

    /**
     * Waits until it is this task's turn, and takes the lock. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled; the lock, if it was on its way, has passed on
     * @throws IllegalStateException if this task holds it already
     */
    public void acquire() {
        acquire(Wait.FOREVER);
    }

    /**
     * Acquires, or gives up after {@code timeout}: never both. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether the lock is now held
     * @throws io.fastio.CancelledError if the task was cancelled; the lock, if it was on its way, has passed on
     * @throws IllegalStateException if this task holds it already
     */
    public boolean acquireWithin(@Nullable Duration timeout) {
        return acquire(Home.deadline(timeout));
    }

    /**
     * Acquires if that needs no wait. For tasks; does not wait.
     *
     * @throws IllegalStateException if this task holds it already
     */
    public boolean tryAcquire() {
        return acquire(Home.NO_WAIT);
    }

    private boolean acquire(long deadline) {
        Task<?> me = Wait.begin();
        return take(me, hook, deadline);
    }

    /** Acquires after a wait on something else, which has begun already; {@code how} may refuse to be cancelled. */
    boolean take(Task<?> me, Wait.Hook how, long deadline) {
        home.enter(me);
        settle();
        if (state == FREE) {
            owner = me;
            STATE.setRelease(this, HELD);
            return true;
        }
        if (owner == me) {
            throw new IllegalStateException(me.name() + " holds the lock already: it is not re-entrant");
        }
        if (deadline == Home.NO_WAIT) {
            return false;
        }
        waiters.add(me);
        count(Wait.effectivePriority(me), 1);
        adjustLoan();
        return Wait.suspend(how, null, deadline) == Wait.Reason.WOKEN;
    }

    /** Acquires, and has the guard release: {@code try (var held = lock.hold()) { … }}. Allocates nothing. */
    public Guard hold() {
        acquire();
        return guard;
    }

    /**
     * Releases it: hands it to the one that has waited longest, which then holds it. Any task or thread, whoever holds
     * it; does not wait.
     *
     * @throws IllegalStateException if it is free
     */
    public void release() {
        if (home.isCurrent()) {
            releaseOnLoop();
        } else if (STATE.compareAndSet(this, HELD, GIVEN_UP)) {
            home.ring();
        } else {
            throw notHeld();
        }
    }

    /** Another thread may release at this moment: whoever makes it GIVEN_UP has released it, the other one has not. */
    private void releaseOnLoop() {
        do {
            settle();
            if (state == FREE) {
                throw notHeld();
            }
        } while (!STATE.compareAndSet(this, HELD, GIVEN_UP));
        handOver();
    }

    private static IllegalStateException notHeld() {
        return new IllegalStateException("release of a lock that is not held");
    }

    /** Whether it is held, or handed over to a task that has not run yet. Any thread. */
    public boolean locked() {
        int s = state;
        return s == HELD || s == GIVEN_UP && !waiters.isEmpty();
    }

    /** The task that holds it; null if it is free. On the loop; from elsewhere as last seen. */
    public @Nullable Task<?> owner() {
        return state == HELD ? owner : null;
    }

    private void settle() {
        if (state == GIVEN_UP) {
            handOver();
        }
    }

    private void handOver() {
        Task<?> old = owner;
        if (lent != Priority.LOW && old != null) {
            Priority back = lent;
            lent = Priority.LOW;
            Wait.takeBack(old, back);
        }
        Task<?> next = waiters.poll();
        owner = next;
        if (next == null) {
            STATE.setRelease(this, FREE);
            return;
        }
        if (state != HELD) {
            state = HELD;
        }
        count(Wait.effectivePriority(next), -1);
        Wait.resume(next);
        adjustLoan();
    }

    void leave(Task<?> task, boolean woken) {
        if (woken) {
            settle();
            if (owner == task) {
                handOver();
            }
        } else if (waiters.remove(task)) {
            count(Wait.effectivePriority(task), -1);
            adjustLoan();
        }
    }

    /** A waiter was lent a class, or lost it: it waits for this lock while others wait for what it holds. */
    void classChanged(Task<?> task, Priority before) {
        if (waiters.contains(task)) {
            count(before, -1);
            count(Wait.effectivePriority(task), 1);
            adjustLoan();
        }
    }

    private void count(Priority p, int change) {
        switch (p) {
            case URGENT -> urgentWaiters += change;
            case NORMAL -> normalWaiters += change;
            case LOW -> {}
        }
    }

    private void adjustLoan() {
        Task<?> holder = owner;
        Priority due = urgentWaiters > 0 ? Priority.URGENT : normalWaiters > 0 ? Priority.NORMAL : Priority.LOW;
        Priority before = lent;
        if (holder == null || due == before) {
            return;
        }
        lent = due;
        if (due != Priority.LOW) {
            Wait.lend(holder, due);
        }
        if (before != Priority.LOW) {
            Wait.takeBack(holder, before);
        }
    }

    @Override
    public String toString() {
        Task<?> o = owner();
        return "Lock[" + (o != null ? "held by " + o.name() : locked() ? "held" : "free") + ", " + waiters.size()
                + " waiting]";
    }
}
