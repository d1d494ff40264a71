package io.fastio;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Waiting tasks, first in, first out. The links are fields of the task, so a list allocates nothing and a task leaves it
 * in constant time; a task is in one list at a time, since it waits for one thing at a time. For one loop: a task
 * of another one is refused beside those that wait, and in debug mode whoever takes a task out from elsewhere.
 */
public final class WaitList {
    private static final Wait.Hook LEAVE = (task, woken) -> {
        WaitList list = ((LoopTask<?>) task).waitList;
        if (list != null) {
            list.remove(task);
        }
        return true;
    };

    private @Nullable LoopTask<?> first;
    private @Nullable LoopTask<?> last;
    private int size;

    /** An empty list. */
    public WaitList() {}

    /** Appends a task that is in no list. */
    public void add(Task<?> task) {
        LoopTask<?> t = (LoopTask<?>) Objects.requireNonNull(task, "task");
        if (t.waitList != null) {
            throw new IllegalStateException(t.name() + " is in a wait list already");
        }
        LoopTask<?> l = last;
        if (l != null && l.loop != t.loop) {
            l.loop.requireCurrent(l);
        }
        t.waitList = this;
        t.previousWaiter = l;
        if (l == null) {
            first = t;
        } else {
            l.nextWaiter = t;
        }
        last = t;
        size++;
    }

    /** Takes a task out; false if it is not in this list. */
    public boolean remove(Task<?> task) {
        LoopTask<?> t = (LoopTask<?>) Objects.requireNonNull(task, "task");
        if (t.waitList != this) {
            return false;
        }
        t.loop.checkOwner(t);
        LoopTask<?> p = t.previousWaiter;
        LoopTask<?> n = t.nextWaiter;
        if (p == null) {
            first = n;
        } else {
            p.nextWaiter = n;
        }
        if (n == null) {
            last = p;
        } else {
            n.previousWaiter = p;
        }
        t.previousWaiter = null;
        t.nextWaiter = null;
        t.waitList = null;
        size--;
        return true;
    }

    /** Whether a task is in this list. */
    public boolean contains(Task<?> task) {
        Objects.requireNonNull(task, "task");
        return ((LoopTask<?>) task).waitList == this;
    }

    /** The one that has waited longest, or null; it stays. */
    public @Nullable Task<?> peek() {
        return first;
    }

    /** Takes out the one that has waited longest, or null. */
    public @Nullable Task<?> poll() {
        LoopTask<?> t = first;
        if (t != null) {
            remove(t);
        }
        return t;
    }

    /** The one behind {@code task}, which is in this list, or null. */
    public @Nullable Task<?> after(Task<?> task) {
        Objects.requireNonNull(task, "task");
        return ((LoopTask<?>) task).nextWaiter;
    }

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return first == null;
    }

    /**
     * Waits in this list, behind those who are in it, until somebody takes the task out and resumes it. For the current
     * task, which has {@linkplain Wait#begin begun} the operation before it looked whether it has to wait at all; look
     * again afterwards.
     *
     * @param wakeClass as for {@link Wait#suspend}
     * @param deadlineNanos moment of {@link EventLoop#time()}, or {@link Wait#FOREVER}
     * @throws CancelledError if it was cancelled; it has left the list
     */
    public Wait.Reason await(@Nullable Priority wakeClass, long deadlineNanos) {
        add(LoopTask.current());
        return Wait.suspend(LEAVE, wakeClass, deadlineNanos);
    }

    /** Takes all tasks out and resumes them, first in, first out. */
    public void wakeAll() {
        for (Task<?> t = poll(); t != null; t = poll()) {
            Wait.resume(t);
        }
    }
}
