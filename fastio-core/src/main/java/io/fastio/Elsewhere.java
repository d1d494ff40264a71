package io.fastio;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Work under way where the loop cannot see it: offloaded, and JDK calls that its fibers are in. It holds virtual time
 * (V1). Loop only.
 */
final class Elsewhere {
    private int offloaded;
    private int blocked;
    private final Set<Offload<?>> strays = new LinkedHashSet<>();

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

    /** Whether virtual time stands still; what nobody waits for any more counts only at the end of the loop. */
    boolean holdsTime(boolean closing) {
        return offloaded > 0 || blocked > 0 || closing && !strays.isEmpty();
    }
}
