package io.fastio.serial;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import io.fastio.stream.Device;
import io.fastio.stream.DeviceGoneException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A serial port of Linux: a descriptor of our own, so that the loop's poller waits for it, and settings by the kernel's own
 * calls. The library that lists the ports is not used here: it keeps its descriptor to itself, and opening the port twice would
 * pulse DTR, which resets many boards.
 */
final class LinuxLine extends SerialLine implements Device {
    private static final int ENXIO = 6;
    private static final int EACCES = 13;
    private static final int EBUSY = 16;
    private static final int ENODEV = 19;

    /** By how much the speed may differ before bytes get damaged: half a bit at the end of ten. */
    private static final double SPEED_TOLERANCE = 0.03;

    private final FdIo fds;
    private final String path;
    private int fd;
    private boolean exclusive;

    // Where calls put what they tell; one at a time.
    private final MemorySegment termios = Arena.ofAuto().allocate(Termios.SIZE, 4);
    private final MemorySegment before = Arena.ofAuto().allocate(Termios.SIZE, 4);
    private final MemorySegment number = Arena.ofAuto().allocate(JAVA_INT);
    private final MemorySegment counters = Arena.ofAuto().allocate(Termios.COUNTERS_SIZE, 4);

    private LinuxLine(FdIo fds, String path, int fd) {
        this.fds = fds;
        this.path = path;
        this.fd = fd;
    }

    static LinuxLine open(String path, SerialOptions options) throws IOException {
        FdIo fds = new FdIo();
        int fd = fds.open(path, FdIo.O_RDWR | FdIo.O_NOCTTY | FdIo.O_NONBLOCK);
        if (fd < 0) {
            throw switch (-fd) {
                case Errno.ENOENT, ENXIO, ENODEV -> new FileNotFoundException("no serial port " + path);
                case EACCES -> new AccessDeniedException(path, null, "no access; is the user in its group (dialout)?");
                case EBUSY -> inUse(path);
                default -> Errno.exception("open " + path, fd);
            };
        }
        LinuxLine line = new LinuxLine(fds, path, fd);
        boolean opened = false;
        try {
            if (fds.isTerminal(fd) != 1) {
                throw new IOException(path + " is not a serial port");
            }
            line.configure(options);
            opened = true;
            return line;
        } finally {
            if (!opened) {
                line.close();
            }
        }
    }

    private static IOException inUse(String path) {
        return new IOException("serial port " + path + " is in use by somebody else");
    }

    // =========================================================== the device

    @Override
    public int descriptor() {
        return fd;
    }

    /** For pollers that cannot watch descriptors. */
    @Override
    public int poll(int interest) {
        int ready = fds.poll(fd, interest);
        return ready < 0 ? ERROR : ready & (interest | ERROR | HANGUP);
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        int n = fds.read(fd, dst);
        if (n > 0) {
            return n;
        }
        if (n == -Errno.EAGAIN) {
            return 0;
        }
        throw failed("read from ", n == 0 ? -Errno.EIO : n); // 0: hung up
    }

    @Override
    public int write(ByteBuffer src) throws IOException {
        int n = fds.write(fd, src);
        if (n >= 0) {
            return n;
        }
        if (n == -Errno.EAGAIN) {
            return 0;
        }
        throw failed("write to ", n);
    }

    private IOException failed(String what, int result) {
        return switch (-result) {
            case Errno.EIO, ENXIO, ENODEV -> gone(null);
            default -> Errno.exception(what + this, result);
        };
    }

    private DeviceGoneException gone(@Nullable Throwable cause) {
        return new DeviceGoneException(this + " is gone", cause);
    }

    /**
     * Closing waits, in the kernel, until the output is on the line, for up to 30 seconds if the other side does not take it. So
     * with output left it happens on a thread of its own.
     */
    @Override
    public void close() {
        int f = fd;
        if (f < 0) {
            return;
        }
        fd = -1;
        boolean unsent = fds.ioctl(f, Termios.TIOCOUTQ, number) >= 0 && number.get(JAVA_INT, 0) > 0;
        if (exclusive) {
            fds.ioctl(f, Termios.TIOCNXCL, 0); // fails only if the device is gone, and the setting with it
        }
        if (unsent) {
            Thread.ofPlatform().daemon().name("closing " + path).start(() -> new FdIo().close(f));
        } else {
            fds.close(f); // what fails here is the device's end, which was told; the number is free anyway (F83)
        }
    }

    // =========================================================== the line

    @Override
    public String path() {
        return path;
    }

