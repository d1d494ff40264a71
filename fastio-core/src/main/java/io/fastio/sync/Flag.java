package io.fastio.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A sticky flag in two halves: the loop's own costs it no atomic operation, the others' one does, but only while it is
 * set. Clearing takes both; what another thread wrote before it set the flag is visible to whoever clears it, so a set
 * that merges into an earlier one loses nothing.
 */
final class Flag {
    private static final VarHandle INSIDE;
    private static final VarHandle OUTSIDE;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            INSIDE = l.findVarHandle(Flag.class, "inside", boolean.class);
            OUTSIDE = l.findVarHandle(Flag.class, "outside", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // by INSIDE
    private boolean inside;

    private volatile boolean outside;

    /** Any thread. */
    boolean isSet() {
        return (boolean) INSIDE.getAcquire(this) || outside;
    }

    /** On the loop. */
    void setInside() {
        INSIDE.setRelease(this, true);
    }

    /** Any thread. */
    void setOutside() {
        outside = true;
    }

    /** Clears it; returns whether it was set. Any thread. */
    boolean clear() {
        boolean was = (boolean) INSIDE.getAcquire(this);
        if (was) {
            INSIDE.setRelease(this, false);
        }
        return outside && (boolean) OUTSIDE.getAndSet(this, false) || was;
    }

    /** Takes what other threads set; returns whether they did. */
    boolean takeOutside() {
        return outside && (boolean) OUTSIDE.getAndSet(this, false);
    }
}
