package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.Wait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of a {@link Stream}; what each method promises is said at {@link StreamReader}.
 *
 * <p>A read tries first and waits only if there was nothing; after one that gave less than there was room for, the next
 * one waits first, since there is nothing (S8 keeps system calls rare). Bytes arrive in the loop's scratch buffer; what the
 * reader has not asked for, as behind a line, is kept in {@link #kept}, from a pool. So is what an unfinished read has
 * got: whenever a reader waits, everything that has come is there, and a cancelled one leaves nothing to put back (C6).
 * {@code readInto} asks the kernel for no more than it can take, so it keeps nothing.
 */
final class ReadSide {
    private static final byte[] NOTHING = new byte[0];
    private static final int DEFAULT_LIMIT = 64 * 1024;

    private final Stream stream;
    private final LoopIo io;
    private final Transport transport;

    private byte[] kept = NOTHING;
    private int position;
    private int end;

    /** There is nothing to read at present. */
    private boolean dry;

    /** Who waits; its place is free as soon as it is cancelled, and not only when it has run (C2). */
    private @Nullable Task<?> reader;

    private boolean eof;
    private @Nullable IOException failure;
    private int limit = DEFAULT_LIMIT;

    ReadSide(Stream stream) {
        this.stream = stream;
        this.io = stream.io;
        this.transport = stream.transport;
        this.dry = transport.startsDry();
    }

    // =========================================================== getting bytes

    private Task<?> begin() throws IOException {
        Task<?> me = stream.begin();
        if (reader != null) {
            if (!Wait.isGivenUp(reader)) {
                throw new IllegalStateException("another task reads " + stream); // I1
            }
            reader = null;
            dry = false; // it may have been woken before
        }
        if (stream.isClosing()) {
            throw new ClosedChannelException();
        }
        return me;
    }

    /** Waits until a read may succeed. */
    private void awaitReadable(Task<?> me) throws IOException {
        reader = me;
        try {
            transport.awaitReadable();
        } finally {
            if (reader == me) {
                reader = null;
                dry = false; // T1: also who gave up, without waiting at all perhaps, finds what has come meanwhile at
                // the next read
            }
        }
        if (stream.isClosing()) {
            throw new AsynchronousCloseException(); // I4
        }
    }

    /** Reads 1 to {@code most} bytes into the scratch buffer, from index 0 on; -1 at the end. Waits. */
    private int receive(Task<?> me, int most) throws IOException {
        while (!eof) {
            if (dry) {
                awaitReadable(me);
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

    /** Reads at least one byte straight into {@code dst}; -1 at the end. Waits. */
    private int receiveInto(Task<?> me, ByteBuffer dst) throws IOException {
        while (!eof) {
            if (dry) {
                awaitReadable(me);
            }
            int n = receiveNow(dst);
            if (n != 0) {
                return n;
            }
        }
        return -1;
    }

    /** One read: 0 if there was nothing. */
    private int receiveNow(ByteBuffer dst) throws IOException {
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
        int room = dst.remaining();
        int n;
        try {
            n = transport.read(dst);
        } catch (IOException e) {
            if (transport.failsForGood()) {
                failure = e;
            }
            stream.closeIfGone(e);
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

    boolean hasFailedBy(Throwable t) {
        return t == failure;
    }

    // =========================================================== what is kept

    /** Reads some bytes behind those that are kept; -1 at the end. Waits. */
    private int fill(Task<?> me) throws IOException {
        return fill(me, LoopIo.SCRATCH);
    }

    private int fill(Task<?> me, int most) throws IOException {
        int got = receive(me, most);
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
        moveKept(from);
    }

    private void moveKept(byte[] from) {
        int have = end - position;
        System.arraycopy(from, position, kept, 0, have);
        position = 0;
        end = have;
        if (from != kept) {
            io.giveBack(from);
        }
    }

    /** Takes up to {@code n} of the kept bytes. */
    private int take(byte[] dst, int offset, int n) {
        int k = Math.min(n, end - position);
        System.arraycopy(kept, position, dst, offset, k);
        consume(k);
        return k;
    }

    private int take(ByteBuffer dst) {
        int k = Math.min(dst.remaining(), end - position);
        dst.put(kept, position, k);
        consume(k);
        return k;
    }

    private byte[] takeExactly(int n) {
        byte[] bytes = new byte[n];
        if (n > 0) {
            take(bytes, 0, n);
        }
        return bytes;
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

    /** The stream is closed. */
    void drop() {
        if (position < end) {
            consume(end - position);
        }
    }

    // =========================================================== some bytes

    int readInto(byte[] dst, int offset, int n) throws IOException {
        Objects.checkFromIndexSize(offset, n, dst.length);
        Task<?> me = begin();
        if (n == 0) {
            return 0;
        }
        if (position < end) {
            return take(dst, offset, n);
        }
        if (!transport.needsDirect()) {
            return receiveInto(me, ByteBuffer.wrap(dst, offset, n));
        }
        int got = receive(me, Math.min(n, LoopIo.SCRATCH));
        if (got > 0) {
            io.scratch.get(0, dst, offset, got);
        }
        return got;
    }

    int read(ByteBuffer dst) throws IOException {
        if (dst.isReadOnly()) {
            throw new ReadOnlyBufferException(); // S13: now, and not when bytes have come
        }
        Task<?> me = begin();
        if (!dst.hasRemaining()) {
            return 0;
        }
        if (position < end) {
            return take(dst);
        }
        if (!dst.isDirect() && transport.needsDirect()) {
            int got = receive(me, Math.min(dst.remaining(), LoopIo.SCRATCH));
            if (got > 0) {
                dst.put(io.scratch.flip());
            }
            return got;
        }
        return receiveInto(me, dst);
    }

    byte[] read(int n) throws IOException {
        Task<?> me = begin();
        if (n < 0) {
            while (fill(me) >= 0) {
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
        int got = receive(me, Math.min(n, LoopIo.SCRATCH));
        if (got < 0) {
            return NOTHING;
        }
        byte[] bytes = new byte[got];
        io.scratch.get(0, bytes);
        return bytes;
    }

    byte[] readExactly(int n) throws IOException {
        if (n < 0) {
            throw new IllegalArgumentException("cannot read " + n + " bytes");
        }
        Task<?> me = begin();
        if (n > LoopIo.SCRATCH && end - position < n) {
            return readLarge(me, n);
        }
        while (end - position < n) {
            if (fill(me) < 0) {
                throw incomplete(n);
            }
        }
        return takeExactly(n);
    }

    /** The array that is kept becomes the result: no byte is copied twice, and a cancel leaves them where they are. */
    private byte[] readLarge(Task<?> me, int n) throws IOException {
        byte[] bytes = new byte[n];
        byte[] from = kept;
        kept = bytes;
        moveKept(from);
        while (end < n) {
            if (fill(me, Math.min(n - end, LoopIo.SCRATCH)) < 0) {
                throw incomplete(n);
            }
        }
        kept = NOTHING;
        position = 0;
        end = 0;
        return bytes;
    }

    private IncompleteReadException incomplete(int wanted) {
        return new IncompleteReadException(takeExactly(end - position), "all " + wanted + " had come");
    }

    // =========================================================== lines, separators

    @Nullable
    String readLine(Charset charset) throws IOException {
        Objects.requireNonNull(charset, "charset");
        Task<?> me = begin();
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
            if (fill(me) < 0) {
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

    Iterable<String> lines() {
        return () -> new Iterator<>() {
            private @Nullable String next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    try {
                        next = readLine(StandardCharsets.UTF_8);
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

    byte[] readUntil(byte[] separator) throws IOException {
        if (separator.length == 0) {
            throw new IllegalArgumentException("empty separator");
        }
        Task<?> me = begin();
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
            if (fill(me) < 0) {
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

    void limit(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("limit must be positive: " + bytes);
        }
        io.loop.requireCurrent(stream);
        limit = bytes;
    }

    // =========================================================== everything

    long copyTo(WriteSide to) throws IOException {
        long total = 0;
        while (true) {
            Task<?> me = begin();
            int n = position < end ? take(io.scratch.clear()) : receive(me, LoopIo.SCRATCH);
            if (n < 0) {
                return total;
            }
            to.writeReceived(io.scratch.flip());
            total += n;
            to.drain();
        }
    }

    boolean atEof() {
        return eof && position == end;
    }

    // =========================================================== below a layer

    /** Reads what is there, without waiting: 0 if there is nothing, -1 at the end. */
    int readNow(ByteBuffer dst) throws IOException {
        if (position < end) {
            return take(dst);
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

    /** Waits until {@link #readNow} may give something. */
    void awaitMore() throws IOException {
        if (stream.isClosing()) {
            throw new ClosedChannelException();
        }
        if (position == end && !eof && dry) {
            awaitReadable(Asyncio.currentTask());
        }
    }
}
