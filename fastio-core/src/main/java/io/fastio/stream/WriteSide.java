package io.fastio.stream;

import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The writing side of a {@link Stream}; what each method promises is said at {@link StreamWriter}.
 *
 * <p>A write goes to the kernel at once. What it does not take is queued, and from then on a callback of the loop, not a
 * task, sends the queue whenever the kernel has room: so no cancel can tear a write apart (I3, C6).
 */
final class WriteSide {
    private static final int LOW_WATER = 16 * 1024;
    private static final int HIGH_WATER = 64 * 1024;

    /** Bytes that one callback sends before others get a turn (S7). */
    private static final long MOST_AT_ONCE = 256 * 1024;

    private final Stream stream;
    private final LoopIo io;
    private final Transport transport;

    private @Nullable SendQueue queue;

    /** Bytes that were queued once and are sent now. */
    private long sent;

    /** The callback is on its way, or the transport knows of it. */
    private boolean sending;

    private @Nullable Handle sender;
    private boolean priority;
    private int low = LOW_WATER;
    private int high = HIGH_WATER;
    private boolean full;
    private boolean eofWanted;
    private boolean eofSent;
    private @Nullable IOException failure;

    /** Those who wait for room, for the queue to be empty, for the end of the stream. Each looks for itself. */
    final WaitList waiters = new WaitList();

    WriteSide(Stream stream) {
        this.stream = stream;
        this.io = stream.io;
        this.transport = stream.transport;
    }

    // =========================================================== may it be written

    private void beginWait() throws IOException {
        stream.begin();
        requireWritable();
    }

    private void requireWritable() throws IOException {
        requireWhole();
        if (stream.isClosing()) {
            throw new ClosedChannelException();
        }
    }

