package io.fastio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The writing side of a {@link Stream} (asyncio's {@code StreamWriter}). For the tasks of its loop, any number of them;
 * each write stays in one piece. Only {@link #drain}, {@link #flush} and {@link #waitClosed} wait; a cancel of those
 * neither loses nor doubles a byte (C6).
 *
 * <p>Once the connection is broken, everything here throws {@link IOException}, and after our own close
 * {@link java.nio.channels.ClosedChannelException}.
 */
public sealed interface StreamWriter permits Stream {
    /** Writes all of an array; see {@link #write(byte[], int, int)}. */
    default void write(byte[] src) throws IOException {
        write(src, 0, src.length);
    }

    /**
     * Sends what can be sent at once and keeps a copy of the rest, which follows by itself; does not wait. Nothing else runs
     * between the call and that; behind it others may have a turn, if the task has had its share (S14). Whoever writes much
     * calls {@link #drain} between writes. Allocates nothing as long as the other side keeps up.
     *
     * @throws io.fastio.CancelledError if the task was cancelled before; nothing was written. A cancel that comes later
     *     stays pending
     */
    void write(byte[] src, int offset, int n) throws IOException;

    /** {@link #write(byte[], int, int)} of what remains in {@code src}, which is used up. */
    void write(ByteBuffer src) throws IOException;

    /**
     * As {@link #write(ByteBuffer)}, but keeps no copy of what cannot be sent at once: the bytes must stay as they are until
     * {@link #flush} has returned.
     */
    void writeUncopied(ByteBuffer src) throws IOException;

    /** Writes a text in UTF-8. */
    default void write(String text) throws IOException {
        write(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    /**
     * If more bytes are kept than the high water mark allows, waits until they are down to the low one. Several tasks may
     * wait, and go on waiting when the stream is closed meanwhile, while it still sends.
     */
    void drain() throws IOException;

    /** Waits until everything written so far is in the system's hands. */
    void flush() throws IOException;

    /**
     * When {@link #drain} begins to wait, and when it ends. Default 16 KiB and 64 KiB.
     *
     * @param low bytes, zero or more
     * @param high bytes, at least {@code low}
     */
    void waterMarks(int low, int high);

    /** Bytes that were written and are still kept. */
    long pendingBytes();

    /**
     * Tells the other side, behind everything written so far, that nothing more will come; reading goes on. Does not
     * wait. Idempotent.
     *
     * @throws UnsupportedOperationException if the stream cannot be half-closed
     */
    void writeEof() throws IOException;

    /**
     * Ends the stream, both sides of it. What was written before still goes out, for as long as the loop's {@code
     * shutdownTimeout} at most; a task that waits to read gets an exception now. Does not wait. Idempotent.
     */
    void close();

    /**
     * Ends the stream at once, also one that is being closed, and drops what was not sent; the other side of a TCP connection
     * sees a reset. Whoever waits here gets an exception (Trio's {@code aclose_forcefully}). Does not wait. Idempotent.
     */
    void abort();

    /**
     * Waits until the stream is closed and what was written has gone out, or cannot: for the loop's {@code shutdownTimeout}
     * at most after the close. A cancel or time limit ends this wait only; {@link #abort} ends the stream.
     *
     * @return whether everything written was given to the system
     */
    boolean waitClosed();

    /** Whether {@link #close} or {@link #abort} was called. */
    boolean isClosing();

    /** In a server's handler: the connection shall outlive the handler. */
    void detach();

    /**
     * What is known about the stream under asyncio's names: {@code peername} and {@code sockname}
     * ({@link java.net.SocketAddress}), {@code channel} (a NIO channel, for its options only), or null. And, of sockets on the
     * epoll poller, {@code unsent}: an {@link Integer}, the bytes that the system has taken and the other side has not
     * acknowledged.
     */
    @Nullable
    Object getExtraInfo(String name);

    /** Whether {@link #drain} and {@link #flush} wake, and kept bytes are sent, in class URGENT (I7). At any time. */
    void writePriority(boolean on);
}
