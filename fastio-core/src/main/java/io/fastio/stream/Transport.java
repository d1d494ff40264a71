package io.fastio.stream;

import io.fastio.Handle;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a stream moves its bytes with: never blocks, and knows how to wait. One reader and one writer at a time; the two
 * directions have nothing to do with each other (I1). Loop only.
 */
abstract sealed class Transport
        permits WatchedTransport, DeviceTransport, FileTransport, LayerTransport, PumpTransport {
    /** Whether a read may be tried before readiness was reported. */
    boolean readsAtOnce() {
        return true;
    }

    /** Whether it reads and writes direct buffers only. */
    boolean needsDirect() {
        return true;
    }

    /** Whether the first read waits for readiness. */
    boolean startsDry() {
        return !readsAtOnce();
    }

    /** Whether what once failed is broken for good. */
    boolean failsForGood() {
        return true;
    }

    /** Whether there is a way to say that nothing more will come, other than closing. */
    boolean canHalfClose() {
        return true;
    }

    /**
     * Reads what is there.
     *
     * @param dst direct if that {@linkplain #needsDirect is needed}, with room
     * @return the number of bytes, 0 if there is nothing yet, -1 at the end
     */
    abstract int read(ByteBuffer dst) throws IOException;

    /**
     * Writes what can be taken at once.
     *
     * @param src direct if that {@linkplain #needsDirect is needed}, not empty
     * @return the number of bytes, 0 if nothing can be taken now
     */
    abstract int write(ByteBuffer src) throws IOException;

    /** The read just made gave less than there was room for. */
    abstract void readShort();

    /** Waits until a read may succeed; a cancel leaves nothing behind. There may be wakes without cause. */
    abstract void awaitReadable() throws IOException;

    /** Ends {@link #awaitReadable} without cause. */
    abstract void wakeReader();

    /** Schedules the callback once, when a write may succeed or the transport is closed. */
    abstract void whenWritable(Handle callback) throws IOException;

    /** Whether readiness to read makes ready in class URGENT. */
    abstract void readPriority(boolean on);

    /** Whether the loop looks for readiness to write as it does for class URGENT. */
    abstract void writePriority(boolean on);

    /**
     * Tells the other side that nothing more will come. Only where it {@linkplain #canHalfClose can be told}.
     */
    abstract void shutdownOutput() throws IOException;

    /** Has {@link #close()} drop what the other side has not received, if the kind of transport knows such a thing. */
    abstract void dropOnClose() throws IOException;

    /** Ends it; who waits is woken and finds out by trying. Once. */
    abstract void close() throws IOException;

    /** Closed as it is, waits until what is below it is closed too; whether that was given everything. */
    boolean awaitClosedBelow() {
        return true;
    }

    /** Closed as it is, ends what is below it at once. */
    void abortBelow() {}

    /** What there is to know under that name, or null. */
    abstract @Nullable Object info(String name);
}
