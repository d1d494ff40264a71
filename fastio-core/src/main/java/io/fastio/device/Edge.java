package io.fastio.device;

/** A change of a pin. */
public enum Edge {
    /** From low to high. */
    RISING,
    /** From high to low. */
    FALLING
}
