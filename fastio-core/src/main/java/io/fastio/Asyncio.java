package io.fastio;

import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the running loop, under asyncio's names. Unless stated otherwise they are for tasks, and throw
 * {@link IllegalStateException} elsewhere (S13); those that wait throw {@link CancelledError} if the task is cancelled.
 */
public final class Asyncio {
    private Asyncio() {}

    // ---- running

    /**
     * Makes a loop, runs {@code main} in it as a task, ends the tasks that are left (S11), closes the loop and returns
     * main's value ({@code asyncio.run}). Ctrl-C cancels main, and the process then exits with 130 (G4). For threads
     * outside any loop; blocks.
     *
     * @throws Exception the very exception main ended with
     * @throws IllegalStateException inside a running loop, or where a JVM flag is missing
     */
    public static <T extends @Nullable Object> T run(Callable<T> main) throws Exception {
        Objects.requireNonNull(main, "main");
        if (hasRunningLoop()) {
            throw new IllegalStateException("Asyncio.run() cannot be called from a running event loop");
        }
        EventLoop loop = EventLoop.builder().handleInterrupt(true).build();
        try {
            return loop.runBeforeClose(main);
        } finally {
            loop.close();
        }
    }

    /** {@link #run(Callable)} for a body without a value. */
    public static void run(Action main) throws Exception {
        run(callable(Objects.requireNonNull(main, "main")));
    }

    static Callable<@Nullable Void> callable(Action body) {
        Objects.requireNonNull(body, "body");
        return () -> {
            body.run();
            return null;
        };
    }

    /**
     * The loop that runs the caller: a task, a callback, or a thread started inside one.
     *
     * @throws IllegalStateException elsewhere
     */
    public static EventLoop runningLoop() {
        EventLoop loop = EventLoop.currentOrNull();
        if (loop == null) {
            throw new IllegalStateException("no running event loop");
        }
        return loop;
    }

    /** Whether {@link #runningLoop()} would return one. Any thread. */
    public static boolean hasRunningLoop() {
        return EventLoop.currentOrNull() != null;
    }

    // ---- tasks

    /** Starts a task on the running loop; does not switch to it (S3). For tasks and callbacks; does not wait. */
    public static <T extends @Nullable Object> Task<T> createTask(Callable<T> body) {
        return runningLoop().createTask(body);
    }

    /** {@link #createTask(Callable)} with a name. */
    public static <T extends @Nullable Object> Task<T> createTask(String name, Callable<T> body) {
        return runningLoop().createTask(name, body);
    }

    /** {@link #createTask(Callable)} with options. */
    public static <T extends @Nullable Object> Task<T> createTask(TaskOptions options, Callable<T> body) {
        return runningLoop().createTask(options, body);
    }

    /** {@link #createTask(Callable)} for a body without a value. */
    public static Task<@Nullable Void> createTask(Action body) {
        return runningLoop().createTask(body);
    }

    /** {@link #createTask(Callable)} for a body without a value, with a name. */
    public static Task<@Nullable Void> createTask(String name, Action body) {
        return runningLoop().createTask(TaskOptions.named(name), body);
    }

    /** {@link #createTask(Callable)} for a body without a value, with options. */
    public static Task<@Nullable Void> createTask(TaskOptions options, Action body) {
        return runningLoop().createTask(options, body);
    }

    /** The task that calls. */
    public static Task<?> currentTask() {
        return LoopTask.current("currentTask()");
    }

    /** Whether the caller is a task, and so may wait. Any thread. */
    public static boolean inTask() {
        return LoopTask.currentOrNull() != null;
    }

    /** The tasks of the running loop that have not ended, oldest first. For tasks and callbacks. */
    public static Set<Task<?>> allTasks() {
        return runningLoop().live.all();
    }

    // ---- sleeping

    /** Sleeps for at least {@code d}; zero and less gives way once; what overflows is for ever (S3). */
    public static void sleep(Duration d) {
        sleepNanos(LoopClock.saturatedNanos(d));
    }

    /** {@link #sleep(Duration)} in milliseconds. Allocates nothing. */
    public static void sleepMs(long ms) {
        sleepNanos(nanosOfMs(ms));
    }

