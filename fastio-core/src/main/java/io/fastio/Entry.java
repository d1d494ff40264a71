package io.fastio;

import org.jspecify.annotations.Nullable;

/**
 * What can stand in the ready queues: a fiber with a step to run, or a callback. The links are fields of the entry, so
 * the queues have no capacity and allocate nothing.
 */
abstract class Entry extends Timed {
    @Nullable
    Entry previousReady;

    @Nullable
    Entry nextReady;

    /** Which of the {@link ReadyQueues} it stands in; {@link ReadyQueues#NONE} if in none. */
    byte readyIn = ReadyQueues.NONE;

    /** Time from becoming ready within which it wants to run (S6), nanoseconds; zero: no deadline. */
    long deadlineNanos() {
        return 0;
    }

    /** Runs it once; it is in no queue. On the loop's carrier. */
    abstract void runStep();
}
