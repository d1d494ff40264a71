package io.fastio.stream;

import io.fastio.EventLoop;
import io.fastio.LoopLocal;
import io.fastio.Watch;
import io.fastio.poll.FdIo;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What the streams of one loop share. The scratch buffer is where every read arrives and every write departs: it belongs to
 * whoever runs, until the next wait. So an idle connection holds no buffer at all, and the bytes of one step stay in the
 * processor's cache. Loop only.
 */
final class LoopIo {
    static final LoopLocal<LoopIo> LOCAL = new LoopLocal<>(LoopIo::new);

    static final int SCRATCH = 64 * 1024;
    static final int SMALL = 1024;
    private static final int KEPT_BYTES = 1024 * 1024;

    final EventLoop loop;
    final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH);

    /** System calls on descriptors; null where the loop's poller serves channels only. */
    final @Nullable FdIo fds;

    private final byte[][] small = new byte[KEPT_BYTES / SMALL / 4][];
    private int smallCount;
    private final byte[][] large = new byte[KEPT_BYTES / SCRATCH][];
    private int largeCount;
    private @Nullable Chunk chunks;
    private int chunkCount;

    private LoopIo(EventLoop loop) {
        this.loop = loop;
        this.fds = Watch.supportsFds() ? new FdIo() : null;
    }

    static LoopIo get() {
        return LOCAL.get();
    }

    /** An array of at least that size. */
    byte[] takeArray(int size) {
        if (size <= SMALL) {
            return smallCount > 0 ? small[--smallCount] : new byte[SMALL];
        }
        if (size <= SCRATCH) {
            return largeCount > 0 ? large[--largeCount] : new byte[SCRATCH];
        }
        return new byte[size];
    }

    void giveBack(byte[] array) {
        if (array.length == SMALL && smallCount < small.length) {
            small[smallCount++] = array;
        } else if (array.length == SCRATCH && largeCount < large.length) {
            large[largeCount++] = array;
        }
    }

    Chunk takeChunk() {
        Chunk c = chunks;
        if (c == null) {
            return new Chunk(ByteBuffer.allocateDirect(Chunk.SIZE), true);
        }
        chunks = c.next;
        c.next = null;
        chunkCount--;
        return c;
    }

    void giveBack(Chunk c) {
        if (c.ours && chunkCount < KEPT_BYTES / Chunk.SIZE) {
            c.next = chunks;
            chunks = c;
            chunkCount++;
        }
    }
}
