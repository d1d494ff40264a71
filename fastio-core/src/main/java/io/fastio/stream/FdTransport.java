package io.fastio.stream;

import io.fastio.Handle;
import io.fastio.Watch;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor that the kernel can wait for: terminal, pipe, FIFO, character device, or a socket that came from elsewhere.
 *
 * <p>Where the open file is shared with other processes it may be in blocking mode, and that must not be changed behind their
 * backs. There nothing is tried before the kernel reports readiness, and a report pays for one read, or one write that is
 * small enough not to block.
 */
final class FdTransport extends WatchedTransport {
    /** How the descriptor may be used. */
    enum Mode {
        /** Ours, in non-blocking mode. */
        OWN,
        /** A socket: its calls can be told not to block. */
        SOCKET,
        /** Perhaps in blocking mode: one call for each report. */
        SHARED
    }

    /** What a pipe takes without blocking when it is writable: PIPE_BUF. */
    private static final int PIPE_PIECE = 4096;

    /** What a terminal takes when it is writable. */
    private static final int TERMINAL_PIECE = 256;

    private static final long TIOCGPTN = 0x80045430L;

    private final FdIo fds;
    private final OwnedFd owned;
    private final int fd;
    private final Mode mode;
    private final int piece;
    private final boolean ptyMaster;
    private final boolean writeOnly;
    private boolean writeReported;

    FdTransport(OwnedFd owned, Watch watch, FdIo fds, Mode mode, boolean writeOnly) {
        super(watch);
        this.fds = fds;
        this.owned = owned;
        this.fd = owned.fd;
        this.mode = mode;
        this.writeOnly = writeOnly;
        boolean terminal = fds.isTerminal(fd) == 1;
        this.piece = mode != Mode.SHARED ? Integer.MAX_VALUE : terminal ? TERMINAL_PIECE : PIPE_PIECE;
        this.ptyMaster = terminal && isPtyMaster(fd, fds);
    }

    private static boolean isPtyMaster(int fd, FdIo fds) {
        try (Arena arena = Arena.ofConfined()) {
            return fds.ioctl(fd, TIOCGPTN, arena.allocate(ValueLayout.JAVA_INT)) >= 0;
        }
    }

    @Override
    boolean readsAtOnce() {
        return mode != Mode.SHARED;
    }

    /** A FIFO that nobody has opened for writing yet looks as if it had ended. */
    @Override
    boolean startsDry() {
        return true;
    }

    /** A pipe with nothing but this half. */
    @Override
    boolean canHalfClose() {
        return writeOnly;
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        int n = mode == Mode.SOCKET ? fds.recv(fd, dst) : fds.read(fd, dst);
        if (n > 0) {
            return n;
        }
        if (n == 0 || n == -Errno.EIO && ptyMaster) { // that is how a pty says that the other end is closed
            return -1;
        }
        if (n == -Errno.EAGAIN) {
            watch.readWouldBlock();
            return 0;
        }
        throw Errno.exception("read from " + owned, n);
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        int limit = src.limit();
        if (mode == Mode.SHARED) {
            if (!writeReported) {
                return 0;
            }
            writeReported = false;
            src.limit(src.position() + Math.min(src.remaining(), piece));
        }
        int n = mode == Mode.SOCKET ? fds.send(fd, src) : fds.write(fd, src);
        src.limit(limit);
        if (n >= 0) {
            return n;
        }
        if (n == -Errno.EAGAIN) {
            watch.writeWouldBlock();
            return 0;
        }
        throw Errno.exception("write to " + owned, n);
    }

    @Override
    void whenWritable(Handle callback) throws IOException {
        super.whenWritable(callback);
        writeReported = true; // from the callback on, and nobody else writes before
    }

    @Override
    void shutdownOutput() throws IOException {
        close();
    }

    @Override
    void dropOnClose() {
        // The kernel has no such thing here.
    }

    @Override
    void close() throws IOException {
        watch.close();
        owned.close();
    }

    @Override
    @Nullable
    Object info(String name) {
        return name.equals("fd") ? fd : null;
    }
}
