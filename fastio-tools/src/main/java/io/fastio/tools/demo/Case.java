package io.fastio.tools.demo;

import java.util.Locale;

/** One way to run the load. */
enum Case {
    FAIR("one fair queue", "everything in one fair queue"),
    URGENT("stream, timers URGENT", "the stream and the timers URGENT"),
    HOGS_LOW("hogs LOW", "the hogs LOW, the stream and the timers NORMAL"),
    CHECKPOINT("and hogs checkpoint()", "the stream and the timers URGENT, and the hogs call checkpoint()"),
    JDK("JDK's virtual threads", "the same program on the JDK's own virtual threads, with one carrier");

    private final String label;
    private final String description;

    Case(String label, String description) {
        this.label = label;
        this.description = description;
    }

    String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What is special about it, in at most 22 characters. */
    String label() {
        return label;
    }

    String description() {
        return description;
    }

    boolean isOnFastio() {
        return this != JDK;
    }

    /** Whether the stream and the timers go before everything else. */
    boolean isUrgent() {
        return this == URGENT || this == CHECKPOINT;
    }
}
