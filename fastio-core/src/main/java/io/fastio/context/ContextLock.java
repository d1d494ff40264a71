package io.fastio.context;

import io.fastio.EventLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A recursive lock for tasks and foreign threads alike. Its owner is a thread; a task's is its virtual one. Nobody spins
 * and no lock of the JDK is taken, so a release may come from wherever the owner runs.
 *
 * <p>A release wakes the one that has waited longest, but hands nothing over: whoever comes first takes it. So a host
 * thread that wants the lock between two polls never finds it reserved for work that only its own next poll could do.
 */
final class ContextLock {
    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(ContextLock.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop loop;
    private final Waiters waiters = new Waiters();
    private volatile @Nullable Thread owner;

    /** How often its owner has taken it. The owner's. */
    private int depth;

    ContextLock(EventLoop loop) {
        this.loop = loop;
    }

    boolean isMine() {
        return owner == Thread.currentThread();
    }

    /** How often the caller, its owner, has taken it. */
    int depth() {
        return depth;
    }

    /** Takes it if it is free; not recursively. */
    boolean tryAcquire() {
        if (OWNER.compareAndSet(this, null, Thread.currentThread())) {
            depth = 1;
            return true;
        }
        return false;
    }

    /**
     * Takes it, and waits while another one has it.
     *
     * @return false if {@code deadline} passed
     * @throws io.fastio.CancelledError if the task was cancelled; it was not taken
     */
    boolean acquire(long deadline) {
        if (isMine()) {
            depth++;
            return true;
        }
        return waiters.await(this::tryAcquire, loop::time, deadline, false);
    }

    /**
     * Gives one level back.
     *
     * @return whether that was the outermost one
     * @throws IllegalStateException if the caller does not own it
     */
    boolean release() {
        if (!isMine()) {
            throw new IllegalStateException("the lock is " + (owner == null ? "free" : "held by " + owner)
                    + " and cannot be released by " + Thread.currentThread());
        }
        if (--depth > 0) {
            return false;
        }
        owner = null;
        waiters.wakeNext();
        return true;
    }
}
