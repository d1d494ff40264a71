package io.fastio;

import io.fastio.stress.OnLoop;

/** A signal that sees what was written before it was raised. */
final class Raised {
    volatile int written;
    volatile int seen;

    Signal signal() {
        return new Signal(OnLoop.LOOP) {
            @Override
            protected void act() {
                seen = written;
            }
        };
    }
}
