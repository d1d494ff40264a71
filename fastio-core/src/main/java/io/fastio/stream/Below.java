package io.fastio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The stream below a {@link Layer}, as the layer sees it: what is possible now, without waiting. Loop only. */
public final class Below {
    private final Stream stream;

    Below(Stream stream) {
        this.stream = stream;
    }

    /**
     * Reads what is there, in one system call at most.
     *
     * @param dst direct or not, with room
     * @return the number of bytes; 0 if there is nothing now; -1 at the end
     */
    public int read(ByteBuffer dst) throws IOException {
        return stream.in.readNow(dst);
    }

    /**
     * Writes what is taken now.
     *
     * @param src direct or not
     * @return the number of bytes
     */
    public int write(ByteBuffer src) throws IOException {
        return stream.out.writeNow(src);
    }
}
