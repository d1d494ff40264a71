package io.fastio.stream;

import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.Closeable;
import java.io.IOException;

/** A descriptor that a stream has to close; once, as its number soon means something else (I4). Loop only. */
final class OwnedFd implements Closeable {
    final int fd;
    private final FdIo fds;
    private final String name;
    private boolean closed;

    OwnedFd(int fd, FdIo fds, String name) {
        this.fd = fd;
        this.fds = fds;
        this.name = name;
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            int r = fds.close(fd);
            if (r < 0) {
                throw Errno.exception("closing " + name, r);
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
