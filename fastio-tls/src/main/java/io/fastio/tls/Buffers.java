package io.fastio.tls;

import io.fastio.LoopLocal;
import java.nio.ByteBuffer;

/** Buffers that the sessions of one loop share: who has nothing under way holds none. Loop only. */
final class Buffers {
    static final LoopLocal<Buffers> LOCAL = new LoopLocal<>(loop -> new Buffers());

    /** Four full records, and a little. On the heap: the JDK's ciphers are made for arrays. */
    static final int SIZE = 4 * (16 * 1024 + 256);

    private static final int KEPT = 16;

    private final ByteBuffer[] free = new ByteBuffer[KEPT];
    private int count;

    private Buffers() {}

    /** An empty buffer. */
    ByteBuffer take() {
        return count > 0 ? free[--count].clear() : ByteBuffer.allocate(SIZE);
    }

    void giveBack(ByteBuffer b) {
        if (count < KEPT && b.capacity() == SIZE) {
            free[count++] = b;
        }
    }
}