    /** {@link #sleep(Duration)} in nanoseconds. Allocates nothing. */
    public static void sleepNanos(long ns) {
        LoopTask.current().sleep(ns, null);
    }

    /** Gives way: goes to the end of its class, and on when all that is ready before it has run a step. */
    public static void yieldNow() {
        LoopTask.current().sleep(0, null);
    }

    /**
     * Sleeps for at least {@code d} and then goes on in class LOW: when nothing URGENT or NORMAL is ready (S4; {@code
     * after} of fast_io). Zero is a LOW yield.
     */
    public static void after(Duration d) {
        LoopTask.current().sleep(LoopClock.saturatedNanos(d), Priority.LOW);
    }

    /** {@link #after(Duration)} in milliseconds. Allocates nothing. */
    public static void afterMs(long ms) {
        LoopTask.current().sleep(nanosOfMs(ms), Priority.LOW);
    }

    private static long nanosOfMs(long ms) {
        return ms > Long.MAX_VALUE / 1_000_000 ? Long.MAX_VALUE : ms < 0 ? -1 : ms * 1_000_000;
    }

    /**
     * For long computations: lets what is more urgent than the caller run, if anything is due, and goes on before its
     * equals (B4). Costs a few nanoseconds if nothing is due; delivers a cancel.
     *
     * @return whether it gave way
     */
    public static boolean checkpoint() {
        return LoopTask.current("checkpoint()").checkpoint();
    }

    // ---- many at once

    /** A copy of what the caller gave as {@code name}, without nulls (S13). */
    static <E> List<E> checked(Collection<? extends E> given, String name) {
        Objects.requireNonNull(given, name);
        List<E> copy = new ArrayList<>(given.size());
        for (E e : given) {
            if (e == null) {
                throw new NullPointerException(name + "[" + copy.size() + "]");
            }
            copy.add(e);
        }
        return copy;
    }

    /**
     * Runs the bodies at once, each in a task of the caller's class, and returns their values in the order given. The
     * first exception is thrown at once, and the others go on; a cancel of the caller cancels them all and waits for them
     * (G1).
     */
    public static <T extends @Nullable Object> List<T> gather(List<? extends Callable<? extends T>> bodies)
            throws Exception {
        return Gather.values(bodies);
    }

    /** {@link #gather(List)}. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T extends @Nullable Object> List<T> gather(Callable<? extends T>... bodies) throws Exception {
        return Gather.values(Arrays.asList(Objects.requireNonNull(bodies, "bodies")));
    }

    /** As {@link #gather(List)}, but waits for all and returns how each ended ({@code return_exceptions=True}). */
    public static <T extends @Nullable Object> List<Outcome<T>> gatherOutcomes(
            List<? extends Callable<? extends T>> bodies) {
        return Gather.outcomes(bodies);
    }

    /**
     * Waits for tasks, which go on whatever happens: neither a timeout nor a cancel of the caller touches them, and no
     * exception is thrown for them ({@code asyncio.wait}). Their failures count as retrieved (G3).
     *
     * @param timeout null: no limit; zero or negative: only looks
     */
    public static <T extends @Nullable Object> Waited<T> wait(
            Collection<? extends Task<T>> tasks, ReturnWhen when, @Nullable Duration timeout) {
        return Completions.wait(
                checked(tasks, "tasks"), Objects.requireNonNull(when, "when"), Wait.deadlineIn(timeout));
    }

    /**
     * The tasks in the order in which they end: {@code for (Task<T> t : asCompleted(tasks)) { … t.await() … }}. Each step
     * waits for the next end; the tasks go on if the loop is left. Their failures count as retrieved (G3). To be iterated
     * once, by the task that calls.
     */
    public static <T extends @Nullable Object> Iterable<Task<T>> asCompleted(Collection<? extends Task<T>> tasks) {
        Completions<T> completions = new Completions<>(checked(tasks, "tasks"));
        return () -> completions;
    }

    /** Runs the bodies at once, each in a task of the caller's class, and returns their tasks as {@link #asCompleted(Collection)} does. */
    public static <T extends @Nullable Object> Iterable<Task<T>> asCompleted(
            List<? extends Callable<? extends T>> bodies) {
        TaskOptions options = TaskOptions.of(currentTask().priority());
        List<Callable<? extends T>> own = checked(bodies, "bodies");
        List<Task<T>> tasks = new ArrayList<>(own.size());
        for (Callable<? extends T> body : own) {
            tasks.add(createTask(options, () -> body.call()));
        }
        return asCompleted(tasks);
    }

