package io.fastio.stream;

import io.fastio.CancelledError;
import io.fastio.LoopError;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.Wait;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A stream of bytes in both directions: a connection, a pipe, a terminal, a device. See {@link StreamReader} and {@link
 * StreamWriter}; everything is for tasks of the stream's loop.
 *
 * <p>Here is what the two directions share, which is no more than how a stream begins and ends: {@link ReadSide} and {@link
 * WriteSide} have nothing to do with each other (I1).
 */
public final class Stream implements StreamReader, StreamWriter, Closeable {
    /** How long a stream that is closing goes on sending once its loop ends. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(1);

    final LoopIo io;
    final Transport transport;
    final ReadSide in;
    final WriteSide out;
    private final String name;
    private boolean closing;
    private boolean closed;
    private boolean allSent;
    private boolean detached;

    Stream(LoopIo io, Transport transport, String name) {
        this.io = io;
        this.transport = transport;
        this.name = name;
        this.in = new ReadSide(this);
        this.out = new WriteSide(this);
    }

    /**
     * A stream over a device driver; it belongs to the running loop. A task's write tries the driver at once, like its
     * read. Closing the stream closes the device.
     *
     * @throws java.io.UncheckedIOException if the device has a descriptor that cannot be watched
     */
    public Stream(Device device) {
        this(LoopIo.get(), device);
    }

    private Stream(LoopIo io, Device device) {
        this(
                io,
                io.fds != null && device.descriptor() >= 0
                        ? new DescriptorDeviceTransport(io, device)
                        : new DeviceTransport(io, device),
                device.toString());
    }

    /** Whether {@code e} tells of nothing but the end of the connection, such as a reset by the other side. */
    boolean isOwnFailure(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (in.hasFailedBy(t) || out.hasFailedBy(t)) {
                return true;
            }
        }
        return false;
    }

    Task<?> begin() {
        return mine(Wait.begin());
    }

    /** For a write: nothing comes between what the caller looked at and the bytes. */
    void beginAtOnce() {
        mine(Wait.beginAtOnce());
    }

    private Task<?> mine(Task<?> me) {
        if (Wait.loopOf(me) != io.loop) {
            io.loop.requireCurrent(this);
        }
        return me;
    }

    /** F83: the device is not there any more; its descriptor must not keep its name occupied. */
    void closeIfGone(IOException e) {
        if (e instanceof DeviceGoneException) {
            abort();
        }
    }

    // =========================================================== reading

    @Override
    public int readInto(byte[] dst, int offset, int n) throws IOException {
        return in.readInto(dst, offset, n);
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        return in.read(dst);
    }

    @Override
    public byte[] read(int n) throws IOException {
        return in.read(n);
    }

    @Override
    public byte[] readExactly(int n) throws IOException {
        return in.readExactly(n);
    }

    @Override
    public @Nullable String readLine(Charset charset) throws IOException {
        return in.readLine(charset);
    }

    @Override
    public Iterable<String> lines() {
        return in.lines();
    }

    @Override
    public byte[] readUntil(byte[] separator) throws IOException {
        return in.readUntil(separator);
    }

    @Override
    public long copyTo(StreamWriter to) throws IOException {
        return in.copyTo(((Stream) to).out);
    }

    @Override
    public boolean atEof() {
        return in.atEof();
    }

    @Override
    public void limit(int bytes) {
        in.limit(bytes);
    }

    @Override
    public void readPriority(boolean on) {
        io.loop.requireCurrent(this);
        transport.readPriority(on);
    }

    // =========================================================== writing

    @Override
    public void write(byte[] src, int offset, int n) throws IOException {
        out.write(src, offset, n);
    }

    @Override
    public void write(ByteBuffer src) throws IOException {
        out.write(src);
    }

    @Override
    public void writeUncopied(ByteBuffer src) throws IOException {
        out.writeUncopied(src);
    }

    @Override
    public void drain() throws IOException {
        out.drain();
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void waterMarks(int low, int high) {
        out.waterMarks(low, high);
    }

    @Override
    public long pendingBytes() {
        return out.pendingBytes();
    }

    @Override
    public void writeEof() throws IOException {
        out.writeEof();
    }

    @Override
    public void writePriority(boolean on) {
        out.priority(on);
    }

    /** {@link #readPriority} and {@link #writePriority} in one (I7). */
    public Stream priority(boolean on) {
        readPriority(on);
        writePriority(on);
        return this;
    }

    // =========================================================== ending

    @Override
    public void close() {
        if (closing) {
            return;
        }
        io.loop.requireCurrent(this);
        closing = true;
        if (out.nothingQueued()) {
            finish(!out.isBroken());
        } else {
            transport.wakeReader();
            io.loop.createTask(TaskOptions.named("closing " + name), this::finishWhenSent);
        }
    }

    /**
     * What the writing side kept is gone, sent or not. If the stream is being closed, that was it: behind those who were woken
     * to hear how their writes went.
     */
    void nothingKept() {
        if (closing && !closed) {
            io.loop.handle(Priority.NORMAL, this::finishIfOpen).callSoon();
        }
    }

    private void finishIfOpen() {
        if (!closed) {
            finish(!out.isBroken() && out.nothingQueued());
        }
    }

    /**
     * Waits until what is left is sent, for a bounded time. In a task of its own; a loop that ends runs no new ones, and then the
     * sending alone ends the stream.
     */
    private void finishWhenSent() {
        long until = Wait.deadlineIn(io.loop.shutdownTimeout());
        while (!closed && !out.nothingQueued()) {
            try {
                if (out.waiters.await(null, until) == Wait.Reason.DEADLINE) {
                    break;
                }
            } catch (CancelledError e) { // the loop ends
                until = Math.min(until, Wait.deadlineIn(LAST_MOMENT));
            }
        }
        finishIfOpen();
    }

    @Override
    public void abort() {
        if (closed) {
            transport.abortBelow();
            return;
        }
        io.loop.requireCurrent(this);
        closing = true;
        try {
            transport.dropOnClose();
        } catch (IOException e) {
            report("making the end of " + this + " a reset failed", e);
        }
        finish(!out.isBroken() && out.nothingQueued());
    }

    private void finish(boolean sentAll) {
        closed = true;
        allSent = sentAll;
        in.drop();
        try {
            transport.close();
        } catch (IOException e) {
            report("closing " + this + " failed", e);
        }
        out.drop();
    }

    private void report(String what, IOException e) {
        io.loop.report(new LoopError(what + ": " + e.getMessage(), e, null));
    }

    @Override
    public boolean waitClosed() {
        begin();
        while (!closed) {
            out.waiters.await(null, Wait.FOREVER);
        }
        return transport.awaitClosedBelow() && allSent;
    }

    @Override
    public boolean isClosing() {
        return closing;
    }

    @Override
    public void detach() {
        io.loop.requireCurrent(this);
        detached = true;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isDetached() {
        return detached;
    }

    @Override
    public @Nullable Object getExtraInfo(String what) {
        return transport.info(what);
    }

    /** What the stream leads to. */
    public String name() {
        return name;
    }

    @Override
    public String toString() {
        return "Stream[" + name + (closed ? ", closed]" : closing ? ", closing]" : "]");
    }
}
