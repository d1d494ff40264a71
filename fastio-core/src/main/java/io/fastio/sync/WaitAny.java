package io.fastio.sync;

import io.fastio.Task;
import java.util.List;
import java.util.Objects;

/**
 * Waits for the first of several events and tasks (Y4). Made once and waited for any number of times, by one task at a
 * time. Answers to MicroPython's {@code WaitAny}.
 */
public final class WaitAny {
    private final Sources sources = new Sources();

    /** Waits for any of {@code events}. */
    public WaitAny(Event... events) {
        sources.addAll(events);
    }

    /** Adds an event. Before the first wait. */
    public WaitAny with(Event event) {
        sources.add(Objects.requireNonNull(event, "event"), event);
        return this;
    }

    /** Adds a message, which {@link #await} then returns. Before the first wait. */
    public WaitAny with(Message<?> message) {
        Objects.requireNonNull(message, "message");
        sources.add(message, message.event());
        return this;
    }

    /** Adds the end of a task, which {@link #await} then returns. Before the first wait. */
    public WaitAny with(Task<?> task) {
        sources.add(task);
        return this;
    }

    /**
     * Waits until one of them is set, or has ended; returns at once if one is. For tasks. A {@code set} with a {@code
     * clear} right behind it counts.
     *
     * @return the event, message or task; the first in the order of adding if there are several
     * @throws io.fastio.CancelledError if the task was cancelled
     * @throws IllegalStateException if nothing was added
     */
    public Object await() {
        return sources.awaitSome(1).getFirst();
    }

    /** Clears all events and messages. Any thread. */
    public void clear() {
        sources.clear();
    }

    /** Those that are set, or have ended, at present. Any thread. */
    public List<Object> happened() {
        return sources.happened();
    }
}
