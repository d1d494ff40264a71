package io.fastio;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a task is made.
 *
 * @param name its name, or null for {@code task-N}
 * @param priority the class it runs in (S1)
 * @param deadline for URGENT tasks: time from becoming ready within which it wants to run; among URGENT ones the
 *     earliest deadline goes first, those without one after them (S6). Positive, or null for none
 */
public record TaskOptions(
        @Nullable String name, Priority priority, @Nullable Duration deadline) {
    private static final TaskOptions DEFAULT = new TaskOptions(null, Priority.NORMAL, null);

    public TaskOptions {
        Objects.requireNonNull(priority, "priority");
        if (deadline != null && (deadline.isZero() || deadline.isNegative())) {
            throw new IllegalArgumentException("deadline must be positive: " + deadline);
        }
    }

    /** A NORMAL task without a name of its own. */
    public static TaskOptions defaults() {
        return DEFAULT;
    }

    /** A NORMAL task of that name. */
    public static TaskOptions named(String name) {
        return DEFAULT.name(name);
    }

    /** A task of that class. */
    public static TaskOptions of(Priority priority) {
        return DEFAULT.priority(priority);
    }

    /** These options with that name. */
    public TaskOptions name(String name) {
        return new TaskOptions(Objects.requireNonNull(name, "name"), priority, deadline);
    }

    /** These options with that class. */
    public TaskOptions priority(Priority priority) {
        return new TaskOptions(name, priority, deadline);
    }

    /** These options with that deadline. */
    public TaskOptions deadline(Duration deadline) {
        return new TaskOptions(name, priority, Objects.requireNonNull(deadline, "deadline"));
    }
}