    private void requireWhole() throws IOException {
        IOException e = failure;
        if (e != null) {
            if (!transport.failsForGood()) {
                stream.closeIfGone(e);
                failure = null; // told once
            }
            if (e instanceof DeviceGoneException) {
                throw new DeviceGoneException(String.valueOf(e.getMessage()), e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    private void beginData() throws IOException {
        stream.beginAtOnce();
        requireWritable();
        requireNoEof();
    }

    private void requireNoEof() {
        if (eofWanted) {
            throw new IllegalStateException("write after writeEof on " + stream);
        }
    }

    boolean nothingQueued() {
        return queue == null || queue.size == 0;
    }

    /** Whether something that was written could not be sent, or could not if there were any. */
    boolean isBroken() {
        return failure != null;
    }

    boolean hasFailedBy(Throwable t) {
        return t == failure;
    }

    // =========================================================== writing

    void write(byte[] src, int offset, int n) throws IOException {
        Objects.checkFromIndexSize(offset, n, src.length);
        beginData();
        if (nothingQueued() && !transport.needsDirect()) {
            ByteBuffer b = ByteBuffer.wrap(src, offset, n);
            sendWhole(b);
            offset = b.position();
            n = b.remaining();
        } else if (nothingQueued()) {
            while (n > 0) {
                int k = Math.min(n, LoopIo.SCRATCH);
                ByteBuffer scratch = io.scratch;
                scratch.clear().limit(k);
                scratch.put(0, src, offset, k);
                int sent = sendNow(scratch);
                offset += sent;
                n -= sent;
                if (sent < k) {
                    break;
                }
            }
        }
        if (n > 0) {
            queue().add(src, offset, n);
            queued();
        }
        Wait.endAtOnce();
    }

    void write(ByteBuffer src) throws IOException {
        writeAtOnce(src);
        if (src.hasRemaining()) {
            queue().add(src);
            queued();
        }
        Wait.endAtOnce();
    }

    void writeUncopied(ByteBuffer src) throws IOException {
        writeAtOnce(src);
        if (src.hasRemaining()) {
            queue().addUncopied(src);
            queued();
        }
        Wait.endAtOnce();
    }

    /** Writes what another stream has just received into the scratch buffer: does not give way, so that it stays there. */
    void writeReceived(ByteBuffer scratch) throws IOException {
        io.loop.requireCurrent(stream);
        requireWritable();
        requireNoEof();
        if (nothingQueued()) {
            sendWhole(scratch);
        }
        if (scratch.hasRemaining()) {
            queue().add(scratch);
            queued();
        }
    }

    private void writeAtOnce(ByteBuffer src) throws IOException {
        beginData();
        if (!nothingQueued()) {
            return;
        }
        if (src.isDirect() || !transport.needsDirect()) {
            sendWhole(src);
        } else {
            boolean more = src.hasRemaining();
            while (more) {
                ByteBuffer scratch = io.scratch;
                int k = Math.min(src.remaining(), LoopIo.SCRATCH);
                scratch.clear().limit(k);
                scratch.put(0, src, src.position(), k);
                int sent = sendNow(scratch);
                src.position(src.position() + sent);
                more = sent == k && src.hasRemaining();
            }
        }
    }

    /** Sends as it is, as far as it is taken. */
    private void sendWhole(ByteBuffer src) throws IOException {
        while (src.hasRemaining() && sendNow(src) > 0) {
            // On with the rest.
        }
    }

    private int sendNow(ByteBuffer direct) throws IOException {
        try {
            return transport.write(direct);
        } catch (IOException e) {
            if (transport.failsForGood()) {
                broken(e);
            }
            stream.closeIfGone(e);
            throw e;
        }
    }

    // =========================================================== sending what is kept

    private SendQueue queue() {
        SendQueue q = queue;
        if (q == null) {
            q = new SendQueue(io, transport.needsDirect());
            queue = q;
        }
        return q;
    }

    private void queued() throws IOException {
        if (queue().size > high) {
            full = true;
        }
        sendWhenWritable();
    }

    private void sendWhenWritable() throws IOException {
        if (!sending) {
            transport.whenWritable(sender());
            sending = true;
        }
    }

    private Handle sender() {
        Handle h = sender;
        if (h == null) {
            h = io.loop.handle(priority || io.loop.ioFirst() ? Priority.URGENT : Priority.NORMAL, this::sendQueued);
            sender = h;
        }
        return h;
    }

    /** The kernel has room, or an error to tell of. A callback. */
    void sendQueued() {
        sending = false;
        if (stream.isClosed()) {
            return;
        }
        SendQueue q = queue();
        long before = q.size;
        try {
            boolean more = q.send(transport, MOST_AT_ONCE);
            sent += before - q.size;
            if (more) {
                sending = true;
                sender().callSoon();
            } else if (q.size > 0) {
                sendWhenWritable();
            } else {
                sendEofIfWanted();
            }
        } catch (IOException e) {
            broken(e);
            stream.nothingKept();
            return;
        } catch (RuntimeException e) { // a device driver's
            broken(new IOException("writing to " + stream + " failed: " + e, e));
            stream.nothingKept();
            return;
        }
        if (q.size <= low) {
            full = false;
        }
        waiters.wakeAll();
        if (q.size == 0) {
            stream.nothingKept();
        }
    }

    /** Nothing can be sent any more. */
    private void broken(IOException e) {
        if (failure == null) {
            failure = e;
        }
        full = false;
        drop();
    }

    /** Forgets what is kept, and has everybody look. */
    void drop() {
        if (queue != null) {
            queue.drop();
        }
        waiters.wakeAll();
    }

    // =========================================================== waiting for it

    void drain() throws IOException {
        beginWait();
        while (full) {
            awaitChange();
        }
    }

    void flush() throws IOException {
        beginWait();
        long until = sent + pendingBytes();
        while (sent < until) {
            awaitChange();
        }
    }

    /** Who waits already goes on waiting while a stream that is being closed sends what it still keeps. */
    private void awaitChange() throws IOException {
        waiters.await(priority || io.loop.ioFirst() ? Priority.URGENT : null, Wait.FOREVER);
        requireWhole();
        if (stream.isClosed()) {
            throw new AsynchronousCloseException(); // I4
        }
    }

    void waterMarks(int lowMark, int highMark) {
        if (lowMark < 0 || highMark < lowMark) {
            throw new IllegalArgumentException("water marks must be 0 <= low <= high: " + lowMark + ", " + highMark);
        }
        io.loop.requireCurrent(stream);
        low = lowMark;
        high = highMark;
        long size = pendingBytes();
        full = size > high || full && size > low;
        if (!full) {
            waiters.wakeAll();
        }
    }

    long pendingBytes() {
        return queue == null ? 0 : queue.size;
    }

    // =========================================================== the rest

    void writeEof() throws IOException {
        stream.beginAtOnce();
        requireWritable();
        if (!transport.canHalfClose()) {
            throw new UnsupportedOperationException(stream + " cannot be half-closed");
        }
        eofWanted = true;
        if (nothingQueued()) {
            try {
                sendEofIfWanted();
            } catch (IOException e) {
                broken(e);
                throw e;
            }
        }
        Wait.endAtOnce();
    }

    private void sendEofIfWanted() throws IOException {
        if (eofWanted && !eofSent) {
            eofSent = true;
            transport.shutdownOutput();
        }
    }

    void priority(boolean on) {
        io.loop.requireCurrent(stream);
        priority = on;
        transport.writePriority(on);
        if (!sending) {
            sender = null; // its class is fixed
        }
    }

    boolean hasPriority() {
        return priority;
    }

    // =========================================================== below a layer

    /** Writes what is taken now. */
    int writeNow(ByteBuffer src) throws IOException {
        requireWritable();
        int total = 0;
        for (int k, sent; (k = Math.min(src.remaining(), LoopIo.SCRATCH_BELOW)) > 0; total += sent) {
            if (src.isDirect() || !transport.needsDirect()) {
                sent = sendNow(src);
            } else {
                ByteBuffer scratch = io.scratchBelow();
                scratch.clear().limit(k);
                scratch.put(0, src, src.position(), k);
                sent = sendNow(scratch);
                src.position(src.position() + sent);
            }
            if (sent == 0) {
                break;
            }
        }
        return total;
    }

    /**
     * A layer's last words: sent behind everything else, before this stream, which is about to be closed, is.
     *
     * @param announced whether the layer has a callback that waits for room, and will call {@link #sendQueued}
     */
    void writeLast(ByteBuffer src, boolean announced) {
        if (stream.isClosing() || failure != null) {
            return;
        }
        try {
            sending |= announced;
            queue().add(src);
            queued();
        } catch (IOException e) {
            broken(e);
        }
    }
}
