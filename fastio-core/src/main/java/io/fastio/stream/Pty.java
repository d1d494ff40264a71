package io.fastio.stream;

import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A pseudo terminal: two ends of a line that behave like a serial line between two machines. What is written to the
 * controller is read at the terminal, and the other way round. In raw mode: bytes pass as they are. For tests and simulations
 * of serial devices, and for driving programs that want a terminal. Needs the epoll poller.
 */
public final class Pty implements Closeable {
    private static final long TIOCSPTLCK = 0x40045431L;
    private static final long TIOCGPTN = 0x80045430L;
    private static final long TCGETS = 0x5401L;
    private static final long TCSETS = 0x5402L;

    // struct termios of the kernel: four flag words, the line discipline, 19 control characters.
    private static final int TERMIOS = 36;
    private static final int INPUT_FLAGS = 0;
    private static final int OUTPUT_FLAGS = 4;
    private static final int CONTROL_FLAGS = 8;
    private static final int LOCAL_FLAGS = 12;
    private static final int VTIME = 17 + 5;
    private static final int VMIN = 17 + 6;

    private static final int IGNBRK_TO_ISTRIP = 0x1 | 0x2 | 0x8 | 0x20;
    private static final int INLCR_IGNCR_ICRNL_IXON = 0x40 | 0x80 | 0x100 | 0x400;
    private static final int OPOST = 0x1;
    private static final int ISIG_ICANON_ECHO_ECHONL_IEXTEN = 0x1 | 0x2 | 0x8 | 0x40 | 0x8000;
    private static final int CSIZE_PARENB = 0x30 | 0x100;
    private static final int CS8 = 0x30;

    private final Stream controller;
    private final Path path;
    private final Stream terminal;

    private Pty(Stream controller, Path path, Stream terminal) {
        this.controller = controller;
        this.path = path;
        this.terminal = terminal;
    }

    /**
     * A new one. Does not wait.
     *
     * @throws UnsupportedOperationException if the loop's poller serves channels only
     */
    public static Pty open() throws IOException {
        FdIo fds = Descriptors.fds(LoopIo.get());
        int fd = fds.open("/dev/ptmx", FdIo.O_RDWR | FdIo.O_NOCTTY);
        if (fd < 0) {
            throw Errno.exception("open /dev/ptmx", fd);
        }
        boolean made = false;
        Path path;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
            check("unlocking a pty", fds.ioctl(fd, TIOCSPTLCK, number));
            check("asking for the name of a pty", fds.ioctl(fd, TIOCGPTN, number));
            path = Path.of("/dev/pts/" + number.get(ValueLayout.JAVA_INT, 0));
            makeRaw(fds, fd, arena);
            made = true;
        } finally {
            if (!made) {
                fds.close(fd);
            }
        }
        Stream controller = Descriptors.own(fd, FdIo.O_RDWR, "controller of " + path);
        try {
            return new Pty(controller, path, Streams.openFile(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
        } catch (IOException e) {
            controller.close();
            throw e;
        }
    }

    private static void makeRaw(FdIo fds, int fd, Arena arena) throws IOException {
        MemorySegment t = arena.allocate(TERMIOS, 4);
        check("reading the mode of a pty", fds.ioctl(fd, TCGETS, t));
        clear(t, INPUT_FLAGS, IGNBRK_TO_ISTRIP | INLCR_IGNCR_ICRNL_IXON);
        clear(t, OUTPUT_FLAGS, OPOST);
        clear(t, LOCAL_FLAGS, ISIG_ICANON_ECHO_ECHONL_IEXTEN);
        clear(t, CONTROL_FLAGS, CSIZE_PARENB);
        t.set(ValueLayout.JAVA_INT, CONTROL_FLAGS, t.get(ValueLayout.JAVA_INT, CONTROL_FLAGS) | CS8);
        t.set(ValueLayout.JAVA_BYTE, VMIN, (byte) 1);
        t.set(ValueLayout.JAVA_BYTE, VTIME, (byte) 0);
        check("setting the mode of a pty", fds.ioctl(fd, TCSETS, t));
    }

    private static void clear(MemorySegment t, int word, int bits) {
        t.set(ValueLayout.JAVA_INT, word, t.get(ValueLayout.JAVA_INT, word) & ~bits);
    }

    private static void check(String what, int result) throws IOException {
        if (result < 0) {
            throw Errno.exception(what, result);
        }
    }

    /** The end of whoever plays the machine behind the line. */
    public Stream controller() {
        return controller;
    }

    /** The end that is a terminal; other programs find it at {@link #path()}. */
    public Stream terminal() {
        return terminal;
    }

    /** The terminal's name. */
    public Path path() {
        return path;
    }

    /** Closes both ends. */
    @Override
    public void close() {
        terminal.close();
        controller.close();
    }

    @Override
    public String toString() {
        return "Pty[" + path + "]";
    }
}
