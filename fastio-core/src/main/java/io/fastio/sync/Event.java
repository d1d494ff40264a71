package io.fastio.sync;

import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import io.fastio.WakePolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Something that has happened, or has not yet, for any number of tasks (Y1). {@link #set} wakes all that wait, first in,
 * first out; {@link #clear} right after it still lets all of them go on, and no later wait. Answers to {@code
 * asyncio.Event}, and to MicroPython's, which only the loop may set.
 */
public final class Event {
    private static final VarHandle EPOCH;

    static {
        try {
            EPOCH = MethodHandles.lookup().findVarHandle(Event.class, "epoch", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final @Nullable Priority wakeClass;
    private final Flag flag = new Flag();
    private WaitList waiters = new WaitList();
    private final Wait.Hook hook = this::abandon;

    /**
     * How often other threads have set it. Everyone in {@link #waiters} came when it was {@link #seen}: a newcomer that
     * finds it changed first wakes those before it. So a set from outside wakes exactly those who waited, however late the
     * loop learns of it and whatever was cleared meanwhile.
     */
    private volatile long epoch;

    private long seen;
    private @Nullable List<Watcher> watchers;

    private final Home home;

    /** An event that is not set; a wake makes a task ready in the task's own class. */
    public Event() {
        this(Priority.NORMAL);
    }

    /**
     * An event that is not set.
     *
     * @param priority {@link Priority#URGENT}: it wakes every task as an URGENT one (S1); else in the task's own class
     */
    public Event(Priority priority) {
        this(priority, WakePolicy.AT_ONCE);
    }

    /**
     * An event that is not set.
     *
     * @param priority {@link Priority#URGENT}: it wakes every task as an URGENT one (S1); else in the task's own class
     * @param policy how soon the loop sees a set from another thread (W2)
     */
    public Event(Priority priority, WakePolicy policy) {
        this.wakeClass = Objects.requireNonNull(priority, "priority") == Priority.URGENT ? priority : null;
        this.home = new Home(policy) {
            @Override
            void settle() {
                Event.this.settle();
            }

            @Override
            void forsake() {
                waiters = new WaitList();
                watchers = null;
            }
        };
    }

    /**
     * Waits until it is set; returns at once, without a switch, if it is. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled
     */
    public void await() {
        await(Wait.FOREVER);
    }

    /**
     * Waits for at most {@code timeout}. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether it was set
     * @throws io.fastio.CancelledError if the task was cancelled
     */
    public boolean awaitWithin(@Nullable Duration timeout) {
        return await(Home.deadline(timeout));
    }

    private boolean await(long deadline) {
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        if (flag.isSet()) {
            return true;
        }
        if (deadline == Home.NO_WAIT) {
            return false;
        }
        waiters.add(me);
        return Wait.suspend(hook, wakeClass, deadline) == Wait.Reason.WOKEN;
    }

    /** Sets it and wakes all that wait. Any thread; does not wait; allocates nothing. Set already: no effect. */
    public void set() {
        if (home.isCurrent()) {
            flag.setInside();
            wakeAll();
        } else {
            flag.setOutside(); // before the epoch: who finds the new epoch, but not the flag, came after a clear
            EPOCH.getAndAdd(this, 1L);
            home.ring();
        }
    }

    /** Clears it: later waits wait. Any thread; does not wait. */
    public void clear() {
        flag.clear();
    }

    /** Whether it is set. Any thread. */
    public boolean isSet() {
        return flag.isSet();
    }

    private void settle() {
        long e = epoch;
        if (e != seen) {
            seen = e;
            wakeAll();
        }
    }

    private void wakeAll() {
        waiters.wakeAll();
        List<Watcher> w = watchers;
        if (w != null) {
            for (int i = 0; i < w.size(); i++) {
                w.get(i).wasSet();
            }
        }
    }

    /** Hears of every set while it watches; on the loop, possibly on its carrier. */
    interface Watcher {
        void wasSet();
    }

    /** Has {@code w} hear of sets from now on; returns whether it is set at present. For the task that will wait. */
    boolean watch(Task<?> me, Watcher w) {
        home.enter(me);
        settle();
        if (watchers == null) {
            watchers = new ArrayList<>(1);
        }
        watchers.add(w);
        return flag.isSet();
    }

    void unwatch(Watcher w) {
        if (watchers != null) {
            watchers.remove(w);
        }
    }

    int watching() {
        return watchers == null ? 0 : watchers.size();
    }

    /** {@link Priority#URGENT} if that is what it wakes with. */
    @Nullable
    Priority wakeClass() {
        return wakeClass;
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            waiters.remove(task);
        }
        return true;
    }

    @Override
    public String toString() {
        return "Event[" + (isSet() ? "set" : "not set") + ", " + waiters.size() + " waiting]";
    }
}
