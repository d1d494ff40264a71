package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The poller of Linux, on epoll through {@code java.lang.foreign}. Loop thread only, except {@link #wake()}.
 *
 * <h2>Channels: edge-triggered, registered once</h2>
 *
 * A channel is added to epoll when it is registered, for both directions, edge-triggered, and never modified: in the
 * steady state {@code arm} and {@code disarm} make no system call. The price is that the kernel tells of each
 * readiness once, whether or not somebody waits, so the registration remembers it:
 *
 * <pre>
 *   ready    directions in which an operation may succeed, as far as is known    set by an edge
 *                                                                                cleared by drained, shortRead
 *   armed    directions that somebody waits for                                  set by arm
 *                                                                                cleared by a report, disarm
 *   report   whenever ready &amp; armed is not empty, from inside the next poll
 * </pre>
 *
 * A report does not clear {@code ready}: only the consumer knows when it has used it up, which is when the kernel
 * said would-block. What must stay true: <em>between that answer and {@code drained} there is no poll</em>. Then an
 * edge that comes after the answer is still with the kernel, and the next poll sets {@code ready} anew; none is lost.
 * The other way round, a {@code ready} that is out of date costs one operation that finds nothing. Adding a channel
 * counts as an edge, so one that was ready before it was registered is not missed either.
 *
 * <p>A short read on a stream socket shows as well that nothing is left, without the cost of asking again, but for
 * three things behind the data that make no further edge: the end of the stream (F76), an error, and the mark of
 * urgent data, at which a read stops. The last edge's bits tell of all three, and {@code shortRead} then leaves
 * {@code ready} alone. It is believed on TCP only: Unix sockets also stop at passed descriptors, datagrams at each
 * packet.
 *
 * <h2>Descriptors: level-triggered, one report</h2>
 *
 * A bare descriptor is often a file that other processes share: a terminal, standard input, the end of a pipe. There
 * edges are treacherous. Its mode is shared too, so it mostly stays a blocking one, and a consumer cannot read on
 * until the kernel says would-block; it must ask before each read. So descriptors are level-triggered with {@code
 * EPOLLONESHOT}: after an event the kernel is silent about them, hang-ups and errors included, until they are armed
 * again. An {@code arm} costs one {@code epoll_ctl}, made at the next poll; one that is taken back before costs
 * nothing.
 *
 * <h2>Which registration an event is for</h2>
 *
 * Each event carries the descriptor and the registration's serial number. The table, indexed by descriptor, holds the
 * one registration that may get its events; an event with another serial number is a left-over of an earlier one and
 * is dropped (I4). That covers events later in the batch in which a registration was closed, and descriptors closed
 * elsewhere whose number is in use again; a registration that lost its number so never takes the new owner out of
 * epoll.
 *
 * <h2>Waiting and waking</h2>
 *
 * Poll(0) is one plain {@code epoll_wait}, which is cheaper than {@code epoll_pwait2}; timed waits use the latter,
 * for its nanoseconds, and where the kernel lacks it {@code epoll_wait} with milliseconds, rounded up. A wake is a
 * write to an eventfd, itself edge-triggered: every write is an edge, so the counter need never be read, and 2^64
 * writes do not happen.
 */
final class EpollPoller implements Poller {
    static final EventLayout LAYOUT = EventLayout.of(System.getProperty("os.arch"));

    static final int EPOLLIN = 0x1;
    static final int EPOLLPRI = 0x2;
    static final int EPOLLOUT = 0x4;
    static final int EPOLLERR = 0x8;
    static final int EPOLLHUP = 0x10;
    static final int EPOLLRDHUP = 0x2000;
    static final int EPOLLONESHOT = 1 << 30;
    static final int EPOLLET = 1 << 31;

    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLL_CTL_MOD = 3;
    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EFD_CLOEXEC = 0x80000;
    private static final int EFD_NONBLOCK = 0x800;
    private static final long SYS_EPOLL_PWAIT2 = 441;

    private static final int EDGE = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    /** Events behind which a short read proves nothing. */
    private static final int MORE_BEHIND = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI;

    private static final int FIRST_CAPACITY = 256;
    static final int MAX_CAPACITY = 16_384;
    /** The data of the eventfd's events; serial numbers are positive, so no registration has it. */
    private static final long WAKE = -1;

    private static final MethodHandle EPOLL_CREATE = Libc.link("epoll_create1", Libc.returnsInt(JAVA_INT));
    private static final MethodHandle EPOLL_CTL =
            Libc.link("epoll_ctl", Libc.returnsInt(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final FunctionDescriptor WAITS = Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);

    /** Waits do without errno, as the JDK makes an object for it at each call, unless its compiler spares it that. */
    private static final MethodHandle EPOLL_WAIT = Libc.linkWithoutErrno("epoll_wait", WAITS);

    /** {@code (epfd, events, capacity, timespec)int}. */
    private static final MethodHandle EPOLL_PWAIT2 = linkPwait2(false);

    private static final MethodHandle EVENTFD = Libc.link("eventfd", Libc.returnsInt(JAVA_INT, JAVA_INT));
    private static final MethodHandle EVENTFD_WRITE =
            Libc.linkWithoutErrno("write", Libc.returnsLong(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE = Libc.linkWithoutErrno("close", Libc.returnsInt(JAVA_INT));

    /** {@code (Object)int}: the descriptor of a NIO channel. */
    private static final MethodHandle FD_OF_CHANNEL = linkFdOfChannel();

    /** The number one, which a wake writes. */
    private static final MemorySegment ONE = Arena.global().allocateFrom(JAVA_LONG, 1L);

    private static final VarHandle WAKERS;

    static {
        try {
            WAKERS = MethodHandles.lookup().findVarHandle(EpollPoller.class, "wakers", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int epfd;
    private volatile int wakeFd; // changed while repairing
    private final AtomicBoolean repairing = new AtomicBoolean();

    /** An eventfd in reserve, as a repair may find the process without a free descriptor; -1: used. While repairing. */
    private int spareFd = -1;

    private final boolean pwait2;
    private final String name;
    private final MemorySegment errno = Libc.newErrno();
    private final MemorySegment timespec = Arena.ofAuto().allocate(JAVA_LONG, 2);
    private final MemorySegment change = Arena.ofAuto().allocate(LAYOUT.size(), 8);
    private final Delivery delivery = new Delivery();
    private MemorySegment events;
    private int capacity;
    private @Nullable Entry[] table = new Entry[64];
    private int lastSerial;
    // Registrations to report in the next poll without asking the kernel, in the order in which they came.
    private @Nullable Entry firstPending;
    private @Nullable Entry lastPending;
    // Descriptors to tell the kernel about at the next poll.
    private @Nullable Entry firstChanged;
    private boolean closed;
    private boolean interruptTaken;
    // Number of threads inside wake(), with the sign bit set once the poller is closed: the eventfd is closed after the
    // last
    // of them has left, so that none writes into a file that got its number.
    @SuppressWarnings("unused") // through WAKERS
    private volatile int wakers;

    /** @throws IOException if the kernel refuses */
    EpollPoller() throws IOException {
        this(true);
    }

    /** @param tryPwait2 false pretends a kernel without epoll_pwait2 */
    EpollPoller(boolean tryPwait2) throws IOException {
        capacity = FIRST_CAPACITY;
        events = newEvents(capacity);
        int ep = -1;
        int wake = -1;
        try {
            ep = checked("epoll_create1", (int) EPOLL_CREATE.invokeExact(errno, EPOLL_CLOEXEC));
            wake = checked("eventfd", eventfd(errno));
            epfd = ep;
            wakeFd = wake;
            checked("epoll_ctl", ctl(EPOLL_CTL_ADD, wake, EPOLLIN | EPOLLET, WAKE));
            spareFd = checked("eventfd", eventfd(errno));
            String probe = tryPwait2 ? probePwait2() : "not wanted";
            pwait2 = probe.isEmpty();
            name = pwait2
                    ? "epoll (epoll_pwait2, eventfd)"
                    : "epoll (epoll_wait in milliseconds, as epoll_pwait2: " + probe + "; eventfd)";
        } catch (Throwable t) {
            closeFd(spareFd);
            closeFd(wake);
            closeFd(ep);
            if (t instanceof IOException e) {
                throw e;
            }
            throw Libc.thrown(t);
        }
    }

    private final class Entry implements Registration {
        final int fd;
        final int serial;
        final @Nullable SelectableChannel channel; // null: a bare descriptor, level-triggered
        final Target target;
        final int valid;
        final boolean shortReadTells;
        int armed;
        int ready;
        /** The kernel's bits of the last event. */
        int last;
        /** Level-triggered only: what the kernel is asked for at present. */
        int asked;

        boolean closed;
        boolean pending;
        boolean changed;

        @Nullable
        Entry nextPending;

        @Nullable
        Entry nextChanged;

        Entry(int fd, int serial, @Nullable SelectableChannel channel, Target target) {
            this.fd = fd;
            this.serial = serial;
            this.channel = channel;
            this.target = target;
            this.valid = channel == null ? Interest.BOTH : Interest.validFor(channel);
            this.shortReadTells = channel instanceof SocketChannel s
                    && s.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY);
        }

        @Override
        public void arm(int interest) {
            if (closed) {
                throw new IllegalStateException("the registration of " + this + " is closed");
            }
            Interest.check(interest, valid);
            armed |= interest;
            if (channel == null) {
                if ((interest & ~asked) != 0) {
                    changed();
                }
                return;
            }
            if (!channel.isOpen()) {
                lost(); // the kernel knows it no longer: nothing would ever be reported
            } else if ((ready & interest) != 0) {
                pending();
            }
        }

        @Override
        public void disarm(int interest) {
            armed &= ~interest;
        }

        @Override
        public void drained(int interest) {
            ready &= ~interest;
        }

        @Override
        public void shortRead() {
            if (shortReadTells && (last & MORE_BEHIND) == 0) {
                ready &= ~READ;
            }
        }

        @Override
        public int fd() {
            return fd;
        }

        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            armed = 0;
            ready = 0;
            if (table[fd] != this) {
                return; // the number belongs to another registration by now
            }
            table[fd] = null;
            int r = ctl(EPOLL_CTL_DEL, fd, 0, 0);
            // Closed elsewhere already; its number perhaps in use for a file that this poller does not know (ENOENT) or
            // that cannot be polled at all (EPERM).
            if (r < 0 && r != -Errno.EBADF && r != -Errno.ENOENT && r != -Errno.EPERM) {
                throw new UncheckedIOException(Errno.exception("epoll_ctl, deleting " + this, r));
            }
        }

        /** The kernel reported something. */
        void event(int bits) {
            last = bits;
            int now = toReadiness(bits);
            if (channel == null) {
                asked = 0; // one shot
            } else {
                ready |= now;
            }
            now &= armed;
            armed &= ~now;
            if (channel == null && armed != 0) {
                changed();
            }
            if (now != 0) {
                delivery.report(target, now | extras());
            }
        }

        void reportPending() {
            int now = armed & ready;
            if (now != 0) {
                armed &= ~now;
                delivery.report(target, now | extras());
            }
        }

        private int extras() {
            return last & (ERROR | HANGUP); // the same numbers as the kernel's
        }

        /** The kernel no longer knows the descriptor: whoever waits for it finds that out by trying. */
        void lost() {
            ready = valid;
            last = EPOLLERR | EPOLLHUP;
            pending();
        }

        private void pending() {
            if (!pending) {
                pending = true;
                if (lastPending == null) {
                    firstPending = this;
                } else {
                    lastPending.nextPending = this;
                }
                lastPending = this;
            }
        }

        private void changed() {
            if (!changed) {
                changed = true;
                nextChanged = firstChanged;
                firstChanged = this;
            }
        }

        /** Level-triggered: asks the kernel for what is armed. */
        void ask() {
            if (closed || (armed & ~asked) == 0) {
                return;
            }
            int wanted = ((armed & READ) != 0 ? EPOLLIN | EPOLLRDHUP : 0) | ((armed & WRITE) != 0 ? EPOLLOUT : 0);
            if (table[fd] == this && ctl(EPOLL_CTL_MOD, fd, wanted | EPOLLONESHOT, data()) >= 0) {
                asked = armed;
            } else {
                lost();
            }
        }

        long data() {
            return ((long) serial << 32) | fd;
        }

        @Override
        public String toString() {
            return channel == null ? "descriptor " + fd : channel + " (descriptor " + fd + ")";
        }
    }

    /** Directions in which an event says that an operation will not block; an error or a hang-up ends both. */
    static int toReadiness(int bits) {
        int ready = 0;
        if ((bits & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
            ready |= READ;
        }
        if ((bits & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
            ready |= WRITE;
        }
        return ready;
    }

    @Override
    public Registration register(SelectableChannel ch, Target target) throws IOException {
        Objects.requireNonNull(target, "target");
        if (ch.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        if (!ch.isOpen()) {
            throw new ClosedChannelException();
        }
        Entry e = add(fdOf(ch), ch, target, EDGE);
        if (!ch.isOpen()) {
            // Closed by another thread meanwhile; what was added may be another file that got the number.
            e.close();
            throw new ClosedChannelException();
        }
        return e;
    }

    @Override
    public Registration register(int fd, Target target) throws IOException {
        Objects.requireNonNull(target, "target");
        if (fd < 0) {
            throw new IllegalArgumentException("descriptor " + fd);
        }
        return add(fd, null, target, EPOLLONESHOT);
    }

    private Entry add(int fd, @Nullable SelectableChannel ch, Target target, int events) throws IOException {
        if (closed) {
            throw new IllegalStateException("poller is closed");
        }
        lastSerial = lastSerial == Integer.MAX_VALUE ? 1 : lastSerial + 1;
        Entry e = new Entry(fd, lastSerial, ch, target);
        int r = ctl(EPOLL_CTL_ADD, fd, events, e.data());
        if (r < 0) {
            switch (-r) {
                case Errno.EEXIST -> throw new IllegalStateException(e + " is registered already");
                case Errno.EPERM ->
                    throw new IOException(e + " is a file that cannot be waited for, such as a regular file, a"
                            + " directory or /dev/null (EPERM): reads and writes on it never wait, so use it without"
                            + " a poller, or offload them if the storage is slow");
                default -> throw Errno.exception("epoll_ctl, adding " + e, r);
            }
        }
        if (fd >= table.length) { // only now that the kernel has vouched for the number
            table = Arrays.copyOf(table, Math.max(fd + 1, table.length * 2));
        }
        Entry before = table[fd];
        table[fd] = e;
        if (before != null) {
            before.lost(); // its descriptor was closed behind its back, or the kernel would have said EEXIST
        }
        return e;
    }

    @Override
    public int poll(long timeoutNanos) throws IOException {
        if (closed) {
            throw new IllegalStateException("poller is closed");
        }
        delivery.begin();
        try {
            if (firstChanged != null) {
                ask();
            }
            int n = await(firstPending == null ? timeoutNanos : 0);
            if (firstPending != null) {
                reportPending();
            }
            deliver(n);
            if (n == capacity && capacity < MAX_CAPACITY) {
                capacity *= 2;
                events = newEvents(capacity);
            }
        } finally {
            delivery.end();
        }
        interruptTaken |= Thread.interrupted(); // F97: epoll ignores it, but a park of the loop thread would not
        return delivery.result();
    }

    private void ask() {
        Entry e = firstChanged;
        firstChanged = null;
        while (e != null) {
            Entry next = e.nextChanged;
            e.nextChanged = null;
            e.changed = false;
            e.ask();
            e = next;
        }
    }

    private void reportPending() {
        Entry e = firstPending;
        firstPending = null; // what targets arm from here on is for the next poll
        lastPending = null;
        while (e != null) {
            Entry next = e.nextPending;
            e.nextPending = null;
            e.pending = false;
            e.reportPending();
            e = next;
        }
    }

    private void deliver(int n) {
        MemorySegment batch = events;
        for (int i = 0; i < n; i++) {
            long data = batch.get(JAVA_LONG_UNALIGNED, LAYOUT.data(i));
            if (data == WAKE) {
                continue;
            }
            int fd = (int) data;
            Entry e = fd < table.length ? table[fd] : null;
            if (e != null && e.serial == (int) (data >>> 32)) {
                e.event(batch.get(JAVA_INT, LAYOUT.events(i)));
            }
        }
    }

    /** The number of events in the array; 0 if the time is over or, at a timeout of 0, a signal came. */
    private int await(long timeoutNanos) throws IOException {
        if (timeoutNanos == 0) {
            return Math.max(0, waitMillis(0));
        }
        if (timeoutNanos < 0) {
            while (true) {
                int n = waitMillis(-1);
                if (n >= 0) {
                    return n;
                }
            }
        }
        long start = System.nanoTime();
        long left = timeoutNanos;
        while (true) {
            int n = pwait2 ? waitNanos(left) : waitMillis(toMillisRoundedUp(left));
            if (n > 0) {
                return n;
            }
            // Over; or a signal; or more milliseconds than fit into an int.
            left = timeoutNanos - (System.nanoTime() - start);
            if (left <= 0) {
                return 0;
            }
        }
    }

    static int toMillisRoundedUp(long nanos) {
        return (int) Math.min(Integer.MAX_VALUE, SelectorPoller.millisRoundedUp(nanos));
    }

    /** The number of events, or -1 after a signal. */
    private int waitMillis(int millis) throws IOException {
        int n;
        try {
            n = (int) EPOLL_WAIT.invokeExact(epfd, events.address(), capacity, millis);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        return n >= 0 ? n : signalOrError();
    }

    private int waitNanos(long nanos) throws IOException {
        timespec.setAtIndex(JAVA_LONG, 0, nanos / 1_000_000_000);
        timespec.setAtIndex(JAVA_LONG, 1, nanos % 1_000_000_000);
        int n;
        try {
            n = (int) EPOLL_PWAIT2.invokeExact(epfd, events.address(), capacity, timespec.address());
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        return n >= 0 ? n : signalOrError();
    }

    /** A wait has failed: asks again for the reason, without waiting. The number of events, or -1 if it was a signal. */
    private int signalOrError() throws IOException {
        int n;
        try {
            n = (int) Libc.link("epoll_wait", WAITS).invokeExact(errno, epfd, events.address(), capacity, 0);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        int error = n < 0 ? Libc.errno(errno) : 0;
        if (error != 0 && error != Errno.EINTR) {
            throw Errno.exception("epoll_wait", -error);
        }
        return n > 0 ? n : -1;
    }

    /**
     * Empty if epoll_pwait2 works, else why not: kernels before 5.11 lack it, and old sandboxes forbid what they do
     * not know.
     */
    private String probePwait2() throws Throwable {
        timespec.fill((byte) 0);
        int n = (int) EPOLL_PWAIT2.invokeExact(epfd, events.address(), capacity, timespec.address());
        if (n < 0) {
            n = (int) linkPwait2(true).invokeExact(errno, epfd, events.address(), capacity, timespec.address());
        }
        return n >= 0 || Libc.errno(errno) == Errno.EINTR ? "" : Errno.text(Libc.errno(errno));
    }

    @Override
    public boolean takeInterrupted() {
        boolean was = interruptTaken;
        interruptTaken = false;
        return was;
    }

    @Override
    public boolean wake() {
        try {
            if ((int) WAKERS.getAndAdd(this, 1) < 0) {
                return true; // closed: there is nobody to wake
            }
            int fd = wakeFd;
            if (write(fd)) {
                return true;
            }
            repair(fd);
            return false;
        } finally {
            WAKERS.getAndAdd(this, -1);
        }
    }

    private static boolean write(int fd) {
        try {
            return (long) EVENTFD_WRITE.invokeExact(fd, ONE.address(), 8L) == 8;
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    /** A new eventfd, or -1 with the error in {@code error}. */
    private static int eventfd(MemorySegment error) throws Throwable {
        return (int) EVENTFD.invokeExact(error, 0, EFD_CLOEXEC | EFD_NONBLOCK);
    }

    /**
     * F92: somebody closed our eventfd, or put another file in its place. The kernel takes a new one while the loop
     * waits, so whoever has to wake it can do so. The old number is not ours any more and is left alone.
     */
    private void repair(int broken) {
        while (!repairing.compareAndSet(false, true)) {
            Thread.onSpinWait(); // another waker is at it; it does not block
        }
        int fresh = -1;
        try {
            if (wakeFd == broken) {
                MemorySegment error = Libc.newErrno();
                fresh = eventfd(error);
                if (fresh < 0 && spareFd >= 0) {
                    fresh = spareFd;
                    spareFd = -1;
                } else if (checkedBy(error, "eventfd", fresh) >= 0 && spareFd < 0) {
                    spareFd = eventfd(error);
                }
                MemorySegment event = Arena.ofAuto().allocate(LAYOUT.size(), 8);
                event.set(JAVA_INT, LAYOUT.events(0), EPOLLIN | EPOLLET);
                event.set(JAVA_LONG_UNALIGNED, LAYOUT.data(0), WAKE);
                checkedBy(error, "epoll_ctl", (int)
                        EPOLL_CTL.invokeExact(error, epfd, EPOLL_CTL_ADD, fresh, event.address()));
                wakeFd = fresh;
            }
            if (!write(wakeFd)) {
                throw new IOException("its eventfd refuses the write");
            }
        } catch (IOException e) {
            closeFd(fresh == wakeFd ? -1 : fresh);
            throw new UncheckedIOException("the loop could not be woken: " + e.getMessage(), e);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        } finally {
            repairing.set(false);
        }
    }

    @Override
    public boolean supportsFds() {
        return true;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (Entry e : table) {
            if (e != null) {
                e.closed = true;
                e.armed = 0;
            }
        }
        Arrays.fill(table, null);
        closeFd(epfd);
        int state = (int) WAKERS.getAndBitwiseOr(this, Integer.MIN_VALUE);
        while (state != 0 && wakers != Integer.MIN_VALUE) {
            Thread.onSpinWait(); // a thread is in its write, which does not block
        }
        closeFd(wakeFd);
        closeFd(spareFd);
    }

    int epfd() {
        return epfd;
    }

    int wakeFd() {
        return wakeFd;
    }

    int capacity() {
        return capacity;
    }

    @Override
    public String toString() {
        return name;
    }

    /** 0 or the negative error number. */
    private int ctl(int op, int fd, int events, long data) {
        change.set(JAVA_INT, LAYOUT.events(0), events);
        change.set(JAVA_LONG_UNALIGNED, LAYOUT.data(0), data);
        int r;
        try {
            r = (int) EPOLL_CTL.invokeExact(errno, epfd, op, fd, change.address());
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        return r < 0 ? -Libc.errno(errno) : r;
    }

    private int checked(String call, int result) throws IOException {
        return checkedBy(errno, call, result);
    }

    private static int checkedBy(MemorySegment errno, String call, int result) throws IOException {
        if (result < 0) {
            throw Errno.exception(call, -Libc.errno(errno));
        }
        return result;
    }

    private static MemorySegment newEvents(int capacity) {
        return Arena.ofAuto().allocate((long) capacity * LAYOUT.size(), 8);
    }

    static int fdOf(SelectableChannel ch) {
        try {
            return (int) FD_OF_CHANNEL.invokeExact((Object) ch);
        } catch (ClassCastException e) {
            throw new IllegalArgumentException(
                    "not a channel of the JDK: " + ch.getClass().getName(), e);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    private static MethodHandle linkFdOfChannel() {
        try {
            return Libc.fdOfChannel();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** C libraries got epoll_pwait2 later than kernels did; without it the call goes through syscall(2). */
    private static MethodHandle linkPwait2(boolean errno) {
        if (!Libc.has("epoll_pwait2")) {
            return linkPwait2BySyscall(errno);
        }
        FunctionDescriptor type = Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        MethodHandle h = errno ? Libc.link("epoll_pwait2", type) : Libc.linkWithoutErrno("epoll_pwait2", type);
        return MethodHandles.insertArguments(h, errno ? 5 : 4, 0L); // no signal mask
    }

    static MethodHandle linkPwait2BySyscall(boolean errno) {
        FunctionDescriptor type =
                Libc.returnsLong(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        Linker.Option variadic = Linker.Option.firstVariadicArg(1);
        MethodHandle h =
                errno ? Libc.link("syscall", type, variadic) : Libc.linkWithoutErrno("syscall", type, variadic);
        int first = errno ? 1 : 0;
        h = MethodHandles.insertArguments(h, first + 5, 0L, 8L); // no signal mask, and the size of one
        h = MethodHandles.insertArguments(h, first, SYS_EPOLL_PWAIT2);
        MethodType ints = h.type()
                .changeReturnType(int.class)
                .changeParameterType(first, int.class)
                .changeParameterType(first + 2, int.class);
        return MethodHandles.explicitCastArguments(h, ints);
    }

    private static void closeFd(int fd) {
        if (fd < 0) {
            return;
        }
        try {
            // Only EIO or EINTR could be reported for these kinds of files, and the number is free in any case.
            int ignored = (int) CLOSE.invokeExact(fd);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }
}
