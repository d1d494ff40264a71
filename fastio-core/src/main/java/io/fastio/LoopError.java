package io.fastio;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Something went wrong that no caller can be told of: an exception that nobody awaited (G3), a callback that threw, a
 * task that does not end. Goes to the loop's exception handler; without one it is logged by {@link System.Logger}
 * {@code io.fastio}: as a warning of one line if there is no exception, else as an error with the stack trace.
 *
 * @param message what happened, with the task's name
 * @param exception what was thrown, if that is what happened
 * @param task the task concerned, if there is one
 */
public record LoopError(
        String message,
        @Nullable Throwable exception,
        @Nullable Task<?> task) {
    public LoopError {
        Objects.requireNonNull(message, "message");
    }
}
