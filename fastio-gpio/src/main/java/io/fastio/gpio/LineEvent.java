package io.fastio.gpio;

import io.fastio.device.Edge;

/**
 * A change of a line, as the kernel saw it.
 *
 * @param line its number
 * @param edge the change
 * @param timestampNanos when the interrupt came, in nanoseconds: of the machine's monotonic clock, whose zero is not the loop
 *     clock's, or since 1970, as the line was requested
 * @param sequence counts the changes of this line from 1 on
 * @param missed changes directly before this one that the kernel had no room for
 */
public record LineEvent(int line, Edge edge, long timestampNanos, int sequence, int missed) {}
