package io.fastio.tools.demo;

import java.util.Optional;

/**
 * What one run of the load brought.
 *
 * @param timers how long the 30 ms timers took
 * @param echoes how long it took from request to reply
 * @param lowSteps steps of the task of least importance, a second
 */
record Measurement(Optional<Figures> timers, Optional<Figures> echoes, double lowSteps) {}
