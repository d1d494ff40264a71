package io.fastio.gpio;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.poll.FdIo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** A chip with four lines that speaks the kernel's protocol; the descriptors of its lines are the reading ends of pipes. */
final class FakeKernel implements GpioKernel {
    static final int CHIP = 1_000_000;
    static final int LINES = 4;

    private final FdIo fds = new FdIo();
    final Map<Integer, Line> byFd = new HashMap<>();
    final Map<Integer, Line> byNumber = new HashMap<>();
    int edgesRefused;
    int busy = -1;
    boolean chipClosed;

    /** A line that was requested, and what the request said. */
    static final class Line {
        final int number;
        final int in;
        final int out;
        final long flags;
        final int debounceMicros;
        boolean high;
        int sequence;
        int sets;

        Line(int number, int in, int out, long flags, int debounceMicros) {
            this.number = number;
            this.in = in;
            this.out = out;
            this.flags = flags;
            this.debounceMicros = debounceMicros;
        }
    }

    @Override
    public int open(String path) {
        return path.equals("/dev/gpiochip9") ? CHIP : path.equals("/dev/secret") ? -13 : -2;
    }

    @Override
    public int close(int fd) {
        if (fd == CHIP) {
            chipClosed = true;
            return 0;
        }
        Line l = byFd.remove(fd);
        byNumber.remove(l.number);
        fds.close(l.out);
        return fds.close(fd);
    }

    @Override
    public int ioctl(int fd, long request, MemorySegment arg) {
        if (fd == CHIP) {
            return onChip(request, arg);
        }
        Line l = byFd.get(fd);
        if (request == GpioAbi.GET_VALUES) {
            assertThat(arg.get(JAVA_LONG, GpioAbi.VALUES_MASK)).isEqualTo(1);
            arg.set(JAVA_LONG, GpioAbi.VALUES_BITS, l.high ? 1 : 0);
            return 0;
        }
        assertThat(request).isEqualTo(GpioAbi.SET_VALUES);
        l.high = arg.get(JAVA_LONG, GpioAbi.VALUES_BITS) == 1;
        l.sets++;
        return 0;
    }

    private int onChip(long request, MemorySegment arg) {
        if (request == GpioAbi.GET_CHIPINFO) {
            arg.setString(0, "gpiochip9");
            arg.setString(32, "fake");
            arg.set(JAVA_INT, 64, LINES);
            return 0;
        }
        if (request == GpioAbi.GET_LINEINFO) {
            int line = arg.get(JAVA_INT, GpioAbi.LINEINFO_OFFSET);
            arg.setString(0, "GPIO" + line);
            arg.setString(GpioAbi.LINEINFO_CONSUMER, line == busy ? "somebody" : "");
            arg.set(JAVA_LONG, GpioAbi.LINEINFO_FLAGS, line == busy ? GpioAbi.FLAG_USED | GpioAbi.FLAG_OUTPUT : 0);
            return 0;
        }
        assertThat(request).isEqualTo(GpioAbi.GET_LINE);
        int number = arg.get(JAVA_INT, GpioAbi.REQUEST_OFFSETS);
        long flags = arg.get(JAVA_LONG, GpioAbi.REQUEST_FLAGS);
        if (number == busy) {
            return -16;
        }
        if ((flags & GpioAbi.FLAG_EDGE_RISING) != 0 && edgesRefused != 0) {
            return edgesRefused;
        }
        assertThat(arg.get(JAVA_INT, GpioAbi.REQUEST_NUM_LINES)).isEqualTo(1);
        assertThat(arg.getString(GpioAbi.REQUEST_CONSUMER)).isEqualTo("fastio");
        int attributes = arg.get(JAVA_INT, GpioAbi.REQUEST_NUM_ATTRS);
        int id = arg.get(JAVA_INT, GpioAbi.REQUEST_ATTRS);
        int[] ends = new int[2];
        assertThat(fds.pipe(ends, FdIo.O_CLOEXEC)).isZero();
        Line l = new Line(
                number,
                ends[0],
                ends[1],
                flags,
                attributes == 1 && id == 3 ? arg.get(JAVA_INT, GpioAbi.REQUEST_ATTRS + 8) : 0);
        l.high = attributes == 1 && id == 2 && arg.get(JAVA_LONG, GpioAbi.REQUEST_ATTRS + 8) == 1;
        byFd.put(l.in, l);
        byNumber.put(number, l);
        arg.set(JAVA_INT, GpioAbi.REQUEST_FD, l.in);
        return 0;
    }

    @Override
    public int read(int fd, MemorySegment dst, int length) {
        return fds.read(fd, dst, 0, length);
    }

    @Override
    public int setNonBlocking(int fd) {
        return fds.setNonBlocking(fd, true);
    }

    /** The line changes, and the kernel tells of it. */
    void edge(int number, long timestamp) {
        Line l = byNumber.get(number);
        l.high = !l.high;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment e = arena.allocate(GpioAbi.EVENT_SIZE, 8);
            e.set(JAVA_LONG, 0, timestamp);
            e.set(JAVA_INT, 8, l.high ? 1 : 2);
            e.set(JAVA_INT, 12, number);
            e.set(JAVA_INT, 16, ++l.sequence);
            e.set(JAVA_INT, 20, l.sequence);
            assertThat(fds.write(l.out, e, 0, GpioAbi.EVENT_SIZE)).isEqualTo(GpioAbi.EVENT_SIZE);
        }
    }

    /** The line changes, and the kernel has no room to tell of it. */
    void lostEdge(int number) {
        Line l = byNumber.get(number);
        l.high = !l.high;
        l.sequence++;
    }

    /** The chip is taken away: the line gives nothing any more. */
    void unplug(int number) {
        fds.close(byNumber.get(number).out);
    }
}
