package io.fastio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A protocol laid over a stream, which turns its bytes into others: encryption, compression, framing. {@link
 * Streams#layered} makes a stream of the two, which waits, queues, closes and has priorities like any other. A layer itself
 * never waits: it reads and writes what is possible now, by the {@link Below} it was made with. Loop only.
 */
public interface Layer {
    /**
     * Reads what there is, as far as {@code dst} has room; takes no more from below than it needs for that.
     *
     * @param dst direct or not, with room
     * @return the number of bytes; 0 if more is needed from below; -1 at the end
     */
    int read(ByteBuffer dst) throws IOException;

    /** Whether {@link #read} may give something, or fail, without more from below. */
    boolean isReadable();

    /**
     * Writes what can be taken at once. Bytes count as written when what became of them was taken below. If that takes only
     * a part, the layer keeps the rest and answers 0, or fewer bytes than it has worked on; it is called again with those
     * bytes first, maybe in smaller pieces, when there is room.
     *
     * @param src direct or not, not empty; what is written is used up
     * @return the number of bytes
     */
    int write(ByteBuffer src) throws IOException;

    /**
     * Sends what the layer has kept, its own messages included.
     *
     * @return whether nothing is left
     */
    boolean flush() throws IOException;

    /** Whether there is a way to say that nothing more will come, other than closing. */
    boolean canHalfClose();

    /** Says that nothing more will come. What cannot be sent now is kept for {@link #flush}. */
    void writeEof() throws IOException;

    /**
     * The stream is closed: the last words, which are sent as far as the other side lets them. The stream below is closed
     * behind them. Not called if the stream is aborted.
     *
     * @return what is still to be sent, or null
     */
    @Nullable
    ByteBuffer close();

    /** What there is to know under that name; null: ask below. */
    @Nullable
    Object info(String name);
}
