package io.fastio.gpio;

/** How an output drives its line. */
public enum Drive {
    /** To both levels. */
    PUSH_PULL,
    /** To low only; high is left to a resistor. */
    OPEN_DRAIN,
    /** To high only; low is left to a resistor. */
    OPEN_SOURCE
}
