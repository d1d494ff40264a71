package io.fastio.context;

import io.fastio.Action;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Work that an {@link AsyncContext} does whenever it was marked pending ({@code async_when_pending_worker}). Stays in its
 * context until it is removed; it is in at most one at a time.
 */
public final class WhenPendingWorker {
    private static final VarHandle PENDING;
    private static final VarHandle PLACE;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            PENDING = l.findVarHandle(WhenPendingWorker.class, "pending", boolean.class);
            PLACE = l.findVarHandle(WhenPendingWorker.class, "place", Place.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Where it stands: in the order of adding. */
    record Place(AsyncContext context, long order) {}

    private final Action work;
    private volatile @Nullable Place place;
    private volatile boolean pending;

    /** @param work what is to be done; on the loop, as a callback; what it throws is reported */
    public WhenPendingWorker(Action work) {
        this.work = Objects.requireNonNull(work, "work");
    }

    /** Whether it is in a context. Any thread. */
    public boolean isAdded() {
        return place != null;
    }

    /** Whether it has been marked and has not begun since. Any thread. */
    public boolean isPending() {
        return pending;
    }

    boolean enter(Place p) {
        return PLACE.compareAndSet(this, null, p);
    }

    boolean leave(Place p) {
        return PLACE.compareAndSet(this, p, null);
    }

    @Nullable
    Place place() {
        return place;
    }

    void mark() {
        pending = true;
    }

    /** Clears the mark; false if there is none. */
    boolean takeMark() {
        return pending && (boolean) PENDING.getAndSet(this, false);
    }

    Action work() {
        return work;
    }
}
