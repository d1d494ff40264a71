package io.fastio.stream;

import io.fastio.EventLoop;
import io.fastio.LoopLocal;
import io.fastio.Priority;
import io.fastio.Watch;
import io.fastio.poll.FdIo;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the streams of one loop share. The scratch buffer is where every read arrives and every write departs: it belongs to
 * whoever runs, until the next wait. So an idle connection holds no buffer at all, and the bytes of one step stay in the
 * processor's cache. Loop only.
 */
final class LoopIo implements Closeable {
    static final LoopLocal<LoopIo> LOCAL = new LoopLocal<>(LoopIo::new);

    static final int SCRATCH = 64 * 1024;

    /** Room for four full records of TLS, so that they need one system call. */
    static final int SCRATCH_BELOW = 4 * (16 * 1024 + 256);

    static final int SMALL = 1024;
    private static final int KEPT_BYTES = 1024 * 1024;

    final EventLoop loop;
    final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH);

    /** The same for streams below a layer, which reads and writes while the other one is in use. Made when first asked for. */
    private @Nullable ByteBuffer scratchBelow;

    /** System calls on descriptors; null where the loop's poller serves channels only. */
    final @Nullable FdIo fds;

    private final byte[][] small = new byte[KEPT_BYTES / SMALL / 4][];
    private int smallCount;
    private final byte[][] large = new byte[KEPT_BYTES / SCRATCH][];
    private int largeCount;
    private @Nullable Chunk chunks;
    private int chunkCount;
    private final Chunk[] arrayChunks = new Chunk[KEPT_BYTES / Chunk.ARRAY_SIZE];
    private int arrayChunkCount;

    private @Nullable DevicePoller urgentDevices;
    private @Nullable DevicePoller normalDevices;

    /** Open transports that the loop itself does not know of, to be closed with it (S11). */
    private final Set<Transport> open = new LinkedHashSet<>();

    private LoopIo(EventLoop loop) {
        this.loop = loop;
        this.fds = Watch.supportsFds() ? new FdIo() : null;
    }

    static LoopIo get() {
        return LOCAL.get();
    }

    ByteBuffer scratchBelow() {
        ByteBuffer b = scratchBelow;
        if (b == null) {
            b = ByteBuffer.allocateDirect(SCRATCH_BELOW);
            scratchBelow = b;
        }
        return b;
    }

    DevicePoller urgentDevices() {
        DevicePoller p = urgentDevices;
        if (p == null) {
            p = new DevicePoller(loop, Priority.URGENT);
            urgentDevices = p;
        }
        return p;
    }

    DevicePoller normalDevices() {
        DevicePoller p = normalDevices;
        if (p == null) {
            p = new DevicePoller(loop, Priority.NORMAL);
            normalDevices = p;
        }
        return p;
    }

    void opened(Transport t) {
        open.add(t);
    }

    void closed(Transport t) {
        open.remove(t);
    }

    /** The loop ends. */
    @Override
    public void close() throws IOException {
        IOException failure = null;
        for (Transport t : new ArrayList<>(open)) {
            try {
                t.close();
            } catch (IOException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
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

    Chunk takeChunk(boolean direct) {
        if (!direct) {
            return arrayChunkCount > 0
                    ? arrayChunks[--arrayChunkCount]
                    : new Chunk(ByteBuffer.allocate(Chunk.ARRAY_SIZE), true);
        }
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
        if (!c.ours) {
            return;
        }
        if (!c.bytes.isDirect()) {
            if (arrayChunkCount < arrayChunks.length) {
                arrayChunks[arrayChunkCount++] = c;
            }
        } else if (chunkCount < KEPT_BYTES / Chunk.SIZE) {
            c.next = chunks;
            chunks = c;
            chunkCount++;
        }
    }
}
