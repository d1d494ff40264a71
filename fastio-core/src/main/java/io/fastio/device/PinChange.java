package io.fastio.device;

import io.fastio.Handle;
import io.fastio.Priority;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;

/**
 * A callback for every change of a pin ({@code PinCall} of fast_io). It runs in class URGENT, once for each edge, in their
 * order. What it throws is reported to the loop's exception handler and ends nothing.
 */
public final class PinChange implements AutoCloseable {
    /** What is called. */
    @FunctionalInterface
    public interface Callback {
        /** The pin has changed. On the loop, as a callback: fastio's waits are for tasks. */
        void changed(Edge edge);
    }

    private final Pin pin;
    private final Callback callback;
    private final Handle handle;
    private final ArrayDeque<Edge> edges = new ArrayDeque<>();

    /**
     * Calls back from now on. For tasks and callbacks of the pin's loop; does not wait.
     *
     * @throws IllegalStateException if the pin is closed
     * @throws IOException if the chip fails
     */
    public PinChange(Pin pin, Callback callback) throws IOException {
        Objects.requireNonNull(pin, "pin");
        this.pin = pin;
        this.callback = Objects.requireNonNull(callback, "callback");
        this.handle = pin.loop().handle(Priority.URGENT, this::call);
        pin.add(this);
    }

    void changed(Edge edge) {
        edges.add(edge);
        if (!handle.scheduled()) {
            handle.callSoon();
        }
    }

    private void call() {
        Edge e = edges.poll();
        if (e == null) {
            return;
        }
        if (!edges.isEmpty()) {
            handle.callSoon();
        }
        callback.changed(e);
    }

    /** Ends it; edges that wait to be called back for are dropped. Idempotent. */
    @Override
    public void close() {
        pin.remove(this);
        edges.clear();
        handle.cancel();
    }
}
