package io.fastio.serial;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.poll.FdIo;
import io.fastio.stream.Device;
import io.fastio.stream.Stream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The far end of a serial line without hardware: a pseudo-terminal, whose other end is opened as a serial port. */
final class Pty implements Device, AutoCloseable {
    private static final long TIOCGPTN = 0x80045430L;
    private static final long TIOCSPTLCK = 0x40045431L;

    final FdIo fds = new FdIo();
    final int fd;
    final String path;
    final Stream far;
    private boolean closed;

    Pty() {
        fd = fds.open("/dev/ptmx", FdIo.O_RDWR | FdIo.O_NOCTTY | FdIo.O_NONBLOCK);
        assertThat(fd).as("/dev/ptmx").isNotNegative();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(JAVA_INT);
            assertThat(fds.ioctl(fd, TIOCSPTLCK, number)).isZero();
            assertThat(fds.ioctl(fd, TIOCGPTN, number)).isZero();
            path = "/dev/pts/" + number.get(JAVA_INT, 0);
        }
        far = new Stream(this);
    }

    @Override
    public int descriptor() {
        return fd;
    }

    @Override
    public int poll(int interest) {
        return fds.poll(fd, interest) & interest;
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        int n = fds.read(fd, dst);
        return n == -11 || n == -5 ? 0 : n; // -5, EIO: the port is not open
    }

    @Override
    public int write(ByteBuffer src) throws IOException {
        int n = fds.write(fd, src);
        return n == -11 ? 0 : n;
    }

    /** Takes the port away. */
    void unplug() {
        far.abort();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            far.abort();
            fds.close(fd);
        }
    }

    @Override
    public String toString() {
        return "far end of " + path;
    }
}
