package io.fastio.tools.demo;

import java.util.Optional;

/**
 * What one run of the load brought.
 *
 * @param timers how long the 30 ms timers took
 * @param echoes what the client measured
 * @param longestGap nanoseconds for which the hogs were kept from running at most, see {@link Gaps}; 0 where unknown
 * @param lowSteps steps of the task of least importance, a second
 */
record Measurement(Optional<Figures> timers, Echoes echoes, long longestGap, double lowSteps) {}
