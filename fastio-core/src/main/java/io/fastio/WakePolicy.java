package io.fastio;

/** When the loop sees what other threads ask of it (W2): a choice of each source. */
public enum WakePolicy {
    /** As soon as the step in progress is over; a sleeping loop is woken, once per sleep. The default. */
    AT_ONCE,
    /**
     * With the next wake of another source, or before the loop sleeps again, or at its next tick ({@link
     * EventLoop.Builder#tick}) at the latest: a sleeping loop is not woken for it. For chatty sources whose news can wait: many
     * of them then share one wake a tick.
     */
    BATCHED
}
