package io.fastio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** What was written and could not be sent at once, in order. Loop only. */
final class SendQueue {
    private final LoopIo io;
    private final boolean direct;
    private @Nullable Chunk first;
    private @Nullable Chunk last;

    /** Bytes in the queue. */
    long size;

    /** @param direct whether the transport takes direct buffers only; others are better off with arrays */
    SendQueue(LoopIo io, boolean direct) {
        this.io = io;
        this.direct = direct;
    }

    /** Appends a copy. */
    void add(byte[] b, int off, int n) {
        size += n;
        while (n > 0) {
            ByteBuffer to = room();
            int limit = to.limit();
            int k = Math.min(n, to.capacity() - limit);
            to.limit(limit + k);
            to.put(limit, b, off, k);
            off += k;
            n -= k;
        }
    }

    /** Appends a copy of what remains in {@code src}, which is used up. */
    void add(ByteBuffer src) {
        size += src.remaining();
        while (src.hasRemaining()) {
            ByteBuffer to = room();
            int limit = to.limit();
            int k = Math.min(src.remaining(), to.capacity() - limit);
            to.limit(limit + k);
            to.put(limit, src, src.position(), k);
            src.position(src.position() + k);
        }
    }

    /** Appends what remains in {@code src} itself, which is used up; its bytes must stay as they are until sent. */
    void addUncopied(ByteBuffer src) {
        size += src.remaining();
        append(new Chunk(src.duplicate(), false));
        src.position(src.limit());
    }

    private ByteBuffer room() {
        Chunk c = last;
        if (c == null || !c.ours || c.bytes.limit() == c.bytes.capacity()) {
            c = io.takeChunk(direct);
            c.bytes.position(0).limit(0);
            append(c);
        }
        return c.bytes;
    }

    private void append(Chunk c) {
        if (last == null) {
            first = c;
        } else {
            last.next = c;
        }
        last = c;
    }

    /**
     * Sends until the transport takes no more, or {@code most} bytes are sent.
     *
     * @return whether it stopped at {@code most}, and could go on
     */
    boolean send(Transport to, long most) throws IOException {
        for (Chunk c = first; c != null; c = first) {
            if (most <= 0) {
                return true;
            }
            int n = send(c.bytes, to);
            if (n <= 0) {
                return false;
            }
            size -= n;
            most -= n;
            if (!c.bytes.hasRemaining()) {
                removeFirst(c);
            }
        }
        return false;
    }

    private int send(ByteBuffer b, Transport to) throws IOException {
        if (b.isDirect() || !to.needsDirect()) {
            return to.write(b);
        }
        ByteBuffer scratch = io.scratch.clear();
        int k = Math.min(b.remaining(), scratch.capacity());
        scratch.put(0, b, b.position(), k).limit(k);
        int n = to.write(scratch);
        if (n > 0) {
            b.position(b.position() + n);
        }
        return n;
    }

    private void removeFirst(Chunk c) {
        first = c.next;
        if (first == null) {
            last = null;
        }
        c.next = null;
        io.giveBack(c);
    }

    /** Forgets everything. */
    void drop() {
        for (Chunk c = first; c != null; c = first) {
            removeFirst(c);
        }
        size = 0;
    }
}
