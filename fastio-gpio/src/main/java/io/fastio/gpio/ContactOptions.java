package io.fastio.gpio;

import java.time.Duration;

/**
 * How a contact, of a switch or a button, is connected.
 *
 * @param debounce for how long after a change further changes are the contact's bouncing; zero: none are; default 50 ms
 * @param closedHigh whether a closed contact makes the pin high; default false: it connects the pin to ground, and a resistor
 *     pulls it up otherwise
 * @param doubleTime for how long after a button's release a second press makes a double click; positive, default 400 ms
 * @param longTime for how long a button is pressed to make it a long press; positive, default 1 s
 */
public record ContactOptions(Duration debounce, boolean closedHigh, Duration doubleTime, Duration longTime) {
    private static final ContactOptions DEFAULT =
            new ContactOptions(Duration.ofMillis(50), false, Duration.ofMillis(400), Duration.ofSeconds(1));

    public ContactOptions {
        if (debounce.isNegative() || !doubleTime.isPositive() || !longTime.isPositive()) {
            throw new IllegalArgumentException(
                    "debounce must not be negative, doubleTime and longTime must be positive");
        }
    }

    /** The defaults. */
    public static ContactOptions defaults() {
        return DEFAULT;
    }

    /** These options with that debounce time. */
    public ContactOptions debounce(Duration d) {
        return new ContactOptions(d, closedHigh, doubleTime, longTime);
    }

    /** These options with {@code closedHigh} as said. */
    public ContactOptions closedHigh(boolean on) {
        return new ContactOptions(debounce, on, doubleTime, longTime);
    }

    /** These options with that time for a double click. */
    public ContactOptions doubleTime(Duration d) {
        return new ContactOptions(debounce, closedHigh, d, longTime);
    }

    /** These options with that time for a long press. */
    public ContactOptions longTime(Duration d) {
        return new ContactOptions(debounce, closedHigh, doubleTime, d);
    }
}
