package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * System calls on file descriptors. Linux only. Not thread-safe: an instance belongs to one thread at a time; the
 * tasks of a loop share that of their loop, as none is interrupted between a call and the reading of its error
 * number.
 *
 * <p>Every method returns what the call returned, or the <em>negative</em> error number ({@link Errno}); would-block is
 * {@code -}{@link Errno#EAGAIN}. No method throws for what the kernel refuses. EINTR is tried again, except by
 * {@link #close}. Calls on descriptors in blocking mode block the whole loop.
 *
 * <p>Buffers are direct: what lies between position and limit is read or written, and the position moves by the
 * result if that is positive. Reading, writing, receiving and sending allocate nothing.
 */
public final class FdIo {
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0x40;
    public static final int O_EXCL = 0x80;
    public static final int O_NOCTTY = 0x100;
    public static final int O_TRUNC = 0x200;
    public static final int O_APPEND = 0x400;
    public static final int O_NONBLOCK = 0x800;
    public static final int O_CLOEXEC = 0x80000;

    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SIOCOUTQ = 0x5411;
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;
    private static final int LOCK_UN = 8;

    private static final MethodHandle READ = Libc.link("read", Libc.returnsLong(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle WRITE = Libc.link("write", Libc.returnsLong(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle RECV =
            Libc.link("recv", Libc.returnsLong(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle SEND =
            Libc.link("send", Libc.returnsLong(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle CLOSE = Libc.link("close", Libc.returnsInt(JAVA_INT));
    private static final MethodHandle PIPE2 = Libc.link("pipe2", Libc.returnsInt(JAVA_LONG, JAVA_INT));
    private static final MethodHandle OPEN =
            Libc.link("open", Libc.returnsInt(JAVA_LONG, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FCNTL =
            Libc.link("fcntl", Libc.returnsInt(JAVA_INT, JAVA_INT, JAVA_LONG), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle IOCTL =
            Libc.link("ioctl", Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_LONG), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle POLL = Libc.link("poll", Libc.returnsInt(JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle FLOCK = Libc.link("flock", Libc.returnsInt(JAVA_INT, JAVA_INT));
    private static final MethodHandle ISATTY = Libc.link("isatty", Libc.returnsInt(JAVA_INT));

    /** {@code (Object)long}: a direct buffer's address without an allocation; null without the export of sun.nio.ch. */
    private static final @Nullable MethodHandle BUFFER_ADDRESS = bufferAddress();

    private final MemorySegment errno = Libc.newErrno();
    private final MemorySegment pair = Arena.ofAuto().allocate(JAVA_INT, 2);

    /** @throws UnsupportedOperationException off Linux */
    public FdIo() {
        if (!LoopThread.isLinux()) {
            throw new UnsupportedOperationException("file descriptors are supported on Linux only");
        }
    }

    private static @Nullable MethodHandle bufferAddress() {
        try {
            return MethodHandles.lookup()
                    .findVirtual(Class.forName("sun.nio.ch.DirectBuffer"), "address", MethodType.methodType(long.class))
                    .asType(MethodType.methodType(long.class, Object.class));
        } catch (ReflectiveOperationException e) {
            return null; // addressOf does without
        }
    }

    /** Bytes read, 0 at the end of input or for a full buffer, or the negative error number. */
    public int read(int fd, ByteBuffer dst) {
        try {
            return moved(dst, read(fd, writableAddress(dst), dst.remaining()));
        } finally {
            Reference.reachabilityFence(dst);
        }
    }

    /** As {@link #read(int, ByteBuffer)}, into memory that the caller vouches for. */
    public int read(int fd, long address, int length) {
        long r;
        do {
            try {
                r = (long) READ.invokeExact(errno, fd, address, (long) length);
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        return result(r);
    }

    /** As {@link #read(int, ByteBuffer)}, into {@code length} bytes of a native segment from {@code offset} on. */
    public int read(int fd, MemorySegment dst, long offset, int length) {
        if (dst.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        try {
            return read(fd, addressOf(dst, offset, length), length);
        } finally {
            Reference.reachabilityFence(dst);
        }
    }

    /** Bytes written, possibly fewer than there are, or the negative error number. */
    public int write(int fd, ByteBuffer src) {
        try {
            return moved(src, write(fd, addressOf(src), src.remaining()));
        } finally {
            Reference.reachabilityFence(src);
        }
    }

    /** As {@link #write(int, ByteBuffer)}, from memory that the caller vouches for. */
    public int write(int fd, long address, int length) {
        long r;
        do {
            try {
                r = (long) WRITE.invokeExact(errno, fd, address, (long) length);
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        return result(r);
    }

    /** As {@link #write(int, ByteBuffer)}, from {@code length} bytes of a native segment from {@code offset} on. */
    public int write(int fd, MemorySegment src, long offset, int length) {
        try {
            return write(fd, addressOf(src, offset, length), length);
        } finally {
            Reference.reachabilityFence(src);
        }
    }

    /** Bytes received from a socket, 0 at the end of a stream, or the negative error number. Never blocks. */
    public int recv(int fd, ByteBuffer dst) {
        try {
            return moved(dst, recv(fd, writableAddress(dst), dst.remaining()));
        } finally {
            Reference.reachabilityFence(dst);
        }
    }

    /** As {@link #recv(int, ByteBuffer)}, into memory that the caller vouches for. */
    public int recv(int fd, long address, int length) {
        long r;
        do {
            try {
                r = (long) RECV.invokeExact(errno, fd, address, (long) length, MSG_DONTWAIT);
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        return result(r);
    }

    /**
     * Bytes sent to a socket, possibly fewer than there are, or the negative error number. Never blocks, raises no
     * signal.
     */
    public int send(int fd, ByteBuffer src) {
        try {
            return moved(src, send(fd, addressOf(src), src.remaining()));
        } finally {
            Reference.reachabilityFence(src);
        }
    }

    /** As {@link #send(int, ByteBuffer)}, from memory that the caller vouches for. */
    public int send(int fd, long address, int length) {
        long r;
        do {
            try {
                r = (long) SEND.invokeExact(errno, fd, address, (long) length, MSG_DONTWAIT | MSG_NOSIGNAL);
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        return result(r);
    }

    /**
     * Closes the descriptor: 0 or the negative error number. Never to be repeated, as the number is free afterwards
     * even if the call reports EINTR.
     */
    public int close(int fd) {
        try {
            return result((int) CLOSE.invokeExact(errno, fd));
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    /**
     * A new pipe: 0 or the negative error number.
     *
     * @param ends gets the reading end at index 0 and the writing end at index 1
     * @param flags of O_NONBLOCK and O_CLOEXEC
     */
    public int pipe(int[] ends, int flags) {
        Objects.checkFromIndexSize(0, 2, ends.length);
        int r;
        try {
            r = (int) PIPE2.invokeExact(errno, pair.address(), flags);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        if (r == 0) {
            ends[0] = pair.getAtIndex(JAVA_INT, 0);
            ends[1] = pair.getAtIndex(JAVA_INT, 1);
        }
        return result(r);
    }

    /**
     * Opens a file: its descriptor or the negative error number. A new file gets mode 0600.
     *
     * @param flags of the O_ constants; O_CLOEXEC is always added
     * @throws IllegalArgumentException if the path contains a NUL character
     */
    public int open(String path, int flags) {
        if (path.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("NUL in path");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path);
            int r;
            do {
                r = (int) OPEN.invokeExact(errno, name.address(), flags | O_CLOEXEC, 0600);
            } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
            return result(r);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    /** A second descriptor for the same open file, not inherited by child processes, or the negative error number. */
    public int dup(int fd) {
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }

    /** 1 if calls on the descriptor do not block, 0 if they do, or the negative error number. */
    public int isNonBlocking(int fd) {
        int flags = fcntl(fd, F_GETFL, 0);
        return flags < 0 ? flags : (flags & O_NONBLOCK) != 0 ? 1 : 0;
    }

    /**
     * Sets whether calls block: 0 or the negative error number. The setting belongs to the open file, which standard
     * input and output share with other processes: whoever changes it there must put it back.
     */
    public int setNonBlocking(int fd, boolean on) {
        int flags = fcntl(fd, F_GETFL, 0);
        if (flags < 0) {
            return flags;
        }
        int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
        return wanted == flags ? 0 : fcntl(fd, F_SETFL, wanted);
    }

    private int fcntl(int fd, int command, long arg) {
        try {
            return result((int) FCNTL.invokeExact(errno, fd, command, arg));
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    /**
     * What is ready now, without waiting: any of {@code events}, {@link Poller#ERROR} and {@link Poller#HANGUP}, or the negative
     * error number. For those who have no poller that watches descriptors.
     *
     * @param events {@link Poller#READ} or {@link Poller#WRITE} or both
     */
    public int poll(int fd, int events) {
        pair.set(JAVA_INT, 0, fd);
        pair.set(JAVA_INT, 4, events & 0xFFFF); // struct pollfd: two shorts, asked and told
        int r;
        do {
            try {
                r = (int) POLL.invokeExact(errno, pair.address(), 1L, 0);
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        return r <= 0 ? result(r) : pair.get(JAVA_SHORT, 6);
    }

    /** 1 for a terminal, 0 for any other file, or the negative error number if it is not an open descriptor. */
    public int isTerminal(int fd) {
        int r;
        try {
            r = (int) ISATTY.invokeExact(errno, fd);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        return r == 1 ? 1 : Libc.errno(errno) == Errno.EBADF ? -Errno.EBADF : 0;
    }

    /** A request to the device whose argument is a number; the device's answer or the negative error number. */
    public int ioctl(int fd, long request, long arg) {
        try {
            return result((int) IOCTL.invokeExact(errno, fd, request, arg));
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    /**
     * As {@link #ioctl(int, long, long)}, with the address of a native segment, which must be as long as the request
     * says.
     */
    public int ioctl(int fd, long request, MemorySegment arg) {
        try {
            return ioctl(fd, request, addressOf(arg, 0, 0));
        } finally {
            Reference.reachabilityFence(arg);
        }
    }

    /**
     * Takes the lock of an open file, which keeps out those who ask for it as well ({@code flock}), or gives it back. Never waits:
     * {@code -}{@link Errno#EAGAIN} if another has it. Closing the file gives it back.
     */
    public int lock(int fd, boolean on) {
        try {
            return result((int) FLOCK.invokeExact(errno, fd, on ? LOCK_EX | LOCK_NB : LOCK_UN));
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    /** Bytes that a socket was given and the other side has not acknowledged, or the negative error number. */
    public int unsent(int fd) {
        int r = ioctl(fd, SIOCOUTQ, pair);
        return r < 0 ? r : pair.get(JAVA_INT, 0);
    }

    private int result(long r) {
        return r < 0 ? -Libc.errno(errno) : (int) r;
    }

    private static int moved(ByteBuffer buffer, int n) {
        if (n > 0) {
            buffer.position(buffer.position() + n);
        }
        return n;
    }

    static long writableAddress(ByteBuffer dst) {
        if (dst.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        return addressOf(dst);
    }

    private static long addressOf(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("not a direct buffer: " + buffer);
        }
        if (BUFFER_ADDRESS == null) {
            return MemorySegment.ofBuffer(buffer).address();
        }
        try {
            return (long) BUFFER_ADDRESS.invokeExact((Object) buffer) + buffer.position();
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
    }

    private static long addressOf(MemorySegment segment, long offset, int length) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("not a native segment: " + segment);
        }
        Objects.checkFromIndexSize(offset, length, segment.byteSize());
        return segment.address() + offset;
    }
}
