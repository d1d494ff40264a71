package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Receiving datagrams by system calls that tell the whole length of a datagram and its sender without allocating: what
 * NIO cuts off silently is known here, and a sender seen before gets the address object it had then. Linux only. Not
 * thread-safe: an instance belongs to a loop, as one of {@link FdIo} does; results are those of {@link FdIo}.
 */
public final class DatagramIo {
    private static final int MSG_TRUNC = 0x20;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    /** Room for the address of a sender: a sockaddr_in6 has 28 bytes. */
    private static final int NAME = 32;

    /** struct mmsghdr: a msghdr of 56 bytes, msg_len, and four bytes that align the next one. */
    private static final int HEADER = 64;

    private static final int IOVEC = 16;
    private static final int NAMELEN_AT = 8;
    private static final int IOV_AT = 16;
    private static final int IOVLEN_AT = 24;
    private static final int LENGTH_AT = 56;

    private static final int CACHED = 1024;

    private static final MethodHandle RECVFROM =
            Libc.link("recvfrom", Libc.returnsLong(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle RECVMMSG =
            Libc.link("recvmmsg", Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));

    private static final ValueLayout.OfShort NETWORK_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment errno = Libc.newErrno();
    private final MemorySegment name = Arena.ofAuto().allocate(NAME, 8);
    private final MemorySegment nameLength = Arena.ofAuto().allocate(JAVA_INT);
    private final @Nullable Known[] known = new @Nullable Known[CACHED];

    /** A sender seen before. */
    private record Known(int port, int scope, long high, long low, InetSocketAddress address) {}

    /** @throws UnsupportedOperationException off Linux */
    public DatagramIo() {
        if (!LoopThread.isLinux()) {
            throw new UnsupportedOperationException("system calls on datagrams are supported on Linux only");
        }
    }

    /**
     * Receives one datagram, or as much of it as there is room for: its whole length, which may be more than the room and
     * may be 0, or the negative error number. Never blocks. The position moves by what was put.
     *
     * @param dst direct; may be full, which takes a datagram and tells its length
     */
    public int receive(int fd, ByteBuffer dst) {
        int room = dst.remaining();
        nameLength.set(JAVA_INT, 0, NAME);
        long r;
        try {
            long address = FdIo.writableAddress(dst);
            do {
                r = (long) RECVFROM.invokeExact(
                        errno,
                        fd,
                        address,
                        (long) room,
                        MSG_DONTWAIT | MSG_TRUNC,
                        name.address(),
                        nameLength.address());
            } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        } finally {
            Reference.reachabilityFence(dst);
        }
        if (r < 0) {
            return -Libc.errno(errno);
        }
        dst.position(dst.position() + (int) Math.min(r, room));
        return (int) r;
    }

    /** Who sent what {@link #receive} received last. Allocates only for a sender that is not remembered. */
    public InetSocketAddress sender() {
        return address(name, 0);
    }

    private InetSocketAddress address(MemorySegment from, long at) {
        int family = from.get(ValueLayout.JAVA_SHORT, at);
        int port = from.get(NETWORK_SHORT, at + 2) & 0xFFFF;
        long high;
        long low;
        int scope;
        if (family == AF_INET) {
            high = -1;
            low = from.get(JAVA_INT, at + 4);
            scope = 0;
        } else if (family == AF_INET6) {
            high = from.get(JAVA_LONG, at + 8);
            low = from.get(JAVA_LONG, at + 16);
            scope = from.get(JAVA_INT, at + 24);
        } else {
            throw new IllegalStateException("a sender of address family " + family);
        }
        long mixed = (high * 31 + low) * 0x9E3779B97F4A7C15L + port * 0xC2B2AE3D27D4EB4FL;
        int slot = (int) (mixed >>> 54) & CACHED - 1;
        Known k = known[slot];
        if (k == null || k.port != port || k.low != low || k.high != high || k.scope != scope) {
            int length = family == AF_INET ? 4 : 16;
            byte[] bytes =
                    from.asSlice(at + (family == AF_INET ? 4 : 8), length).toArray(ValueLayout.JAVA_BYTE);
            k = new Known(port, scope, high, low, new InetSocketAddress(inet(bytes, scope), port));
            known[slot] = k;
        }
        return k.address;
    }

    private static InetAddress inet(byte[] bytes, int scope) {
        try {
            return scope == 0
                    ? InetAddress.getByAddress(bytes) // an IPv4 address inside an IPv6 one becomes what it is
                    : java.net.Inet6Address.getByAddress(null, bytes, scope);
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // the length is right
        }
    }

    /** Receives up to {@link Batch#capacity} datagrams in one call: their number, or the negative error number. */
    public int receive(int fd, Batch into) {
        MemorySegment headers = into.headers;
        for (int i = 0; i < into.capacity; i++) {
            headers.set(JAVA_INT, (long) i * HEADER + NAMELEN_AT, NAME);
        }
        int r;
        try {
            do {
                r = (int)
                        RECVMMSG.invokeExact(errno, fd, headers.address(), into.capacity, MSG_DONTWAIT | MSG_TRUNC, 0L);
            } while (r < 0 && Libc.errno(errno) == Errno.EINTR);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        } finally {
            Reference.reachabilityFence(into);
        }
        return r < 0 ? -Libc.errno(errno) : r;
    }

    /** Who sent the {@code i}th datagram of the last batch. Allocates only for a sender that is not remembered. */
    public InetSocketAddress sender(Batch batch, int i) {
        return address(batch.names, (long) i * NAME);
    }

    /** The kernel's description of the places where a batch of datagrams goes. */
    public static final class Batch {
        final int capacity;
        private final ByteBuffer data;
        final MemorySegment headers;
        final MemorySegment names;
        private final MemorySegment vectors;

        /**
         * @param capacity datagrams, from 1
         * @param data direct; its bytes from 0 to its capacity are divided equally
         */
        public Batch(int capacity, ByteBuffer data) {
            this.capacity = capacity;
            this.data = data;
            Arena arena = Arena.ofAuto();
            headers = arena.allocate((long) capacity * HEADER, 8);
            names = arena.allocate((long) capacity * NAME, 8);
            vectors = arena.allocate((long) capacity * IOVEC, 8);
            int size = data.capacity() / capacity;
            long base = MemorySegment.ofBuffer(data.duplicate().clear()).address();
            for (int i = 0; i < capacity; i++) {
                vectors.set(JAVA_LONG, (long) i * IOVEC, base + (long) i * size);
                vectors.set(JAVA_LONG, (long) i * IOVEC + 8, size);
                long h = (long) i * HEADER;
                headers.set(JAVA_LONG, h, names.address() + (long) i * NAME);
                headers.set(JAVA_LONG, h + IOV_AT, vectors.address() + (long) i * IOVEC);
                headers.set(JAVA_LONG, h + IOVLEN_AT, 1);
            }
        }

        /** How many datagrams there is room for. */
        public int capacity() {
            return capacity;
        }

        /** The whole length of the {@code i}th datagram, which may be more than there was room for. */
        public int length(int i) {
            return headers.get(JAVA_INT, (long) i * HEADER + LENGTH_AT);
        }

        @Override
        public String toString() {
            return "Batch[" + capacity + " x " + data.capacity() / capacity + " bytes]";
        }
    }
}
