package io.fastio.sync;

import io.fastio.Priority;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An event that carries something (Y4). A waiter gets what was set last when it goes on; {@link #clear} lets later waits
 * wait, and takes nothing from those that were woken.
 *
 * @param <T> the type of what it carries, which is never null
 */
public final class Message<T> {
    private final Event event;
    private volatile @Nullable T value;

    /** A message that is not set; a wake makes a task ready in the task's own class. */
    public Message() {
        this(Priority.NORMAL);
    }

    /**
     * A message that is not set.
     *
     * @param priority {@link Priority#URGENT}: it wakes every task as an URGENT one (S1); else in the task's own class
     */
    public Message(Priority priority) {
        this.event = new Event(priority);
    }

    /**
     * Waits until it is set; returns at once, without a switch, if it is. For tasks.
     *
     * @return what was set last
     * @throws io.fastio.CancelledError if the task was cancelled
     */
    public T await() {
        event.await();
        return value();
    }

    /**
     * Waits for at most {@code timeout}. For tasks.
     *
     * @param timeout null: no limit; zero or negative: does not wait
     * @return what was set last; null if nothing was
     * @throws io.fastio.CancelledError if the task was cancelled
     */
    public @Nullable T awaitWithin(@Nullable Duration timeout) {
        return event.awaitWithin(timeout) ? value() : null;
    }

    /** Sets it, in place of what was set before, and wakes all that wait. Any thread; does not wait. */
    public void set(T newValue) {
        value = java.util.Objects.requireNonNull(newValue, "newValue");
        event.set();
    }

    /** Lets later waits wait. Any thread; does not wait. */
    public void clear() {
        event.clear();
    }

    /** Whether it is set. Any thread. */
    public boolean isSet() {
        return event.isSet();
    }

    /**
     * What was set last, also if it has been cleared since. Any thread.
     *
     * @throws IllegalStateException if nothing ever was
     */
    public T value() {
        T v = value;
        if (v == null) {
            throw new IllegalStateException("the message was never set");
        }
        return v;
    }

    /** The event that is set when it is: for {@link WaitAny} and {@link WaitAll}. */
    public Event event() {
        return event;
    }

    @Override
    public String toString() {
        return "Message[" + (isSet() ? "set" : "not set") + ", " + value + "]";
    }
}
