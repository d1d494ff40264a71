package io.fastio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of a {@link Stream} (asyncio's {@code StreamReader}). For tasks of its loop, one at a time: a second
 * reader gets an {@link IllegalStateException} at once. Every read gives the loop away while there is nothing; a cancel
 * then loses no byte (C6) and leaves the writing side alone (I1). Bytes that came before the other side closed or reset the
 * connection are delivered first; then reads report the end, or throw the {@link IOException}. After our own close, and
 * when closed while it waits, a read throws {@link ClosedChannelException}.
 */
public sealed interface StreamReader permits Stream {
    /**
     * Reads 1 to {@code n} bytes, as many as there are; an array of exactly that size, empty at the end.
     *
     * @param n zero or more, or -1 to read all until the end
     */
    byte[] read(int n) throws IOException;

    /**
     * Reads at least one byte into {@code dst}. Allocates nothing, and copies nothing if {@code dst} is direct.
     *
     * @return the number of bytes, -1 at the end, 0 if {@code dst} has no room
     */
    int read(ByteBuffer dst) throws IOException;

    /** Reads into a whole array; see {@link #readInto(byte[], int, int)}. */
    default int readInto(byte[] dst) throws IOException {
        return readInto(dst, 0, dst.length);
    }

    /**
     * Reads 1 to {@code n} bytes into {@code dst} from {@code offset} on. Allocates nothing.
     *
     * @return the number of bytes, -1 at the end, 0 if {@code n} is 0
     */
    int readInto(byte[] dst, int offset, int n) throws IOException;

    /**
     * Reads exactly {@code n} bytes. A cancelled one leaves those that have come in the stream.
     *
     * @throws IncompleteReadException with the bytes that came, if the stream ends before
     */
    byte[] readExactly(int n) throws IOException;

    /** {@link #readLine(Charset)} in UTF-8; what is not UTF-8 becomes U+FFFD. */
    default @Nullable String readLine() throws IOException {
        return readLine(StandardCharsets.UTF_8);
    }

    /**
     * Reads a line, ended by {@code \n} or {@code \r\n}.
     *
     * @param charset one in which the byte 10 is a line feed and nothing else
     * @return the line without its end; at the end of the stream what is left, then null
     * @throws LimitExceededException if the line is longer than the limit
     */
    @Nullable
    String readLine(Charset charset) throws IOException;

    /** The lines up to the end, by {@link #readLine()}; an {@link IOException} comes as {@link java.io.UncheckedIOException}. */
    Iterable<String> lines();

    /**
     * Reads up to and including the next {@code separator}.
     *
     * @param separator at least one byte
     * @throws IncompleteReadException with the bytes that came, if the stream ends before
     * @throws LimitExceededException if more bytes than the limit come before it
     */
    byte[] readUntil(byte[] separator) throws IOException;

    /**
     * Copies everything up to the end to {@code to}, no faster than that takes it.
     *
     * @return the number of bytes
     */
    long copyTo(StreamWriter to) throws IOException;

    /** Whether the end has been reached, and nothing is left to read. Does not wait. */
    boolean atEof();

    /** Longest line, and longest stretch before a separator, in bytes; 1 or more, default 65,536. */
    void limit(int bytes);

    /** Whether what can be read makes its reader ready in class URGENT (I7). At any time. */
    void readPriority(boolean on);
}
