package io.fastio;

import io.fastio.carrier.Carrier;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Work under way where the loop cannot see it: offloaded, and JDK calls that its fibers, and threads that libraries started
 * on it, are in. It holds virtual time (V1). Loop only.
 */
final class Elsewhere {
    /** How long offloaded work that was cancelled may take to obey before it is reported. */
    static final Duration GRACE = Duration.ofSeconds(1);

    private int offloaded;
    private int blocked;
    private final Set<Offload<?>> strays = new LinkedHashSet<>();

    // Threads that libraries started, by their continuations; on virtual time only.
    private final Set<Runnable> queuedThreads = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Runnable> parkedThreads = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Offloaded work begins (+1) or has come back (-1). */
    void offloaded(int change) {
        offloaded += change;
    }

    /** A fiber is in a JDK call (+1), or can go on (-1). */
    void blocked(int change) {
        blocked += change;
    }

    /** Offloaded work that was cancelled and has not come back. */
    Set<Offload<?>> strays() {
        return strays;
    }

    /** The thread of {@code step} stands in a queue of the loop. */
    void threadQueued(Runnable step) {
        parkedThreads.remove(step);
        queuedThreads.add(step);
    }

    /** Its step begins. */
    void threadRuns(Runnable step) {
        queuedThreads.remove(step);
    }

    /** Its step is over: it ended, gave way (and is queued already), or a JDK call has parked it. */
    void threadLeft(Runnable step) {
        if (!queuedThreads.contains(step)) {
            Thread t = Carrier.threadOf(step);
            if (t != null && t.isAlive()) {
                parkedThreads.add(step);
            }
        }
    }

    /** Whether virtual time stands still; what nobody waits for any more counts only at the end of the loop. */
    boolean holdsTime(boolean closing) {
        return offloaded > 0 || blocked > 0 || !parkedThreads.isEmpty() || closing && !strays.isEmpty();
    }
}
