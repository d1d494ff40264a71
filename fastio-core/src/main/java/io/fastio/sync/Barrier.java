package io.fastio.sync;

import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A meeting point (Y3): tasks wait until so many have arrived, then all go on, and the next round begins. A waiter that
 * is cancelled, or whose time is over, has not arrived; the others wait on for somebody in its place. Answers to {@code
 * asyncio.Barrier}.
 */
public final class Barrier {
    private static final VarHandle OUTSIDE;

    static {
        try {
            OUTSIDE = MethodHandles.lookup().findVarHandle(Barrier.class, "outside", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** One use of the barrier: numbers its members as they go on. */
    private static final class Round {
        int members;
    }

    private final int parties;
    private int arrived;
    private Round round = new Round();
    private WaitList waiters = new WaitList();
    private final Wait.Hook hook = this::abandon;

    /** Arrivals of other threads that the loop has not counted. */
    private volatile int outside;

    private final Home home = new Home() {
        @Override
        void settle() {
            Barrier.this.settle();
        }

        @Override
        void forsake() {
            waiters = new WaitList();
            arrived = 0;
        }
    };

    /**
     * A barrier.
     *
     * @param parties how many have to arrive; one or more
     * @throws IllegalArgumentException if {@code parties} is zero or negative
     */
    public Barrier(int parties) {
        if (parties < 1) {
            throw new IllegalArgumentException("parties must be one or more: " + parties);
        }
        this.parties = parties;
    }

    /**
     * Arrives, and waits for the others. For tasks. The last one does not wait.
     *
     * @return a number from zero to {@code parties - 1}, another one for each of a round; the last to arrive gets {@code
     *     parties - 1}
     * @throws io.fastio.CancelledError if the task was cancelled; if the round was not complete, it has not arrived
     */
    public int await() {
        return await(Wait.FOREVER);
    }

    /**
     * {@link #await} for at most {@code timeout}. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return whether the round was completed; if not, this task has not arrived
     * @throws io.fastio.CancelledError if the task was cancelled; if the round was not complete, it has not arrived
     */
    public boolean awaitWithin(@Nullable Duration timeout) {
        return await(Home.deadline(timeout)) >= 0;
    }

    private int await(long deadline) {
        Task<?> me = Wait.begin();
        home.enter(me);
        settle();
        if (arrived == parties - 1) {
            arrived = parties;
            complete();
            return parties - 1;
        }
        if (deadline == Home.NO_WAIT) {
            return -1;
        }
        Round mine = round;
        arrived++;
        waiters.add(me);
        return Wait.suspend(hook, null, deadline) == Wait.Reason.WOKEN ? mine.members++ : -1;
    }

    /** Arrives without waiting, in place of a task. Any thread. */
    public void arrive() {
        OUTSIDE.getAndAdd(this, 1);
        home.ring();
    }

    /** How many have to arrive. Any thread. */
    public int parties() {
        return parties;
    }

    /** How many have arrived in this round. On the loop; from elsewhere as last seen. */
    public int arrived() {
        if (home.isCurrent()) {
            settle();
        }
        return arrived;
    }

    private void settle() {
        if (outside != 0) {
            arrived += (int) OUTSIDE.getAndSet(this, 0);
            complete();
        }
    }

    private void complete() {
        while (arrived >= parties) {
            arrived -= parties;
            round = new Round();
            waiters.wakeAll();
        }
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            waiters.remove(task);
            arrived--;
        }
        return true;
    }

    @Override
    public String toString() {
        return "Barrier[" + arrived + " of " + parties + " arrived]";
    }
}
