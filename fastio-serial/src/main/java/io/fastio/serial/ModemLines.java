package io.fastio.serial;

/**
 * The lines beside the data lines of a serial port; true: asserted.
 *
 * @param cts clear to send; from the other side
 * @param dsr data set ready; from the other side
 * @param ring ring indicator; from the other side
 * @param carrier carrier detect; from the other side
 * @param dtr data terminal ready; ours
 * @param rts request to send; ours
 */
public record ModemLines(boolean cts, boolean dsr, boolean ring, boolean carrier, boolean dtr, boolean rts) {}
