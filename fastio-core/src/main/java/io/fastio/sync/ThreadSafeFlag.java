package io.fastio.sync;

import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import io.fastio.WakePolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A flag that interrupt handlers, native upcalls and other threads set for one task (Y1): it stays set until a wait takes
 * it, which clears it; sets in between merge into one. Answers to MicroPython's class of this name. A second waiter
 * queues, and gets the next set.
 */
public final class ThreadSafeFlag {
    private final @Nullable Priority wakeClass;
    private final Flag flag = new Flag();
    private WaitList waiters = new WaitList();
    private final Wait.Hook hook = this::abandon;

    /** A waiter was woken and has not run yet: what is set meanwhile merges into its wake. */
    private boolean onItsWay;

    private final Home home;

    /** A flag that is not set; a wake makes a task ready in the task's own class. */
    public ThreadSafeFlag() {
        this(Priority.NORMAL);
    }

    /**
     * A flag that is not set.
     *
     * @param priority {@link Priority#URGENT}: it wakes every task as an URGENT one (S1); else in the task's own class
     */
    public ThreadSafeFlag(Priority priority) {
        this(priority, WakePolicy.AT_ONCE);
    }

    /**
     * A flag that is not set.
     *
     * @param priority {@link Priority#URGENT}: it wakes every task as an URGENT one (S1); else in the task's own class
     * @param policy how soon the loop sees a set from another thread (W2)
     */
    public ThreadSafeFlag(Priority priority, WakePolicy policy) {
        this.wakeClass = Objects.requireNonNull(priority, "priority") == Priority.URGENT ? priority : null;
        this.home = new Home(policy) {
            @Override
            void settle() {
                ThreadSafeFlag.this.settle();
            }

            @Override
            void forsake() {
                waiters = new WaitList();
                onItsWay = false;
            }
        };
    }

    /**
     * Waits until it is set, and clears it, in one. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled; a set that was on its way to it passes on
     */
    public void await() {
        await(Wait.FOREVER);
    }

    /**
     * Waits for at most {@code timeout}. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether it was set, and has been cleared
     * @throws io.fastio.CancelledError if the task was cancelled; a set that was on its way to it passes on
     */
    public boolean awaitWithin(@Nullable Duration timeout) {
        return await(Home.deadline(timeout));
    }

    private boolean await(long deadline) {
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        if (waiters.isEmpty() && flag.clear()) {
            return true;
        }
        if (deadline == Home.NO_WAIT) {
            return false;
        }
        waiters.add(me);
        if (Wait.suspend(hook, wakeClass, deadline) == Wait.Reason.DEADLINE) {
            return false;
        }
        onItsWay = false;
        return true;
    }

    /**
     * Sets it, and wakes the one that has waited longest. Any thread, native upcalls and signal handlers included; does
     * not wait; allocates nothing and takes no lock.
     */
    public void set() {
        if (home.isCurrent()) {
            setOnLoop();
        } else {
            flag.setOutside();
            home.ring();
        }
    }

    /** Clears it without waiting. Any thread. */
    public void clear() {
        flag.clear();
    }

    /** Whether it is set, and no waiter has taken it. Any thread. */
    public boolean isSet() {
        return flag.isSet();
    }

    private void settle() {
        if ((onItsWay || !waiters.isEmpty()) && flag.takeOutside()) {
            setOnLoop();
        }
    }

    private void setOnLoop() {
        if (onItsWay) {
            return;
        }
        Task<?> first = waiters.poll();
        if (first == null) {
            flag.setInside();
        } else {
            onItsWay = true;
            Wait.resume(first);
        }
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (woken) {
            onItsWay = false;
            setOnLoop();
        } else {
            waiters.remove(task);
        }
        return true;
    }

    @Override
    public String toString() {
        return "ThreadSafeFlag[" + (isSet() ? "set" : "not set") + ", " + waiters.size() + " waiting]";
    }
}
