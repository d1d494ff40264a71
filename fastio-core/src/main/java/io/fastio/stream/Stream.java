package io.fastio.stream;

import io.fastio.CancelledError;
import io.fastio.Handle;
import io.fastio.LoopError;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A stream of bytes in both directions: a connection, a pipe, a terminal, a device. See {@link StreamReader} and {@link
 * StreamWriter}; everything is for tasks of the stream's loop.
 *
 * <h2>How it works</h2>
 *
 * A read tries first and waits only if there was nothing; after one that gave less than there was room for, the next
 * one waits first, since there is nothing (S8 keeps system calls rare). Bytes arrive in the loop's scratch buffer; what the
 * reader has not asked for, as behind a line, is kept in {@link #kept}, from a pool. {@code readInto} asks the kernel for
 * no more than it can take, so it keeps nothing.
 *
 * <p>A write goes to the kernel at once. What it does not take is queued, and from then on a callback of the loop, not a
 * task, sends the queue whenever the kernel has room: so no cancel can tear a write apart (I3, C6).
 */
public final class Stream implements StreamReader, StreamWriter, Closeable {
    private static final byte[] NOTHING = new byte[0];
    private static final int DEFAULT_LIMIT = 64 * 1024;
    private static final int LOW_WATER = 16 * 1024;
    private static final int HIGH_WATER = 64 * 1024;

    /** Bytes that one callback sends before others get a turn (S7). */
    private static final long MOST_AT_ONCE = 256 * 1024;

    /** How long a stream that is closing goes on sending once its loop ends. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(1);

    private final LoopIo io;
    private final Transport transport;
    private final String name;

    // ---- reading
    private byte[] kept = NOTHING;
    private int position;
    private int end;
    private boolean dry;
    private boolean reading;
    private boolean eof;
    private @Nullable IOException readFailure;
    private int limit = DEFAULT_LIMIT;

    // ---- writing
    private @Nullable SendQueue queue;
    private boolean sending;
    private @Nullable Handle sender;
    private boolean writePriority;
    private int low = LOW_WATER;
    private int high = HIGH_WATER;
    private boolean full;
    private boolean eofWanted;
    private boolean eofSent;
    private long queued;
    private @Nullable IOException writeFailure;

    // ---- ending
    private boolean closing;
    private boolean closed;
    private boolean allSent;
    private boolean detached;

    /** Those who wait for the writing side: for room, for it to be empty, for the end. Each looks for itself. */
    private final WaitList waiters = new WaitList();

    Stream(LoopIo io, Transport transport, String name) {
        this.io = io;
        this.transport = transport;
        this.name = name;
        this.dry = transport.startsDry();
    }

    // =========================================================== reading

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

    private Task<?> begin() {
        Task<?> me = Wait.begin();
        if (Wait.loopOf(me) != io.loop) {
            io.loop.requireCurrent(this);
        }
        return me;
    }

    private void beginRead() throws IOException {
        begin();
        if (reading) {
            throw new IllegalStateException("another task reads " + this); // I1
        }
        if (closing) {
            throw new ClosedChannelException();
        }
    }

    /** Waits until a read may succeed. */
    private void awaitReadable() throws IOException {
        reading = true;
        try {
            transport.awaitReadable();
        } finally {
            reading = false;
            dry = false; // T1: also who gave up, without waiting at all perhaps, finds what has come meanwhile at the
            // next read
        }
        if (closing) {
            throw new AsynchronousCloseException(); // I4
        }
    }

    /** Reads 1 to {@code most} bytes into the scratch buffer, from index 0 on; -1 at the end. Waits. */
    private int receive(int most) throws IOException {
        while (!eof) {
            if (dry) {
                awaitReadable();
            }
            ByteBuffer scratch = io.scratch;
            scratch.clear().limit(most);
            int n = receiveNow(scratch);
            if (n != 0) {
                return n;
            }
        }
        return -1;
    }

    /** One read: 0 if there was nothing. */
    private int receiveNow(ByteBuffer dst) throws IOException {
        if (readFailure != null) {
            throw new IOException(readFailure.getMessage(), readFailure);
        }
        int room = dst.remaining();
        int n;
        try {
            n = transport.read(dst);
        } catch (IOException e) {
            if (transport.failsForGood()) {
                readFailure = e;
            }
            closeIfGone(e);
            throw e;
        }
        if (n < 0) {
            eof = true;
        } else if (n < room) {
            dry = true;
            if (n > 0) {
                transport.readShort();
            }
        } else if (!transport.readsAtOnce()) {
            dry = true;
        }
        return n;
    }

    @Override
    public int readInto(byte[] dst, int offset, int n) throws IOException {
        Objects.checkFromIndexSize(offset, n, dst.length);
        beginRead();
        if (n == 0) {
            return 0;
        }
        if (position < end) {
            return take(dst, offset, n);
        }
        if (!transport.needsDirect()) {
            return receiveInto(ByteBuffer.wrap(dst, offset, n));
        }
        int got = receive(Math.min(n, LoopIo.SCRATCH));
        if (got > 0) {
            io.scratch.get(0, dst, offset, got);
        }
        return got;
    }

    /** Reads at least one byte straight into {@code dst}; -1 at the end. Waits. */
    private int receiveInto(ByteBuffer dst) throws IOException {
        while (!eof) {
            if (dry) {
                awaitReadable();
            }
            int n = receiveNow(dst);
            if (n != 0) {
                return n;
            }
        }
        return -1;
    }

    /** Takes up to {@code n} of the kept bytes. */
    private int take(byte[] dst, int offset, int n) {
        int k = Math.min(n, end - position);
        System.arraycopy(kept, position, dst, offset, k);
        consume(k);
        return k;
    }

    private void consume(int n) {
        position += n;
        if (position == end) {
            io.giveBack(kept);
            kept = NOTHING;
            position = 0;
            end = 0;
        }
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        if (dst.isReadOnly()) {
            throw new ReadOnlyBufferException(); // S13: now, and not when bytes have come
        }
        beginRead();
        if (!dst.hasRemaining()) {
            return 0;
        }
        if (position < end) {
            int k = Math.min(dst.remaining(), end - position);
            dst.put(kept, position, k);
            consume(k);
            return k;
        }
        if (!dst.isDirect() && transport.needsDirect()) {
            int got = receive(Math.min(dst.remaining(), LoopIo.SCRATCH));
            if (got > 0) {
                dst.put(io.scratch.flip());
            }
            return got;
        }
        return receiveInto(dst);
    }

    @Override
    public byte[] read(int n) throws IOException {
        beginRead();
        if (n < 0) {
            while (fill() >= 0) {
                // Until the end.
            }
            return takeExactly(end - position);
        }
        if (n == 0) {
            return NOTHING;
        }
        if (position < end) {
            return takeExactly(Math.min(n, end - position));
        }
        int got = receive(Math.min(n, LoopIo.SCRATCH));
        if (got < 0) {
            return NOTHING;
        }
        byte[] bytes = new byte[got];
        io.scratch.get(0, bytes);
        return bytes;
    }

    private byte[] takeExactly(int n) {
        byte[] bytes = new byte[n];
        if (n > 0) {
            take(bytes, 0, n);
        }
        return bytes;
    }

    @Override
    public byte[] readExactly(int n) throws IOException {
        if (n < 0) {
            throw new IllegalArgumentException("cannot read " + n + " bytes");
        }
        beginRead();
        if (end - position >= n) {
            return takeExactly(n);
        }
        if (n <= LoopIo.SCRATCH) {
            while (end - position < n) {
                if (fill() < 0) {
                    throw new IncompleteReadException(takeExactly(end - position), "all " + n + " had come");
                }
            }
            return takeExactly(n);
        }
        return readLarge(n);
    }

    /** Straight into the result; what has come is kept if the wait is cancelled or fails (C6). */
    private byte[] readLarge(int n) throws IOException {
        byte[] bytes = new byte[n];
        int have = position < end ? take(bytes, 0, n) : 0;
        boolean complete = false;
        try {
            while (have < n) {
                int got = receive(Math.min(n - have, LoopIo.SCRATCH));
                if (got < 0) {
                    complete = true;
                    throw new IncompleteReadException(Arrays.copyOf(bytes, have), "all " + n + " had come");
                }
                io.scratch.get(0, bytes, have, got);
                have += got;
            }
            complete = true;
            return bytes;
        } finally {
            if (!complete && have > 0) {
                kept = bytes;
                position = 0;
                end = have;
            }
        }
    }

    /** Reads some bytes behind those that are kept; -1 at the end. Waits. */
    private int fill() throws IOException {
        int got = receive(LoopIo.SCRATCH);
        if (got > 0) {
            makeRoom(got);
            io.scratch.get(0, kept, end, got);
            end += got;
        }
        return got;
    }

    private void makeRoom(int n) {
        int have = end - position;
        if (kept.length - end >= n) {
            return;
        }
        byte[] from = kept;
        if (kept.length - have < n || have > kept.length / 2) {
            kept = io.takeArray(have == 0 ? n : Math.max(have + n, Math.min(2 * have, Integer.MAX_VALUE - 8)));
        }
        System.arraycopy(from, position, kept, 0, have);
        position = 0;
        end = have;
        if (from != kept) {
            io.giveBack(from);
        }
    }

    @Override
    public @Nullable String readLine() throws IOException {
        return readLine(StandardCharsets.UTF_8);
    }

    @Override
    public @Nullable String readLine(Charset charset) throws IOException {
        Objects.requireNonNull(charset, "charset");
        beginRead();
        int searched = 0;
        while (true) {
            for (int i = position + searched; i < end; i++) {
                if (kept[i] == '\n') {
                    int length = i - position;
                    return line(length > 0 && kept[i - 1] == '\r' ? length - 1 : length, length + 1, charset);
                }
            }
            searched = end - position;
            if (searched > limit && !(searched == limit + 1 && kept[end - 1] == '\r')) {
                throw new LimitExceededException(limit);
            }
            if (fill() < 0) {
                return searched == 0 ? null : line(searched, searched, charset);
            }
        }
    }

    private String line(int length, int consumed, Charset charset) throws IOException {
        if (length > limit) {
            throw new LimitExceededException(limit);
        }
        String s = new String(kept, position, length, charset);
        consume(consumed);
        return s;
    }

    @Override
    public Iterable<String> lines() {
        return () -> new Iterator<>() {
            private @Nullable String next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    try {
                        next = readLine();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
                return next != null;
            }

            @Override
            public String next() {
                String s = hasNext() ? next : null;
                if (s == null) {
                    throw new NoSuchElementException();
                }
                next = null;
                return s;
            }
        };
    }

    @Override
    public byte[] readUntil(byte[] separator) throws IOException {
        if (separator.length == 0) {
            throw new IllegalArgumentException("empty separator");
        }
        beginRead();
        int searched = 0;
        while (true) {
            int at = indexOf(separator, position + searched);
            if (at >= 0) {
                if (at - position > limit) {
                    throw new LimitExceededException(limit);
                }
                return takeExactly(at - position + separator.length);
            }
            searched = Math.max(0, end - position - separator.length + 1); // it may be split over two reads
            if (searched > limit) {
                throw new LimitExceededException(limit);
            }
            if (fill() < 0) {
                throw new IncompleteReadException(takeExactly(end - position), "the separator");
            }
        }
    }

    private int indexOf(byte[] separator, int from) {
        for (int i = from; i <= end - separator.length; i++) {
            if (kept[i] == separator[0]
                    && Arrays.equals(kept, i, i + separator.length, separator, 0, separator.length)) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public long copyTo(StreamWriter to) throws IOException {
        beginRead();
        long total = (long) end - position;
        if (total > 0) {
            byte[] bytes = takeExactly(end - position);
            to.write(bytes);
            to.drain();
        }
        byte[] copy = null;
        while (true) {
            beginRead();
            int n = receive(LoopIo.SCRATCH);
            if (n < 0) {
                return total;
            }
            if (to instanceof Stream s && s.transport.needsDirect()) {
                s.writeReceived(io.scratch.flip()); // goes out as it is
            } else {
                // A write may give way before it takes anything (S14), and the scratch buffer is everybody's.
                if (copy == null) {
                    copy = new byte[LoopIo.SCRATCH];
                }
                io.scratch.get(0, copy, 0, n);
                to.write(copy, 0, n);
            }
            total += n;
            to.drain();
        }
    }

    @Override
    public boolean atEof() {
        return eof && position == end;
    }

    @Override
    public void limit(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("limit must be positive: " + bytes);
        }
        io.loop.requireCurrent(this);
        limit = bytes;
    }

    @Override
    public void readPriority(boolean on) {
        io.loop.requireCurrent(this);
        transport.readPriority(on);
    }

    // =========================================================== writing

    private void beginWrite() throws IOException {
        begin();
        requireWritable();
    }

    private void requireWritable() throws IOException {
        IOException failure = writeFailure;
        if (failure != null) {
            if (!transport.failsForGood()) {
                closeIfGone(failure);
                writeFailure = null; // told once
            }
            if (failure instanceof DeviceGoneException) {
                throw new DeviceGoneException(String.valueOf(failure.getMessage()), failure);
            }
            throw new IOException(failure.getMessage(), failure);
        }
        if (closing) {
            throw new ClosedChannelException();
        }
    }

    private void beginData() throws IOException {
        beginWrite();
        requireNoEof();
    }

    private void requireNoEof() {
        if (eofWanted) {
            throw new IllegalStateException("write after writeEof on " + this);
        }
    }

    private boolean nothingQueued() {
        return queue == null || queue.size == 0;
    }

    @Override
    public void write(byte[] src, int offset, int n) throws IOException {
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
            queued(n);
        }
    }

    @Override
    public void write(ByteBuffer src) throws IOException {
        writeAtOnce(src);
        int n = src.remaining();
        if (n > 0) {
            queue().add(src);
            queued(n);
        }
    }

    @Override
    public void writeUncopied(ByteBuffer src) throws IOException {
        writeAtOnce(src);
        int n = src.remaining();
        if (n > 0) {
            queue().addUncopied(src);
            queued(n);
        }
    }

    /** Writes what another stream has just received into the scratch buffer: does not give way, so that it stays there. */
    private void writeReceived(ByteBuffer scratch) throws IOException {
        io.loop.requireCurrent(this);
        requireWritable();
        requireNoEof();
        if (nothingQueued()) {
            sendWhole(scratch);
        }
        int n = scratch.remaining();
        if (n > 0) {
            queue().add(scratch);
            queued(n);
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
            closeIfGone(e);
            throw e;
        }
    }

    /** F83: the device is not there any more; its descriptor must not keep its name occupied. */
    private void closeIfGone(IOException e) {
        if (e instanceof DeviceGoneException) {
            abort();
        }
    }

    private SendQueue queue() {
        SendQueue q = queue;
        if (q == null) {
            q = new SendQueue(io, transport.needsDirect());
            queue = q;
        }
        return q;
    }

    private void queued(int n) throws IOException {
        queued += n;
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
            h = io.loop.handle(
                    writePriority || io.loop.ioFirst() ? Priority.URGENT : Priority.NORMAL, this::sendQueued);
            sender = h;
        }
        return h;
    }

    /** The kernel has room, or an error to tell of. A callback. */
    private void sendQueued() {
        sending = false;
        if (closed) {
            return;
        }
        SendQueue q = queue();
        try {
            if (q.send(transport, MOST_AT_ONCE)) {
                sending = true;
                sender().callSoon();
            } else if (q.size > 0) {
                sendWhenWritable();
            } else {
                sendEofIfWanted();
            }
        } catch (IOException e) {
            broken(e);
            return;
        } catch (RuntimeException e) { // a device driver's
            broken(new IOException("writing to " + this + " failed: " + e, e));
            return;
        }
        if (q.size <= low) {
            full = false;
        }
        waiters.wakeAll();
    }

    /** Nothing can be sent any more. */
    private void broken(IOException e) {
        if (writeFailure == null) {
            writeFailure = e;
        }
        if (queue != null) {
            queue.drop();
        }
        full = false;
        waiters.wakeAll();
    }

    @Override
    public void drain() throws IOException {
        begin();
        requireWritable();
        while (full) {
            waiters.await(writeWakeClass(), Wait.FOREVER);
            requireWritable();
        }
    }

    @Override
    public void flush() throws IOException {
        begin();
        requireWritable();
        long until = queued;
        while (queue != null && queued - queue.size < until) {
            waiters.await(writeWakeClass(), Wait.FOREVER);
            requireWritable();
        }
    }

    private @Nullable Priority writeWakeClass() {
        return writePriority || io.loop.ioFirst() ? Priority.URGENT : null;
    }

    @Override
    public void waterMarks(int lowMark, int highMark) {
        if (lowMark < 0 || highMark < lowMark) {
            throw new IllegalArgumentException("water marks must be 0 <= low <= high: " + lowMark + ", " + highMark);
        }
        io.loop.requireCurrent(this);
        low = lowMark;
        high = highMark;
        long size = pendingBytes();
        full = size > high || full && size > low;
        if (!full) {
            waiters.wakeAll();
        }
    }

    @Override
    public long pendingBytes() {
        return queue == null ? 0 : queue.size;
    }

    @Override
    public void writeEof() throws IOException {
        beginWrite();
        if (!transport.canHalfClose()) {
            throw new UnsupportedOperationException(this + " cannot be half-closed");
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
    }

    private void sendEofIfWanted() throws IOException {
        if (eofWanted && !eofSent) {
            eofSent = true;
            transport.shutdownOutput();
        }
    }

    @Override
    public void writePriority(boolean on) {
        io.loop.requireCurrent(this);
        writePriority = on;
        transport.writePriority(on);
        if (!sending) {
            sender = null; // its class is fixed
        }
    }

    /** {@link #readPriority} and {@link #writePriority} in one (I7). */
    public Stream priority(boolean on) {
        readPriority(on);
        writePriority(on);
        return this;
    }

    // =========================================================== below a layer

    /** Reads what is there, without waiting: 0 if there is nothing, -1 at the end. */
    int readBelow(ByteBuffer dst) throws IOException {
        if (position < end) {
            int k = Math.min(dst.remaining(), end - position);
            dst.put(kept, position, k);
            consume(k);
            return k;
        }
        if (eof) {
            return -1;
        }
        if (dry) {
            return 0;
        }
        if (dst.isDirect() || !transport.needsDirect()) {
            return receiveNow(dst);
        }
        ByteBuffer scratch = io.scratchBelow();
        scratch.clear().limit(Math.min(dst.remaining(), LoopIo.SCRATCH_BELOW));
        int n = receiveNow(scratch);
        if (n > 0) {
            dst.put(scratch.flip());
        }
        return n;
    }

    /** Waits until {@link #readBelow} may give something. */
    void awaitBelow() throws IOException {
        if (closing) {
            throw new ClosedChannelException();
        }
        if (position == end && !eof && dry) {
            awaitReadable();
        }
    }

    void wakeBelow() {
        transport.wakeReader();
    }

    void whenWritableBelow(Handle callback) throws IOException {
        transport.whenWritable(callback);
    }

    /** Writes what is taken now. */
    int writeBelow(ByteBuffer src) throws IOException {
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
     * @param announced whether the layer has a callback that waits for room, and will call {@link #sendBelow}
     */
    void writeLast(ByteBuffer src, boolean announced) {
        if (closing || writeFailure != null) {
            return;
        }
        try {
            sending |= announced;
            int n = src.remaining();
            queue().add(src);
            queued(n);
        } catch (IOException e) {
            broken(e);
        }
    }

    void sendBelow() {
        sendQueued();
    }

    // =========================================================== ending

    @Override
    public void close() {
        if (closing) {
            return;
        }
        io.loop.requireCurrent(this);
        closing = true;
        if (nothingQueued()) {
            finish(writeFailure == null);
        } else {
            transport.wakeReader();
            io.loop.createTask(TaskOptions.named("closing " + name), this::finishWhenSent);
        }
    }

    /** Sends what is left, for a bounded time. In a task of its own. */
    private void finishWhenSent() {
        long until = Wait.deadlineIn(io.loop.shutdownTimeout());
        while (!closed && !nothingQueued()) {
            try {
                if (waiters.await(null, until) == Wait.Reason.DEADLINE) {
                    break;
                }
            } catch (CancelledError e) { // the loop ends
                until = Math.min(until, Wait.deadlineIn(LAST_MOMENT));
            }
        }
        if (!closed) {
            finish(writeFailure == null && nothingQueued());
        }
    }

    @Override
    public void abort() {
        if (closed) {
            return;
        }
        io.loop.requireCurrent(this);
        closing = true;
        try {
            transport.dropOnClose();
        } catch (IOException e) {
            report("making the end of " + this + " a reset failed", e);
        }
        finish(writeFailure == null && nothingQueued());
    }

    private void finish(boolean sentAll) {
        closed = true;
        allSent = sentAll;
        if (queue != null) {
            queue.drop();
        }
        if (position < end) {
            consume(end - position);
        }
        try {
            transport.close();
        } catch (IOException e) {
            report("closing " + this + " failed", e);
        }
        waiters.wakeAll();
    }

    private void report(String what, IOException e) {
        io.loop.report(new LoopError(what + ": " + e.getMessage(), e, null));
    }

    @Override
    public boolean waitClosed() {
        begin();
        while (!closed) {
            waiters.await(null, Wait.FOREVER);
        }
        return allSent;
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
