package io.fastio.serial;

/**
 * What the driver of a serial line has counted since it was loaded (F85).
 *
 * @param received bytes received
 * @param sent bytes sent
 * @param framingErrors bytes without a stop bit: noise, or another speed
 * @param parityErrors bytes with a wrong parity
 * @param overruns bytes that the hardware lost because the system was late
 * @param bufferOverruns bytes that the system lost because the program was late
 * @param breaks times that the line was held low
 */
public record SerialCounters(
        int received, int sent, int framingErrors, int parityErrors, int overruns, int bufferOverruns, int breaks) {
    /** Framing errors, parity errors and both kinds of overruns together. */
    public int errors() {
        return framingErrors + parityErrors + overruns + bufferOverruns;
    }

    /** What has been counted since {@code earlier}; right also if a counter went over the top of 32 bits. */
    public SerialCounters since(SerialCounters earlier) {
        return new SerialCounters(
                received - earlier.received,
                sent - earlier.sent,
                framingErrors - earlier.framingErrors,
                parityErrors - earlier.parityErrors,
                overruns - earlier.overruns,
                bufferOverruns - earlier.bufferOverruns,
                breaks - earlier.breaks);
    }
}
