package io.fastio.gpio;

import java.util.Objects;

/**
 * How a line is used as an output.
 *
 * @param high its first level; default false
 * @param drive default PUSH_PULL
 * @param activeLow whether the levels are turned round: high in the program is low on the line; default false
 */
public record OutputOptions(boolean high, Drive drive, boolean activeLow) {
    private static final OutputOptions DEFAULT = new OutputOptions(false, Drive.PUSH_PULL, false);

    public OutputOptions {
        Objects.requireNonNull(drive, "drive");
    }

    /** The defaults. */
    public static OutputOptions defaults() {
        return DEFAULT;
    }

    /** These options with that first level. */
    public OutputOptions high(boolean on) {
        return new OutputOptions(on, drive, activeLow);
    }

    /** These options with that drive. */
    public OutputOptions drive(Drive d) {
        return new OutputOptions(high, d, activeLow);
    }

    /** These options with {@code activeLow} as said. */
    public OutputOptions activeLow(boolean on) {
        return new OutputOptions(high, drive, on);
    }
}
