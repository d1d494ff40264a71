package io.fastio.tools.demo;

import java.time.Duration;

/**
 * How long a run of the load lasts.
 *
 * @param leadIn how long the load runs before anything is measured
 * @param measured how long it is measured
 */
record Window(Duration leadIn, Duration measured) {
    Duration total() {
        return leadIn.plus(measured);
    }

    Window shorter(int times) {
        return new Window(leadIn.dividedBy(times), measured.dividedBy(times));
    }
}
