package io.fastio.context;

import io.fastio.Action;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Work that an {@link AsyncContext} does once, at a moment given when it is added ({@code async_at_time_worker}). Make it
 * once and add it as often as wanted; it is in at most one context at a time.
 */
public final class AtTimeWorker {
    private static final VarHandle PLACE;

    static {
        try {
            PLACE = MethodHandles.lookup().findVarHandle(AtTimeWorker.class, "place", Place.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Where it stands: its moment, then the order of adding.
     *
     * @param due nanoseconds of the loop's clock
     */
    record Place(AsyncContext context, long due, long order) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int byTime = Long.compare(due, other.due);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private final Action work;
    private volatile @Nullable Place place;

    /** @param work what is to be done; on the loop, as a callback; what it throws is reported */
    public AtTimeWorker(Action work) {
        this.work = Objects.requireNonNull(work, "work");
    }

    /** Whether it is in a context, waiting for its moment. Any thread. */
    public boolean isAdded() {
        return place != null;
    }

    boolean enter(Place p) {
        return PLACE.compareAndSet(this, null, p);
    }

    /** Takes it out of that place; false if it is not there any more. Whoever takes it out decides what becomes of it. */
    boolean leave(Place p) {
        return PLACE.compareAndSet(this, p, null);
    }

    @Nullable
    Place place() {
        return place;
    }

    Action work() {
        return work;
    }
}
