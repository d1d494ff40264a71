package io.fastio;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * What another thread can post to a loop: a set of signals on an object. Signals of one object that the loop has not
 * seen yet coalesce, so a source, however chatty, has at most one place in the inbox (W1) and posting allocates nothing.
 */
abstract class Posted {
    // Field updaters and not var handles: as fast, and there at once in a young JVM.
    private static final AtomicIntegerFieldUpdater<Posted> SIGNALS =
            AtomicIntegerFieldUpdater.newUpdater(Posted.class, "signals");

    /** Link of the inbox; belongs to the inbox between push and delivery. */
    @Nullable
    Posted nextPosted;

    private volatile int signals;

    /** Acts on the signals that came since the last delivery. On the loop. */
    abstract void deliver(int signals);

    /** Adds signals. True if the object must now be pushed, which is the caller's to do. Any thread. */
    final boolean addSignals(int bits) {
        while (true) {
            int before = signals;
            // Also if nothing changes: what the caller wrote before must be seen by the delivery that is to come.
            if (SIGNALS.compareAndSet(this, before, before | bits)) {
                return before == 0;
            }
        }
    }

    /** Whether signals wait for their delivery. Any thread. */
    final boolean hasSignals() {
        return signals != 0;
    }

    /** Takes all signals; from here on the object may be pushed anew. */
    final int takeSignals() {
        return SIGNALS.getAndSet(this, 0);
    }
}
