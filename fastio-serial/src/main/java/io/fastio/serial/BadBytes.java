package io.fastio.serial;

/** What becomes of bytes that arrive with a wrong parity or without a stop bit. They are counted in any case. */
public enum BadBytes {
    /** They are delivered as they came. */
    KEEP,
    /** They are dropped. */
    DROP,
    /** A zero is delivered in the place of each. */
    ZERO,
    /**
     * The bytes 255, 0 and the bad one are delivered, and 255, 255 for a good 255; for protocols that look for themselves. Where
     * the system cannot do that, opening the port fails.
     */
    MARK
}