    /**
     * Runs the bodies at once, each in a task of the caller's class, until the first one ended; cancels the others, waits
     * for them, and returns the first one's value or throws its exception. A failure in the cleanup of another one is
     * thrown, too.
     *
     * @throws IllegalArgumentException if there are no bodies
     */
    public static <T extends @Nullable Object> T firstCompleted(List<? extends Callable<? extends T>> bodies)
            throws Exception {
        return Completions.first(bodies);
    }

    /** {@link #firstCompleted(List)}. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T extends @Nullable Object> T firstCompleted(Callable<? extends T>... bodies) throws Exception {
        return Completions.first(Arrays.asList(Objects.requireNonNull(bodies, "bodies")));
    }

    /**
     * Runs {@code body} in the calling task for at most {@code timeout}; then what it waits for is cancelled, its cleanup
     * is waited for, and {@link TimeoutException} is thrown (T2). Scopes nest; only the one whose time is over reports
     * (T3).
     *
     * @param timeout null: no limit; zero or negative: the body runs to its first real wait (T1)
     */
    public static <T extends @Nullable Object> T waitFor(Callable<T> body, @Nullable Duration timeout)
            throws Exception {
        Objects.requireNonNull(body, "body");
        return Timeout.waitFor(body, timeout == null ? Long.MAX_VALUE : LoopClock.saturatedNanos(timeout));
    }

    /** {@link #waitFor(Callable, Duration)} for a body without a value. */
    public static void waitFor(Action body, @Nullable Duration timeout) throws Exception {
        waitFor(callable(body), timeout);
    }

    /** {@link #waitFor(Callable, Duration)} in milliseconds. */
    public static <T extends @Nullable Object> T waitForMs(Callable<T> body, long ms) throws Exception {
        Objects.requireNonNull(body, "body");
        return Timeout.waitFor(body, nanosOfMs(ms));
    }

    /** {@link #waitFor(Callable, Duration)} in milliseconds for a body without a value. */
    public static void waitForMs(Action body, long ms) throws Exception {
        waitForMs(callable(body), ms);
    }

    /**
     * Runs {@code body} in a task of its own and waits for it; a cancel of the caller ends the wait and leaves the body
     * alone (C5).
     */
    public static <T extends @Nullable Object> T shield(Callable<T> body) throws Exception {
        LoopTask<?> me = LoopTask.current();
        LoopTask<T> t = new LoopTask<>(me.loop, TaskOptions.of(me.priority()), Objects.requireNonNull(body, "body"));
        me.begin();
        t.start();
        return t.await(true);
    }

    /** Awaits {@code task}; a cancel of the caller ends the wait and leaves the task alone (C5). */
    public static <T extends @Nullable Object> T shield(Task<T> task) throws Exception {
        Objects.requireNonNull(task, "task");
        return ((LoopTask<T>) task).await(true);
    }

    /**
     * Runs {@code body} with a group for tasks that live no longer than it (G2).
     *
     * @return the body's value; null if the group was cancelled before it had one
     */
    public static <T extends @Nullable Object> @Nullable T taskGroup(TaskGroup.Body<T> body) throws Exception {
        return TaskGroup.run(Objects.requireNonNull(body, "body"));
    }

    /**
     * Runs {@code body} in a scope that can be cancelled by itself, level-wise (C8).
     *
     * @return the body's value; null if the scope was cancelled
     */
    public static <T extends @Nullable Object> @Nullable T cancelScope(CancelScope.Body<T> body) throws Exception {
        return CancelScope.run(Objects.requireNonNull(body, "body"));
    }

    /**
     * Has a platform thread run {@code blocking} and waits for its value ({@code asyncio.to_thread}). A cancel ends the
     * wait at once and interrupts the thread; work that ignores that is abandoned and reported (C2).
     */
    public static <T extends @Nullable Object> T offload(Callable<T> blocking) throws Exception {
        return Offload.run(Objects.requireNonNull(blocking, "blocking"));
    }
}
