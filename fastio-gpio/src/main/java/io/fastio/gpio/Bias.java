package io.fastio.gpio;

/** What holds an input that nothing drives. */
public enum Bias {
    /** Whatever was set before. */
    AS_IS,
    /** A resistor to the supply: high when nothing drives it. */
    PULL_UP,
    /** A resistor to ground: low when nothing drives it. */
    PULL_DOWN,
    /** Nothing: it floats. */
    NONE
}
