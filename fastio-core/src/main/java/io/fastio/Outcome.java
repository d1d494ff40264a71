package io.fastio;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a task ended, as a value ({@code gather(..., return_exceptions=True)} of asyncio).
 *
 * @param <T> the type of the task's value
 */
public sealed interface Outcome<T extends @Nullable Object> {
    /** It returned {@code value}. */
    record Success<T extends @Nullable Object>(T value) implements Outcome<T> {}

    /** It threw {@code exception}; an {@link Error} that is no exception stands as the cause of one. */
    record Failure<T extends @Nullable Object>(Exception exception) implements Outcome<T> {
        public Failure {
            Objects.requireNonNull(exception, "exception");
        }
    }

    /** It was cancelled. */
    record Cancelled<T extends @Nullable Object>() implements Outcome<T> {}
}
