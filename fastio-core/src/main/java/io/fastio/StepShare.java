package io.fastio;

import io.fastio.time.LoopClock;

/**
 * S14: how much a task may do in one step by operations that are satisfied at once, before one of them gives way: so many,
 * or for so long a time. Looking at the clock for each would cost more than they do: quick ones share a look, slow ones,
 * and those of steps that may be long, have one each. One for each loop, as one step runs at a time. Loop only.
 */
final class StepShare {
    private static final int OPERATIONS = 256;
    private static final int OPERATIONS_PER_LOOK = 16;
    private static final int FIRST_LOOK = 4;
    private static final long NANOS = 1_000_000;
    private static final long UNKNOWN = -1;

    private final Scheduler scheduler;
    private final LoopClock clock;
    private int operations;
    private int nextLook;
    private long since;
    private boolean usedUp;

    StepShare(Scheduler scheduler, LoopClock clock) {
        this.scheduler = scheduler;
        this.clock = clock;
    }

    /** A step begins. */
    void begin() {
        operations = 0;
        nextLook = 1; // the rest with the first operation: most steps have none
    }

    /** Counts an operation; true if it is time to {@link #look}. */
    boolean takesOperation() {
        return ++operations >= nextLook;
    }

    /**
     * Looks whether the share is used up.
     *
     * @param slow whether the operations of the task have been slow so far
     * @return whether they are
     */
    boolean look(boolean slow) {
        usedUp = false;
        if (operations == 1) {
            since = UNKNOWN;
            if (!slow && !scheduler.areStepsLong()) {
                nextLook = FIRST_LOOK;
                return false;
            }
        }
        long now = clock.nanos();
        if (since == UNKNOWN) {
            since = scheduler.stepBegan(now);
        }
        long elapsed = now - since;
        boolean areSlow = elapsed > NANOS / OPERATIONS_PER_LOOK;
        usedUp = operations >= OPERATIONS || elapsed > NANOS;
        nextLook =
                areSlow ? operations + 1 : Math.min(OPERATIONS, operations + Math.min(operations, OPERATIONS_PER_LOOK));
        return areSlow;
    }

    boolean isUsedUp() {
        return usedUp;
    }
}
