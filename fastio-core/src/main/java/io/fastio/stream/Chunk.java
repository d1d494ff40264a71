package io.fastio.stream;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A piece of what a stream has still to send: what lies between position and limit. Loop only. */
final class Chunk {
    static final int SIZE = 16 * 1024;

    /** For transports that take arrays: as much as they encrypt at once. */
    static final int ARRAY_SIZE = 64 * 1024;

    final ByteBuffer bytes;

    /** Ours to fill and to use again; else a buffer that its owner told us not to copy. */
    final boolean ours;

    @Nullable
    Chunk next;

    Chunk(ByteBuffer bytes, boolean ours) {
        this.bytes = bytes;
        this.ours = ours;
    }
}
