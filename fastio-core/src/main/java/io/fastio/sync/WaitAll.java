package io.fastio.sync;

import io.fastio.Task;
import java.util.List;
import java.util.Objects;

/**
 * Waits for all of several events and tasks (Y4). Made once and waited for any number of times, by one task at a time.
 * Answers to MicroPython's {@code WaitAll}.
 */
public final class WaitAll {
    private final Sources sources = new Sources();

    /** Waits for all of {@code events}. */
    public WaitAll(Event... events) {
        sources.addAll(events);
    }

    /** Adds an event. Before the first wait. */
    public WaitAll with(Event event) {
        sources.add(Objects.requireNonNull(event, "event"), event);
        return this;
    }

    /** Adds a message. Before the first wait. */
    public WaitAll with(Message<?> message) {
        Objects.requireNonNull(message, "message");
        sources.add(message, message.event());
        return this;
    }

    /** Adds the end of a task. Before the first wait. */
    public WaitAll with(Task<?> task) {
        sources.add(task);
        return this;
    }

    /**
     * Waits until each of them has been set, or has ended: is so when the wait begins, or becomes so during it. For tasks.
     *
     * @throws io.fastio.CancelledError if the task was cancelled
     * @throws IllegalStateException if nothing was added
     */
    public void await() {
        var _ = sources.awaitSome(sources.size());
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
