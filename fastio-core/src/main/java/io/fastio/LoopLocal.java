package io.fastio;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One value for each loop, made when it is first asked for: what a thread-local is to threads. For buffers, pools and
 * registries that everything on a loop shares without locks. Make it once and keep it in a static field; a loop keeps its
 * values until it is collected itself, and closes those that are {@link AutoCloseable} when it is closed.
 */
public final class LoopLocal<T> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final int index = COUNT.getAndIncrement();
    private final Function<? super EventLoop, ? extends T> initial;

    /** @param initial makes the value of a loop; must not ask for the same value */
    public LoopLocal(Function<? super EventLoop, ? extends T> initial) {
        this.initial = Objects.requireNonNull(initial, "initial");
    }

    /**
     * The running loop's value. For tasks and callbacks; does not wait.
     *
     * @throws IllegalStateException outside a loop
     */
    @SuppressWarnings("unchecked") // the slot is this object's own
    public T get() {
        EventLoop loop = Asyncio.runningLoop();
        @Nullable Object[] values = loop.locals;
        if (index >= values.length) {
            values = Arrays.copyOf(values, Math.max(index + 1, COUNT.get()));
            loop.locals = values;
        }
        Object value = values[index];
        if (value == null) {
            value = Objects.requireNonNull(initial.apply(loop), "initial value");
            loop.locals[index] = value;
        }
        return (T) value;
    }
}
