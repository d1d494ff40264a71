package io.fastio.stream;

import io.fastio.Handle;
import io.fastio.Priority;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A layer and the stream below it. What the layer says of its own accord, such as the answer to what it has just read, is
 * sent by a callback when the stream's own writer has no cause to.
 */
final class LayerTransport extends Transport {
    private final Stream below;
    private final Layer layer;
    private final LoopIo io;
    private boolean urgent;
    private boolean pumping;
    private @Nullable Handle pump;
    private @Nullable Handle writer;
    private boolean dropping;
    private boolean closed;

    LayerTransport(LoopIo io, Stream below, Layer layer) {
        this.io = io;
        this.below = below;
        this.layer = layer;
    }

    @Override
    boolean needsDirect() {
        return false;
    }

    @Override
    boolean canHalfClose() {
        return layer.canHalfClose();
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        int n = layer.read(dst);
        pumpIfNeeded();
        return n;
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        return layer.write(src);
    }

    @Override
    void readShort() {
        // The stream below knows.
    }

    @Override
    void awaitReadable() throws IOException {
        if (!layer.isReadable()) {
            below.in.awaitMore();
        }
    }

    @Override
    void wakeReader() {
        below.transport.wakeReader();
    }

    @Override
    void whenWritable(Handle callback) throws IOException {
        writer = callback;
        startPump();
    }

    private void pumpIfNeeded() throws IOException {
        if (!layer.flush()) {
            startPump();
        }
    }

    private void startPump() throws IOException {
        if (!pumping) {
            Handle h = pump;
            if (h == null) {
                h = io.loop.handle(urgent || io.loop.ioFirst() ? Priority.URGENT : Priority.NORMAL, this::pump);
                pump = h;
            }
            below.transport.whenWritable(h);
            pumping = true;
        }
    }

    /** There is room below, or an error to tell of. A callback. */
    private void pump() {
        pumping = false;
        if (closed) {
            below.out.sendQueued();
            return;
        }
        Handle w = writer;
        if (w != null) {
            writer = null;
            w.callSoon(); // it flushes the layer, and meets its errors
            return;
        }
        try {
            pumpIfNeeded();
        } catch (IOException e) {
            below.transport.wakeReader(); // the reader meets it again; without one, the next writer does
        }
    }

    @Override
    void readPriority(boolean on) {
        below.readPriority(on);
    }

    @Override
    void writePriority(boolean on) {
        urgent = on;
        below.writePriority(on);
        if (!pumping) {
            pump = null; // its class is fixed
        }
    }

    @Override
    void shutdownOutput() throws IOException {
        layer.writeEof();
        pumpIfNeeded();
    }

    @Override
    void dropOnClose() {
        dropping = true;
    }

    @Override
    void close() {
        closed = true;
        if (dropping) {
            below.abort();
            return;
        }
        ByteBuffer last = layer.close();
        if (last != null && last.hasRemaining()) {
            below.out.writeLast(last, pumping);
        }
        below.close();
    }

    @Override
    boolean awaitClosedBelow() {
        return below.waitClosed();
    }

    @Override
    void abortBelow() {
        below.abort();
    }

    @Override
    @Nullable
    Object info(String name) {
        Object known = layer.info(name);
        return known != null ? known : below.getExtraInfo(name);
    }
}
