package io.fastio;

/**
 * The classes of service (S1), most urgent first. A waiting task becomes ready in one of them.
 */
public enum Priority {
    /** Before every other step: at most the one in progress comes first (S6). */
    URGENT,
    /** One fair first-in-first-out round after another (S2). The default. */
    NORMAL,
    /** One step at a time, and only while nothing else is ready (S4). */
    LOW;

    /** The more urgent of the two. */
    Priority orUrgenter(Priority other) {
        return ordinal() <= other.ordinal() ? this : other;
    }
}
