package io.fastio.gpio;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.LoopError;
import io.fastio.LoopLocal;
import io.fastio.Priority;
import io.fastio.Watch;
import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChip;
import io.fastio.poll.Errno;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A GPIO chip of the Linux kernel, by its character device (version 2, Linux 5.10 and newer). For the tasks of the loop that
 * opened it; nothing waits.
 *
 * <p>Each line in use has a descriptor of its own, from which the kernel hands out the changes with the time of the interrupt;
 * the loop's poller waits for it, so that a change wakes its task within microseconds and an idle line costs nothing. The level
 * of a line is what its changes add up to: between two looks no edge is lost, and none is told twice. If more changes come than
 * the kernel keeps (256 a line), {@link LineEvent#missed} tells how many; a pin still ends up at the right level.
 *
 * <p>Where the loop's poller cannot wait for descriptors, or a line cannot report changes, pins are looked at by the loop (I8).
 */
public final class GpioChip implements PinChip {
    private static final int ENXIO = 6;
    private static final int EACCES = 13;
    private static final int EBUSY = 16;
    private static final int EINVAL = 22;
    private static final int EVENTS_AT_ONCE = 16;

    /** Chips left open are closed with their loop (S11). */
    private static final LoopLocal<OpenChips> OPEN = new LoopLocal<>(_ -> new OpenChips());

    private static final class OpenChips implements AutoCloseable {
        final Set<GpioChip> chips = new LinkedHashSet<>();

        @Override
        public void close() throws IOException {
            for (GpioChip c : List.copyOf(chips)) {
                c.close();
            }
        }
    }

    private final GpioKernel kernel;
    private final EventLoop loop;
    private final OpenChips open;
    private final ChipInfo info;
    private final int fd;
    private final Map<Integer, Line> lines = new HashMap<>();
    private boolean closed;

    // Where calls put what they tell; one at a time.
    private final MemorySegment request = Arena.ofAuto().allocate(GpioAbi.REQUEST_SIZE, 8);
    private final MemorySegment values = Arena.ofAuto().allocate(GpioAbi.VALUES_SIZE, 8);
    private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS_AT_ONCE * GpioAbi.EVENT_SIZE, 8);

    /** A line in use. */
    private final class Line {
        final int number;
        final int fd;
        final boolean output;
        private final @Nullable Watch watch;
        private final Handle ready;
        final List<Listener> listeners = new ArrayList<>();
        final List<Consumer<? super LineEvent>> observers = new ArrayList<>();
        private boolean high;
        private int sequence;

        Line(int number, int fd, boolean output, boolean edges) throws IOException {
            this.number = number;
            this.fd = fd;
            this.output = output;
            this.ready = loop.handle(Priority.URGENT, this::ready);
            this.watch = edges ? Watch.of(fd, null) : null;
            if (watch != null) {
                begin(watch);
            }
        }

        /** Finds out the level at which the changes begin. */
        private void begin(Watch w) throws IOException {
            do {
                high = value();
            } while (takeChanges() > 0);
            w.readWouldBlock();
            w.whenReadable(ready);
        }

        boolean reports() {
            return watch != null;
        }

        boolean level() throws IOException {
            if (watch == null) {
                return value();
            }
            takeChanges(); // what has happened already is told first: the level is what it led to
            return high;
        }

        private boolean value() throws IOException {
            values.set(JAVA_LONG, GpioAbi.VALUES_BITS, 0);
            values.set(JAVA_LONG, GpioAbi.VALUES_MASK, 1);
            checked("reading " + this, kernel.ioctl(fd, GpioAbi.GET_VALUES, values));
            return (values.get(JAVA_LONG, GpioAbi.VALUES_BITS) & 1) != 0;
        }

        void set(boolean level) throws IOException {
            values.set(JAVA_LONG, GpioAbi.VALUES_BITS, level ? 1 : 0);
            values.set(JAVA_LONG, GpioAbi.VALUES_MASK, 1);
            checked("setting " + this, kernel.ioctl(fd, GpioAbi.SET_VALUES, values));
        }

        /** A callback: the kernel has changes, or an error to tell of. */
        private void ready() {
            Watch w = Objects.requireNonNull(watch);
            if (w.isClosed()) {
                return;
            }
            try {
                takeChanges();
                w.readWouldBlock();
                w.whenReadable(ready);
            } catch (IOException e) {
                w.close(); // whoever reads the pin gets the error; waiting for changes would only repeat it
                loop.report(new LoopError(this + " reports no more changes", e, null));
            }
        }

        private int takeChanges() throws IOException {
            int taken = 0;
            while (true) {
                int n = kernel.read(fd, events, EVENTS_AT_ONCE * GpioAbi.EVENT_SIZE);
                if (n == -Errno.EAGAIN) {
                    return taken;
                }
                checked("changes of " + this, n);
                if (n < GpioAbi.EVENT_SIZE) {
                    throw new IOException("changes of " + this + ": the kernel gave " + n + " bytes");
                }
                int count = n / GpioAbi.EVENT_SIZE;
                for (int i = 0; i < count; i++) {
                    take(events.asSlice((long) i * GpioAbi.EVENT_SIZE, GpioAbi.EVENT_SIZE));
                }
                taken += count;
            }
        }

        private void take(MemorySegment e) {
            boolean rising = e.get(JAVA_INT, GpioAbi.EVENT_ID) == GpioAbi.EVENT_RISING;
            int number = e.get(JAVA_INT, GpioAbi.EVENT_LINE_SEQNO);
            int missed = number - sequence - 1;
            sequence = number;
            if (rising == high) {
                change(!high); // the one that is missing in between
            }
            change(rising);
            if (!observers.isEmpty()) {
                LineEvent event = new LineEvent(
                        this.number,
                        rising ? Edge.RISING : Edge.FALLING,
                        e.get(JAVA_LONG, GpioAbi.EVENT_TIMESTAMP),
                        number,
                        missed);
                for (Consumer<? super LineEvent> o : List.copyOf(observers)) {
                    o.accept(event);
                }
            }
        }

        private void change(boolean level) {
            high = level;
            for (int i = 0; i < listeners.size(); i++) {
                listeners.get(i).changed(level);
            }
        }

        void release() throws IOException {
            if (watch != null) {
                watch.close();
            }
            checked("releasing " + this, kernel.close(fd));
        }

        @Override
        public String toString() {
            return "line " + number + " of " + GpioChip.this;
        }
    }

    private GpioChip(GpioKernel kernel, int fd, String path) throws IOException {
        this.kernel = kernel;
        this.loop = Asyncio.runningLoop();
        this.fd = fd;
        this.info = info(kernel, fd, path);
        this.open = OPEN.get();
        open.chips.add(this);
    }

    /**
     * Opens a chip.
     *
     * @param path {@code /dev/gpiochip0}; see {@link #list()}
     * @throws FileNotFoundException if there is no such chip
     * @throws IOException if the user may not use it, or it is no GPIO chip
     * @throws UnsupportedOperationException off Linux
     */
    public static GpioChip open(String path) throws IOException {
        return open(GpioKernel.linux(), path);
    }

    static GpioChip open(GpioKernel kernel, String path) throws IOException {
        Asyncio.currentTask();
        int fd = kernel.open(path);
        if (fd < 0) {
            throw switch (-fd) {
                case Errno.ENOENT -> new FileNotFoundException("no GPIO chip " + path);
                case EACCES -> new AccessDeniedException(path, null, "no access; is the user in its group (gpio)?");
                default -> Errno.exception("open " + path, fd);
            };
        }
        boolean opened = false;
        try {
            GpioChip chip = new GpioChip(kernel, fd, path);
            opened = true;
            return chip;
        } finally {
            if (!opened) {
                kernel.close(fd);
            }
        }
    }

    /** The GPIO chips of this machine that the user may open; none on a machine without, and off Linux. */
    public static List<ChipInfo> list() throws IOException {
        List<ChipInfo> found = new ArrayList<>();
        Path dev = Path.of("/dev");
        if (!Files.isDirectory(dev)) {
            return List.of();
        }
        try (DirectoryStream<Path> chips = Files.newDirectoryStream(dev, "gpiochip*")) {
            for (Path p : chips) {
                GpioKernel kernel = GpioKernel.linux();
                int fd = kernel.open(p.toString());
                if (fd >= 0) {
                    try {
                        found.add(info(kernel, fd, p.toString()));
                    } finally {
                        kernel.close(fd);
                    }
                }
            }
        }
        found.sort(Comparator.comparing(ChipInfo::path));
        return List.copyOf(found);
    }

    private static ChipInfo info(GpioKernel kernel, int fd, String path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment c = arena.allocate(GpioAbi.CHIPINFO_SIZE, 8);
            int r = kernel.ioctl(fd, GpioAbi.GET_CHIPINFO, c);
            if (r < 0) {
                throw Errno.exception(path + " is not a GPIO chip", r);
            }
            return GpioAbi.chipInfo(c, path);
        }
    }

    /** What the chip is. */
    public ChipInfo info() {
        return info;
    }

    /** What a line is, and who uses it. */
    public LineInfo lineInfo(int line) throws IOException {
        requireLine(line);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment l = arena.allocate(GpioAbi.LINEINFO_SIZE, 8);
            l.set(JAVA_INT, GpioAbi.LINEINFO_OFFSET, line);
            checked("line " + line + " of " + this, kernel.ioctl(fd, GpioAbi.GET_LINEINFO, l));
            return GpioAbi.lineInfo(l);
        }
    }

    /**
     * Takes a line into use as an input, in the place of an earlier use by this chip, and makes a pin of it.
     *
     * @throws IOException if somebody else uses the line, or the chip cannot do what {@code options} say
     */
    public Pin input(int line, InputOptions options) throws IOException {
        use(line, options);
        return Pin.of(this, line);
    }

    /** Takes a line into use as an output; otherwise as {@link #input}. */
    public Pin output(int line, OutputOptions options) throws IOException {
        release(line);
        GpioAbi.request(request, line, options);
        take(line, granted(line, tryRequest()), true, false);
        return Pin.of(this, line);
    }

    private Line use(int line, InputOptions options) throws IOException {
        release(line);
        boolean edges = Watch.supportsFds();
        int lineFd = -1;
        if (edges) {
            GpioAbi.request(request, line, options, true);
            lineFd = tryRequest();
            edges = lineFd != -EINVAL && lineFd != -ENXIO; // it has no interrupt
        }
        if (!edges) {
            GpioAbi.request(request, line, options, false);
            lineFd = tryRequest();
        }
        return take(line, granted(line, lineFd), false, edges);
    }

    private Line take(int line, int lineFd, boolean output, boolean edges) throws IOException {
        Line taken = null;
        try {
            taken = new Line(line, lineFd, output, edges);
            lines.put(line, taken);
            return taken;
        } finally {
            if (taken == null) {
                kernel.close(lineFd);
            }
        }
    }

    private int tryRequest() {
        int r = kernel.ioctl(fd, GpioAbi.GET_LINE, request);
        return r < 0 ? r : request.get(JAVA_INT, GpioAbi.REQUEST_FD);
    }

    private int granted(int line, int result) throws IOException {
        if (result == -EBUSY) {
            throw new IOException("line " + line + " of " + this + " is in use by "
                    + lineInfo(line).consumer());
        }
        checked("line " + line + " of " + this, result);
        int r = kernel.setNonBlocking(result);
        if (r < 0) {
            kernel.close(result);
            throw Errno.exception("line " + line + " of " + this, r);
        }
        return result;
    }

    private int checked(String what, int result) throws IOException {
        if (result < 0) {
            throw Errno.exception(what, result);
        }
        return result;
    }

    private void requireLine(int line) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (line < 0 || line >= info.lines()) {
            throw new IllegalArgumentException("no line " + line + " among the " + info.lines() + " of " + this);
        }
    }

    /** The line; one that is not in use becomes an input as it is. */
    private Line line(int number) throws IOException {
        requireLine(number);
        Line l = lines.get(number);
        return l != null ? l : use(number, InputOptions.defaults());
    }

    /**
     * Has the observer told of every change of an input, with the kernel's time, until the line is released. On the loop, as a
     * callback: fastio's waits are for tasks; an {@link io.fastio.sync.AsyncQueue} brings events to a task.
     *
     * @throws UnsupportedOperationException if the line cannot report changes
     */
    public void onEvent(int line, Consumer<? super LineEvent> observer) throws IOException {
        Line l = line(line);
        if (!l.reports()) {
            throw new UnsupportedOperationException(l + " reports no changes");
        }
        l.observers.add(Objects.requireNonNull(observer, "observer"));
    }

    /** Ends the use of a line; it keeps its level as long as nobody else uses it. Does nothing for a line that is not in use. */
    public void release(int line) throws IOException {
        requireLine(line);
        Line l = lines.remove(line);
        if (l != null) {
            l.release();
        }
    }

    // =========================================================== for pins

    @Override
    public boolean read(int line) throws IOException {
        return line(line).level();
    }

    @Override
    public void write(int line, boolean high) throws IOException {
        requireLine(line);
        Line l = lines.get(line);
        if (l == null || !l.output) {
            throw new IOException("line " + line + " of " + this + " is not an output");
        }
        l.set(high);
    }

    @Override
    public boolean listen(int line, Listener listener) throws IOException {
        Line l = line(line);
        if (l.reports()) {
            l.takeChanges(); // what came before is not for this listener
            l.listeners.add(listener);
        }
        return l.reports();
    }

    @Override
    public void unlisten(int line, Listener listener) throws IOException {
        Line l = lines.get(line);
        if (l != null) {
            l.listeners.remove(listener);
        }
    }

    /** Ends the use of all lines and closes the chip. Idempotent. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        open.chips.remove(this);
        IOException failure = null;
        for (Line l : lines.values()) {
            try {
                l.release();
            } catch (IOException e) {
                failure = e;
            }
        }
        lines.clear();
        int r = kernel.close(fd);
        if (r < 0) {
            failure = Errno.exception("closing " + this, r);
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public String toString() {
        return "GpioChip[" + info.path() + ", " + info.label() + "]";
    }
}
