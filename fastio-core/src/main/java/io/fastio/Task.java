package io.fastio;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Something that runs on a loop while others wait: a virtual thread of that loop, and a {@link Future} of its value.
 * Answers to {@code asyncio.Task}.
 *
 * @param <T> the type of its value
 */
public sealed interface Task<T extends @Nullable Object> extends Future<T> permits LoopTask {
    /**
     * Waits until it ended and returns its value, or throws the very exception it ended with. For tasks, of this or
     * another loop. Any number of tasks may await it, any number of times; a cancel of the waiting one passes on to this
     * task if nobody else waits for it (C5).
     *
     * @throws CancelledError if it, or the waiting task, was cancelled
     * @throws IllegalStateException outside a task, and where tasks, of one loop or several, would await each other in a circle (S12)
     */
    T await() throws Exception;

    /**
     * Cancels it: whatever it waits for ends at once with {@link CancelledError} (C2). Before its first run the body
     * never runs. Any thread; does not wait.
     *
     * @return false if it had ended already, and nothing happens (C1)
     */
    boolean cancel();

    /** Same as {@link #cancel()}: a task in a blocking JDK call is always interrupted. */
    @Override
    default boolean cancel(boolean mayInterruptIfRunning) {
        return cancel();
    }

    /** Whether it ended, in whatever way. Any thread. */
    boolean done();

    /** Whether it ended by being cancelled. Any thread. */
    boolean cancelled();

    @Override
    default boolean isDone() {
        return done();
    }

    @Override
    default boolean isCancelled() {
        return cancelled();
    }

    /**
     * What it ended with, or null if it returned a value; counts as having retrieved it (G3). Any thread.
     *
     * @throws IllegalStateException if it has not ended
     * @throws CancelledError if it was cancelled
     */
    @Nullable
    Throwable exception();

    /** Its name: given by its maker, or {@code task-N}. Any thread. */
    String name();

    /** The class it was made with. Any thread. */
    Priority priority();

    /**
     * Has {@code callback} called with this task on the loop once it ended, in the order of adding; at the next round if
     * it has ended already. What the callback throws goes to the loop's exception handler. Any thread.
     */
    void addDoneCallback(Consumer<? super Task<T>> callback);

    /**
     * Takes back one {@link #addDoneCallback} of {@code callback}; one that is on its way is still called. Any thread.
     */
    void removeDoneCallback(Consumer<? super Task<T>> callback);

    /**
     * Waits for the value from any thread: a task gives its loop away, another thread blocks.
     *
     * @throws ExecutionException around what it ended with
     * @throws java.util.concurrent.CancellationException if it was cancelled
     */
    @Override
    T get() throws InterruptedException, ExecutionException;

    @Override
    T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException;
}
