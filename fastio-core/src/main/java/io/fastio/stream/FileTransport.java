package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.Handle;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A file for which the kernel never makes anybody wait: a regular file, {@code /dev/null}. */
final class FileTransport extends Transport {
    private final LoopIo io;
    private final FdIo fds;
    private final OwnedFd owned;

    FileTransport(LoopIo io, OwnedFd owned, FdIo fds) {
        this.io = io;
        this.fds = fds;
        this.owned = owned;
        io.opened(this);
    }

    @Override
    boolean canHalfClose() {
        return false;
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        int n = fds.read(owned.fd, dst);
        if (n < 0 && n != -Errno.EAGAIN) {
            throw Errno.exception("read from " + owned, n);
        }
        return n > 0 ? n : n == 0 ? -1 : 0;
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        int n = fds.write(owned.fd, src);
        if (n < 0 && n != -Errno.EAGAIN) {
            throw Errno.exception("write to " + owned, n);
        }
        return Math.max(n, 0);
    }

    @Override
    void readShort() {
        // Reads are never waited for.
    }

    @Override
    void awaitReadable() {
        Asyncio.yieldNow();
    }

    @Override
    void wakeReader() {
        // It only yields.
    }

    @Override
    void whenWritable(Handle callback) {
        callback.callSoon();
    }

    @Override
    void readPriority(boolean on) {
        // There is no readiness.
    }

    @Override
    void writePriority(boolean on) {
        // There is no readiness.
    }

    @Override
    void shutdownOutput() {
        throw new AssertionError("a file cannot be half-closed");
    }

    @Override
    void dropOnClose() {
        // Nothing is under way.
    }

    @Override
    void close() throws IOException {
        io.closed(this);
        owned.close();
    }

    @Override
    @Nullable
    Object info(String name) {
        return name.equals("fd") ? owned.fd : null;
    }
}
