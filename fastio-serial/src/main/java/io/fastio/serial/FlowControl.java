package io.fastio.serial;

/** How the receiver of a serial line stops the sender. */
public enum FlowControl {
    /** Not at all: bytes that come too fast are lost, and {@link SerialLine#counters} counts them as overruns. */
    NONE,
    /** By the lines RTS and CTS. */
    RTS_CTS,
    /** By the bytes 17 and 19 in the data, which cannot be sent as data then. */
    XON_XOFF
}
