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
    private static final VarHandle PLACE;

    static {
        try {
            PLACE = MethodHandles.lookup().findVarHandle(WhenPendingWorker.class, "place", Place.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Where it stands, in the order of adding, and its mark: a later place has a mark of its own. */
    static final class Place {
        private static final VarHandle PENDING;

        static {
            try {
                PENDING = MethodHandles.lookup().findVarHandle(Place.class, "pending", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        final AsyncContext context;
        final long order;
        private final WhenPendingWorker worker;
        private volatile boolean pending;

        Place(AsyncContext context, long order, WhenPendingWorker worker) {
            this.context = context;
            this.order = order;
            this.worker = worker;
        }

        Action work() {
            return worker.work;
        }

        /** Has its worker leave it; false if that has left already. */
        boolean leave() {
            return worker.leave(this);
        }

        void mark() {
            pending = true;
        }

        boolean isMarked() {
            return pending;
        }

        /** Clears the mark; false if there is none. */
        boolean takeMark() {
            return pending && (boolean) PENDING.getAndSet(this, false);
        }
    }

    private final Action work;
    private volatile @Nullable Place place;

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
        Place p = place;
        return p != null && p.isMarked();
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
}
