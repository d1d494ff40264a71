package io.fastio;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Asyncio#wait} found.
 *
 * @param done the tasks that ended, in the order of their ends
 * @param pending the others, which go on
 */
public record Waited<T extends @Nullable Object>(Set<Task<T>> done, Set<Task<T>> pending) {
    public Waited {
        Objects.requireNonNull(done, "done");
        Objects.requireNonNull(pending, "pending");
    }
}
