package io.fastio.gpio;

import java.time.Duration;
import java.util.Objects;

/**
 * How a line is used as an input.
 *
 * @param bias default AS_IS
 * @param activeLow whether the levels are turned round: high in the program is low on the line; default false
 * @param debounce how long, in whole microseconds, the kernel (or the chip) waits for a level to last before it tells; zero: not
 *     at all (default); at most 70 minutes
 * @param wallClock whether timestamps are nanoseconds since 1970 instead of the machine's monotonic clock; default false
 */
public record InputOptions(Bias bias, boolean activeLow, Duration debounce, boolean wallClock) {
    private static final Duration LONGEST = Duration.ofMinutes(70);
    private static final InputOptions DEFAULT = new InputOptions(Bias.AS_IS, false, Duration.ZERO, false);

    public InputOptions {
        Objects.requireNonNull(bias, "bias");
        if (debounce.isNegative() || debounce.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("debounce must be zero to 70 minutes: " + debounce);
        }
    }

    /** The defaults. */
    public static InputOptions defaults() {
        return DEFAULT;
    }

    /** These options with that bias. */
    public InputOptions bias(Bias b) {
        return new InputOptions(b, activeLow, debounce, wallClock);
    }

    /** These options with {@code activeLow} as said. */
    public InputOptions activeLow(boolean on) {
        return new InputOptions(bias, on, debounce, wallClock);
    }

    /** These options with that debounce time. */
    public InputOptions debounce(Duration d) {
        return new InputOptions(bias, activeLow, d, wallClock);
    }

    /** These options with {@code wallClock} as said. */
    public InputOptions wallClock(boolean on) {
        return new InputOptions(bias, activeLow, debounce, on);
    }
}
