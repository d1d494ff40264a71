package io.fastio;

import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The extension point: the one way for a task to wait, on which every lock, event, queue and stream is built, and on
 * which users build primitives of their own (Trio's {@code wait_task_rescheduled}). A wait allocates nothing.
 *
 * <p>The protocol, all of it on the loop, where a task has everything to itself between two waits:
 *
 * <pre>{@code
 * Task<?> me = Wait.begin();           // delivers a pending cancel before anything is taken (C3)
 * if (free) { free = false; return; }  // satisfied at once: no switch
 * waiters.add(me);                     // your own bookkeeping; WaitList is one that allocates nothing
 * Wait.suspend(hook, null, Wait.FOREVER);
 * }</pre>
 *
 * and whoever ends the wait takes the task out of the bookkeeping and calls {@link #resume(Task)}. A wake from another
 * thread goes through a {@link Signal}, which brings it to the loop, or through {@link #resume(Task, long)}.
 *
 * Should the JDK hold the task up between its bookkeeping and the suspending (a contended lock, a class being loaded), the loop
 * goes on, and a wake that comes then is remembered: {@link #suspend} returns at once.
 *
 * <p>A task is resumed once per wait, for one reason: woken, deadline, or cancelled.
 */
public final class Wait {
    /** As a deadline: never. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** Why a wait ended. A cancelled one ends by {@link CancelledError}. */
    public enum Reason {
        /** {@link Wait#resume} was called. */
        WOKEN,
        /** The deadline passed first; the hook has been called. */
        DEADLINE
    }

    /**
     * How the owner of a wait learns that it ends otherwise than by a wake. Called on the loop, possibly on its carrier
     * thread: it must be short, take no lock, start no thread, log nothing, and throw nothing.
     */
    @FunctionalInterface
    public interface Hook {
        /**
         * The wait of {@code task} is to end by a cancel or a deadline.
         *
         * @param woken false: take the task out of your bookkeeping. True: it was resumed but has not run yet, and now
         *     will not take what it was woken for: pass that on to the next one, or put it back (C6).
         * @return whether the wait ends. False refuses a cancel (not a deadline): the wait goes on, and the cancel stays
         *     pending; for waits that have to finish, such as that for the children of a group.
         */
        boolean abandon(Task<?> task, boolean woken);

        /**
         * The class of {@code task}, which is in this wait, has changed from {@code before} because somebody lent it one or
         * took it back ({@link Wait#lend}): for locks, which pass it on to their holder (Y2).
         */
        default void classChanged(Task<?> task, Priority before) {}
    }

    private Wait() {}

    /**
     * Begins a waiting operation of the current task: delivers a pending cancel, and gives way if the task has had its
     * share of operations that were satisfied at once (S14). To be called before anything is taken.
     *
     * @return the current task
     * @throws CancelledError if the task was cancelled, and nothing was taken
     * @throws IllegalStateException outside a task
     */
    public static Task<?> begin() {
        LoopTask<?> me = LoopTask.current();
        me.begin();
        return me;
    }

    /**
     * Begins an operation of the current task that takes effect at once and is no wait, such as a write: delivers a pending
     * cancel, and does not give way, so that between what the caller looked at and the effect nothing else runs. Ends with
     * {@link #endAtOnce}.
     *
     * @return the current task
     * @throws CancelledError if the task was cancelled, and nothing was done
     * @throws IllegalStateException outside a task
     */
    public static Task<?> beginAtOnce() {
        LoopTask<?> me = LoopTask.current();
        me.beginAtOnce();
        return me;
    }

    /**
     * Ends what {@link #beginAtOnce} began: gives way if the task has had its share of such operations (S14). A cancel that
     * comes meanwhile stays pending, since what has been done has been done (C6).
     */
    public static void endAtOnce() {
        LoopTask.current().endAtOnce();
    }

    /**
     * Suspends the current task until it is resumed.
     *
     * @param hook told when the wait ends by a cancel or a deadline
     * @param wakeClass class in which a wake makes the task ready if it is more urgent than the task's own (S1);
     *     {@link Priority#LOW} is that of {@code after}; null: the task's own
     * @param deadlineNanos moment of {@link EventLoop#time()}, or {@link #FOREVER}
     * @throws CancelledError if it was cancelled; the hook has been called
     * @throws IllegalStateException outside a task, or where the thread is pinned (a native frame or a class
     *     initialiser on the stack)
     */
    public static Reason suspend(Hook hook, @Nullable Priority wakeClass, long deadlineNanos) {
        return LoopTask.current().suspend(Objects.requireNonNull(hook, "hook"), wakeClass, deadlineNanos);
    }

    /**
     * Names the next wait of the current task, for {@link #resume(Task, long)}: to be called between {@link #begin} and
     * {@link #suspend}. A wake that comes before the task suspends is remembered, and that call then returns at once.
     */
    public static long nextTicket() {
        return LoopTask.current().nextTicket();
    }

    /**
     * Wakes a task that waits. For the loop of the task (a task or a {@link Signal}); constant time, no atomics.
     *
     * @return false if the task is in no wait, or has been resumed already
     */
    public static boolean resume(Task<?> task) {
        LoopTask<?> t = (LoopTask<?>) Objects.requireNonNull(task, "task");
        t.loop.checkOwner(t);
        return t.wakeIfWaiting();
    }

    /**
     * Wakes a task from the wait that {@code ticket} names, be it in that wait or about to begin it; a late wake hits no
     * later wait. Any thread.
     */
    public static void resume(Task<?> task, long ticket) {
        Objects.requireNonNull(task, "task");
        ((LoopTask<?>) task).wakeFromAnywhere(ticket);
    }

    /**
     * Whether a cancel or a deadline has ended the wait that {@code task} is in, and the task has yet to learn of it. What
     * it waited for may be given to somebody else (C2). On the loop.
     */
    public static boolean isGivenUp(Task<?> task) {
        Objects.requireNonNull(task, "task");
        return ((LoopTask<?>) task).isGivenUp();
    }

    /**
     * Lends a task a class until {@link #takeBack}: while somebody more urgent waits for what the task holds, it must not
     * be held up by those in between (Y2). Loans add up; the most urgent one counts. On the loop.
     */
    public static void lend(Task<?> task, Priority priority) {
        LoopTask<?> t = (LoopTask<?>) Objects.requireNonNull(task, "task");
        t.loop.checkOwner(t);
        t.lend(Objects.requireNonNull(priority, "priority"), 1);
    }

    /** Ends one loan of {@link #lend}. On the loop. */
    public static void takeBack(Task<?> task, Priority priority) {
        LoopTask<?> t = (LoopTask<?>) Objects.requireNonNull(task, "task");
        t.loop.checkOwner(t);
        t.lend(Objects.requireNonNull(priority, "priority"), -1);
    }

    /** The class in which {@code task} runs at present: its own, or a more urgent one lent to it. On the loop. */
    public static Priority effectivePriority(Task<?> task) {
        Objects.requireNonNull(task, "task");
        return ((LoopTask<?>) task).effectivePriority();
    }

    /** The loop of a task. Any thread. */
    public static EventLoop loopOf(Task<?> task) {
        Objects.requireNonNull(task, "task");
        return ((LoopTask<?>) task).loop;
    }

    /**
     * The moment {@code timeout} from now on the current loop's clock; null, and what overflows, is {@link #FOREVER}.
     */
    public static long deadlineIn(@Nullable Duration timeout) {
        return timeout == null ? FOREVER : deadlineIn(LoopClock.saturatedNanos(timeout));
    }

    /** The moment {@code nanos} from now on the current loop's clock; what overflows is {@link #FOREVER}. */
    public static long deadlineIn(long nanos) {
        return LoopClock.saturatedSum(LoopTask.current().loop.time(), Math.max(0, nanos));
    }
}
