package io.fastio.context;

import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.Wait;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One wait of whoever made it: a task gives its loop away, any other thread parks. Whoever grants it and whoever leaves it
 * settle by one compare-and-set which of the two it was, so a grant is never lost in a wait that is over.
 */
final class Waiter {
    private static final int WAITING = 0;
    private static final int GRANTED = 1;
    private static final int LEFT = 2;

    private static final Wait.Hook HOOK = (task, woken) -> true;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Waiter.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Thread thread = Thread.currentThread();
    private final @Nullable Task<?> task = Asyncio.inTask() ? Asyncio.currentTask() : null;

    /** Which wait of the task it is; written before a look at the state, read after a grant: one sees the other. */
    private volatile long ticket;

    private volatile int state = WAITING;

    /** For tasks: delivers a pending cancel before anything is taken (C3). */
    static void begin() {
        if (Asyncio.inTask()) {
            Wait.begin();
        }
    }

    /** Ends the wait; false if it is over. Any thread. */
    boolean grant() {
        if (!STATE.compareAndSet(this, WAITING, GRANTED)) {
            return false;
        }
        if (task != null) {
            Wait.resume(task, ticket);
        } else {
            LockSupport.unpark(thread);
        }
        return true;
    }

    boolean isGranted() {
        return state == GRANTED;
    }

    /**
     * Waits for the grant.
     *
     * @param clock on whose time {@code deadline} is
     * @param interruptible whether an interrupt of a thread that is no task ends the wait
     * @return whether it was granted; false: the deadline passed, or the thread was interrupted, and keeps that status
     * @throws io.fastio.CancelledError if the task was cancelled; it may have been granted nevertheless
     */
    boolean await(LongSupplier clock, long deadline, boolean interruptible) {
        boolean interrupted = false;
        try {
            while (state == WAITING) {
                long left = deadline == Wait.FOREVER ? Wait.FOREVER : deadline - clock.getAsLong();
                if (left <= 0) {
                    return !leave();
                }
                if (task != null) {
                    suspend(left);
                } else {
                    LockSupport.parkNanos(this, left);
                    if (Thread.interrupted()) {
                        interrupted = true;
                        if (interruptible) {
                            return !leave();
                        }
                    }
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void suspend(long left) {
        ticket = Wait.nextTicket();
        if (state != WAITING) {
            return;
        }
        boolean resumed = false;
        try {
            Wait.suspend(HOOK, null, left == Wait.FOREVER ? left : Wait.deadlineIn(left));
            resumed = true;
        } finally {
            if (!resumed) {
                leave();
            }
        }
    }

    /** Gives the wait up; false if it has been granted. */
    private boolean leave() {
        return STATE.compareAndSet(this, WAITING, LEFT);
    }
}
