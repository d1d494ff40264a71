package io.fastio;

/**
 * How often what happened in a loop since it was made. Taken from a running loop the numbers are as last seen, each for
 * itself.
 *
 * @param steps steps of tasks and callbacks
 * @param sleeps how often the loop slept for want of anything ready
 * @param wakes how many of these sleeps another thread ended: as many as calls to wake it (W1)
 * @param emptyTurns turns right after a sleep that found nothing to run
 * @param polls looks at readiness, waiting or not
 * @param coalesced raises of a {@link Signal} that merged into an earlier one: sets of events and flags, marks of workers,
 *     requests for background tasks
 */
public record LoopCounters(long steps, long sleeps, long wakes, long emptyTurns, long polls, long coalesced) {}
