package io.fastio.gpio;

import io.fastio.Asyncio;
import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/**
 * A contact without its bouncing. The first edge counts at once; then edges mean nothing for the debounce time, at whose end
 * the pin is looked at: if it is not where the first edge left it, that is a change of its own. So nothing is late, and the
 * state is right in the end. Loop only.
 */
final class Contact implements AutoCloseable {
    /** Told of changes, on the loop, as a callback. */
    @FunctionalInterface
    interface Listener {
        void changed(boolean closed);
    }

    private final Pin pin;
    private final boolean closedHigh;
    private final Duration debounce;
    private final Listener listener;
    private final PinChange change;
    private final Handle lookAgain;
    private boolean closed;

    Contact(Pin pin, ContactOptions options, Listener listener) throws IOException {
        this.pin = pin;
        this.closedHigh = options.closedHigh();
        this.debounce = options.debounce();
        this.listener = listener;
        this.closed = pin.value() == closedHigh;
        this.lookAgain = Asyncio.runningLoop().handle(Priority.URGENT, this::lookAgain);
        this.change = new PinChange(pin, this::edge);
    }

    boolean isClosed() {
        return closed;
    }

    private void edge(Edge e) {
        if (!lookAgain.scheduled()) {
            take((e == Edge.RISING) == closedHigh);
        }
    }

    private void take(boolean now) {
        if (now != closed) {
            closed = now;
            if (!debounce.isZero()) {
                lookAgain.callLater(debounce);
            }
            listener.changed(now);
        }
    }

    private void lookAgain() {
        try {
            take(pin.value() == closedHigh);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // reported by the loop; the next edge counts again
        }
    }

    /** Ends it; the pin stays open. */
    @Override
    public void close() {
        change.close();
        lookAgain.cancel();
    }
}
