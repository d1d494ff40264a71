package io.fastio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What another thread can post to a loop: a set of signals on an object. Signals of one object that the loop has not
 * seen yet coalesce, so a source, however chatty, has at most one place in the inbox (W1) and posting allocates nothing.
 */
abstract class Posted {
    private static final VarHandle SIGNALS;

    static {
        try {
            SIGNALS = MethodHandles.lookup().findVarHandle(Posted.class, "signals", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Link of the inbox; belongs to the inbox between push and delivery. */
    @Nullable
    Posted nextPosted;

    private volatile int signals;

    /** Acts on the signals that came since the last delivery. On the loop. */
    abstract void deliver(int signals);

    /** Adds signals. True if the object must now be pushed, which is the caller's to do. Any thread. */
    final boolean addSignals(int bits) {
        return (int) SIGNALS.getAndBitwiseOr(this, bits) == 0;
    }

    /** Takes all signals; from here on the object may be pushed anew. */
    final int takeSignals() {
        return (int) SIGNALS.getAndSet(this, 0);
    }
}