    private int ioctl(String what, long request, MemorySegment arg) throws IOException {
        requireOpen();
        return checked(what, fds.ioctl(fd, request, arg));
    }

    private int ioctl(String what, long request, long arg) throws IOException {
        requireOpen();
        return checked(what, fds.ioctl(fd, request, arg));
    }

    private void requireOpen() throws ClosedChannelException {
        if (fd < 0) {
            throw new ClosedChannelException();
        }
    }

    private int checked(String what, int result) throws IOException {
        if (result < 0) {
            throw Errno.exception(what + " of " + this, result);
        }
        return result;
    }

    @Override
    public SerialOptions settings() throws IOException {
        ioctl("settings", Termios.TCGETS2, termios);
        return Termios.get(termios, exclusive);
    }

    @Override
    public void configure(SerialOptions options) throws IOException {
        setExclusive(options.exclusive()); // first: whoever has the port is not to find other settings
        ioctl("settings", Termios.TCGETS2, termios);
        before.copyFrom(termios);
        Termios.set(termios, options);
        ioctl("setting " + options.name(), Termios.TCSETS2, termios);
        boolean inForce = false;
        try {
            requireInForce(options, settings());
            inForce = true;
        } finally {
            if (!inForce) {
                ioctl("settings", Termios.TCSETS2, before);
            }
        }
    }

    /** The terminal's own mark keeps out everybody but root, and the lock those who ask for it, as most programs do. */
    private void setExclusive(boolean on) throws IOException {
        requireOpen();
        int locked = fds.lock(fd, on);
        if (locked == -Errno.EAGAIN) {
            throw inUse(path);
        }
        checked("locking", locked);
        ioctl("exclusive use", on ? Termios.TIOCEXCL : Termios.TIOCNXCL, 0L);
        exclusive = on;
    }

    private void requireInForce(SerialOptions wanted, SerialOptions inForce) throws IOException {
        String missing = missing(wanted, inForce, Path.of(path).toRealPath().startsWith("/dev/pts"));
        if (missing != null) {
            throw new IOException(this + " cannot do " + missing);
        }
    }

    /**
     * The kernel does not refuse what the hardware cannot do; it does something else. That is told, but for pseudo-terminals:
     * these have always 8 bits without parity, and no line in between.
     */
    static @Nullable String missing(SerialOptions wanted, SerialOptions inForce, boolean pseudoTerminal) {
        if (Math.abs(inForce.speed() - wanted.speed()) > wanted.speed() * SPEED_TOLERANCE) {
            return wanted.speed() + " bit/s; nearest is " + inForce.speed();
        }
        return pseudoTerminal || inForce.speed(wanted.speed()).equals(wanted) ? null : wanted + "; it does " + inForce;
    }

    @Override
    public ModemLines modemLines() throws IOException {
        ioctl("modem lines", Termios.TIOCMGET, number);
        return Termios.modemLines(number.get(JAVA_INT, 0));
    }

    @Override
    public void dtr(boolean on) throws IOException {
        modemLine("DTR", Termios.TIOCM_DTR, on);
    }

    @Override
    public void rts(boolean on) throws IOException {
        modemLine("RTS", Termios.TIOCM_RTS, on);
    }

    private void modemLine(String name, int bit, boolean on) throws IOException {
        number.set(JAVA_INT, 0, bit);
        ioctl(name, on ? Termios.TIOCMBIS : Termios.TIOCMBIC, number);
    }

    @Override
    public Optional<SerialCounters> counters() throws IOException {
        requireOpen();
        int r = fds.ioctl(fd, Termios.TIOCGICOUNT, counters);
        if (r == -Errno.ENOTTY || r == -22) {
            return Optional.empty();
        }
        checked("counters", r);
        return Optional.of(Termios.counters(counters));
    }

    @Override
    public int available() throws IOException {
        ioctl("available bytes", Termios.FIONREAD, number);
        return number.get(JAVA_INT, 0);
    }

    @Override
    public int unsent() throws IOException {
        ioctl("unsent bytes", Termios.TIOCOUTQ, number);
        return number.get(JAVA_INT, 0);
    }

    @Override
    public void discardInput() throws IOException {
        ioctl("discarding input", Termios.TCFLSH, Termios.TCIFLUSH);
    }

    @Override
    public void discardOutput() throws IOException {
        ioctl("discarding output", Termios.TCFLSH, Termios.TCOFLUSH);
    }

    @Override
    void setBreak(boolean on) throws IOException {
        ioctl("break", on ? Termios.TIOCSBRK : Termios.TIOCCBRK, 0L);
    }

    @Override
    public String toString() {
        return "serial port " + path;
    }
}
