package io.fastio.gpio;

/** What happens to a {@link PushButton}. */
public enum ButtonEvent {
    /** It is pressed; told at once. */
    PRESS,
    /** It is released; told at once. */
    RELEASE,
    /** It was pressed briefly, once; told when the time for a second press is over. */
    CLICK,
    /** It is pressed the second time in a row; told at once, after its PRESS. */
    DOUBLE,
    /** It has been held down for long; told while it still is. */
    LONG
}
