package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.LoopError;
import io.fastio.LoopLocal;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import io.fastio.Watch;
import io.fastio.poll.DatagramIo;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A UDP endpoint (asyncio's {@code create_datagram_endpoint}). For tasks of its loop: one receives at a time, any number send.
 * A datagram arrives whole or not at all; one that is longer than the buffer given is told by {@link
 * DatagramTruncatedException}, never cut off silently.
 *
 * <h2>Errors do not end reading</h2>
 *
 * A connected endpoint learns from the network (ICMP) that nobody is at the other side's port. The first operation afterwards,
 * be it a receive or a send, throws {@link PortUnreachableException}, once for each such report; the endpoint stays usable, and
 * the next receive goes on waiting. With {@link DatagramOptions#reportUnreachable} off they are counted only ({@link
 * #unreachable}), for a peer that may come later. An unconnected endpoint is not told of them by the system. Only {@link
 * #close} ends an endpoint: who waits then gets {@link ClosedChannelException} (F82).
 *
 * <p>On the epoll poller datagrams are received by system calls of our own, which tell the true length, and addresses of
 * senders are remembered: {@link #receive(ByteBuffer)} and {@link #read} into a direct buffer copy nothing and allocate
 * nothing.
 */
public final class Datagram implements Closeable {
    private static final int WOULD_BLOCK = -1;

    private static final LoopLocal<DatagramIo> CALLS = new LoopLocal<>(_ -> new DatagramIo());

    private final LoopIo io;
    private final DatagramChannel channel;
    private final Watch watch;
    private final @Nullable InetSocketAddress remote;
    private final boolean reportUnreachable;
    /** Those who wait for room to send, beside the one who waits for the kernel. */
    private final WaitList senders = new WaitList();

    private final List<MembershipKey> memberships = new ArrayList<>();

    // By system calls of our own, or both null: by NIO.
    private final @Nullable FdIo fds;
    private final @Nullable DatagramIo calls;

    /** Who waits to receive; see {@link ReadSide}. */
    private @Nullable Task<?> receiver;

    private boolean closed;
    private long unreachable;
    private @Nullable InetSocketAddress lastSender;
    private @Nullable IOException deferred;

    /**
     * A datagram of its own.
     *
     * @param data its bytes
     * @param sender who sent it
     */
    @SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, compared by nobody
    public record Packet(byte[] data, InetSocketAddress sender) {}

    private Datagram(DatagramChannel channel, @Nullable InetSocketAddress remote, DatagramOptions options)
            throws IOException {
        this.io = LoopIo.get();
        this.channel = channel;
        this.remote = remote;
        this.reportUnreachable = options.reportUnreachable();
        this.watch = Watch.of(channel, this);
        boolean direct = io.fds != null && watch.fd() >= 0;
        this.fds = direct ? io.fds : null;
        this.calls = direct ? CALLS.get() : null;
        if (options.priority()) {
            priority(true);
        }
    }

    // =========================================================== opening

    /** {@link #bind(String, int, DatagramOptions)} with the defaults. */
    public static Datagram bind(@Nullable String host, int port) throws IOException {
        return bind(host, port, DatagramOptions.defaults());
    }

    /**
     * An endpoint that receives from everybody. Waits only for the look-up of a name.
     *
     * @param host name or address to receive at, whose first address counts; null or empty: everywhere, IPv4 and IPv6
     * @param port 0 to 65,535; 0: any free one, see {@link #localAddress()}
     * @throws BindException if it cannot receive there, with host and port
     */
    public static Datagram bind(@Nullable String host, int port, DatagramOptions options) throws IOException {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be 0 to 65535: " + port);
        }
        InetSocketAddress at = host == null || host.isEmpty()
                ? new InetSocketAddress(port)
                : Streams.resolve(host, port).getFirst();
        return open(at, null, host == null || host.isEmpty() ? null : family(at), options);
    }

    /** {@link #connect(String, int, DatagramOptions)} with the defaults. */
    public static Datagram connect(String host, int port) throws IOException {
        return connect(host, port, DatagramOptions.defaults());
    }

    /**
     * An endpoint that sends to, and receives from, one other. Nothing is sent; nobody need be there. Waits only for the
     * look-up of a name.
     *
     * @param host name or address, whose first address counts
     * @param port 1 to 65,535
     */
    public static Datagram connect(String host, int port, DatagramOptions options) throws IOException {
        Objects.requireNonNull(host, "host");
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("port must be 1 to 65535: " + port);
        }
        return connect(Streams.resolve(host, port).getFirst(), options);
    }

    /** {@link #connect(String, int, DatagramOptions)} to an address. Does not wait. */
    public static Datagram connect(InetSocketAddress to, DatagramOptions options) throws IOException {
        return open(null, Objects.requireNonNull(to, "to"), family(to), options);
    }

    private static ProtocolFamily family(InetSocketAddress a) {
        return a.getAddress() instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    private static Datagram open(
            @Nullable InetSocketAddress local,
            @Nullable InetSocketAddress remote,
            @Nullable ProtocolFamily family,
            DatagramOptions options)
            throws IOException {
        Asyncio.currentTask();
        DatagramChannel ch = family == null ? DatagramChannel.open() : DatagramChannel.open(family);
        boolean opened = false;
        try {
            ch.configureBlocking(false);
            ch.setOption(StandardSocketOptions.SO_BROADCAST, options.broadcast());
            if (options.reuseAddress()) {
                ch.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            }
            if (options.reusePort()) {
                ch.setOption(StandardSocketOptions.SO_REUSEPORT, true);
            }
            if (options.receiveBuffer() > 0) {
                ch.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBuffer());
            }
            if (options.sendBuffer() > 0) {
                ch.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBuffer());
            }
            if (remote != null) {
                ch.connect(remote);
            } else {
                bind(ch, Objects.requireNonNull(local));
            }
            Datagram d = new Datagram(ch, remote, options);
            opened = true;
            return d;
        } finally {
            if (!opened) {
                ch.close();
            }
        }
    }

    private static void bind(DatagramChannel ch, InetSocketAddress local) throws IOException {
        try {
            ch.bind(local);
        } catch (SocketException e) {
            BindException b = new BindException("cannot receive datagrams at " + local + ": " + e.getMessage());
            b.initCause(e);
            throw b;
        }
    }

    // =========================================================== receiving

    private Task<?> beginReceive() throws IOException {
        Task<?> me = begin();
        if (receiver != null && !Wait.isGivenUp(receiver)) {
            throw new IllegalStateException("another task receives from " + this); // I1
        }
        return me;
    }

    private Task<?> begin() throws IOException {
        Task<?> me = Wait.begin();
        if (Wait.loopOf(me) != io.loop) {
            io.loop.requireCurrent(this);
        }
        if (closed) {
            throw new ClosedChannelException();
        }
        return me;
    }

    private void awaitReadable(Task<?> me) throws IOException {
        watch.readWouldBlock();
        receiver = me;
        try {
            watch.awaitReadable();
        } finally {
            if (receiver == me) {
                receiver = null;
            }
        }
    }

    /**
     * Receives the next datagram. Waits; a cancel loses none (C6).
     *
     * @param dst gets the bytes; allocates nothing, and copies nothing if it is direct
     * @return who sent it
     * @throws ReadOnlyBufferException if {@code dst} is read-only; nothing was received
     * @throws DatagramTruncatedException if it was longer than {@code dst} has room for; {@code dst} has its beginning
     * @throws PortUnreachableException once for each report of the network; see above
     * @throws ClosedChannelException if the endpoint is closed, or is being closed meanwhile
     */
    public InetSocketAddress receive(ByteBuffer dst) throws IOException {
        receiveInto(dst);
        return Objects.requireNonNull(lastSender);
    }

    /**
     * Receives the next datagram, otherwise as {@link #receive(ByteBuffer)}.
     *
     * @return its length in bytes, which may be 0: there is no end
     */
    public int read(ByteBuffer dst) throws IOException {
        return receiveInto(dst);
    }

    private int receiveInto(ByteBuffer dst) throws IOException {
        if (dst.isReadOnly()) {
            throw new ReadOnlyBufferException(); // S13: now, and not when a datagram has been taken
        }
        Task<?> me = beginReceive();
        int room = dst.remaining();
        boolean straight = calls != null && dst.isDirect();
        int n;
        while (true) {
            n = straight ? receiveNow(dst) : receiveToScratch();
            if (n != WOULD_BLOCK) {
                break;
            }
            awaitReadable(me);
        }
        if (!straight) {
            dst.put(io.scratch.slice(0, Math.min(n, room)));
        }
        if (n > room) {
            throw new DatagramTruncatedException(n, room, Objects.requireNonNull(lastSender));
        }
        return n;
    }

    /** Receives the next datagram, whatever its length, in an array of its own. Waits; a cancel loses none (C6). */
    public Packet receive() throws IOException {
        Task<?> me = beginReceive();
        int n;
        while ((n = receiveToScratch()) == WOULD_BLOCK) {
            awaitReadable(me);
        }
        byte[] data = new byte[n];
        io.scratch.get(0, data);
        return new Packet(data, Objects.requireNonNull(lastSender));
    }

    /**
     * Receives at least one datagram, and further ones that have come already, as far as {@code into} has room: by a single
     * system call where the poller can, else one by one. Waits; a cancel loses none. Those that were too long are told by
     * {@link DatagramBatch#isTruncated}. Errors as for {@link #receive(ByteBuffer)}.
     *
     * @return how many
     */
    public int receive(DatagramBatch into) throws IOException {
        Task<?> me = beginReceive();
        into.begin();
        while (true) {
            if (calls != null) {
                receiveNow(calls, into);
            } else {
                receiveOneByOne(into);
            }
            if (into.count() > 0) {
                return into.count();
            }
            awaitReadable(me);
        }
    }

    private void receiveNow(DatagramIo by, DatagramBatch into) throws IOException {
        int n = by.receive(watch.fd(), into.batch());
        while (isIgnored(n)) {
            n = by.receive(watch.fd(), into.batch());
        }
        if (n < 0) {
            failUnlessWouldBlock(n);
            return;
        }
        for (int i = 0; i < n; i++) {
            into.received(into.batch().length(i), by.sender(into.batch(), i));
        }
    }

    private void receiveOneByOne(DatagramBatch into) throws IOException {
        while (!into.isFull()) {
            int n;
            try {
                n = receiveToScratch();
            } catch (IOException e) {
                if (into.count() == 0) {
                    throw e;
                }
                deferred = e; // first what came before it
                return;
            }
            if (n == WOULD_BLOCK) {
                return;
            }
            into.add(io.scratch.slice(0, n), Objects.requireNonNull(lastSender));
        }
    }

    /** Receives into the scratch buffer, which has room for every datagram, from index 0 on. */
    private int receiveToScratch() throws IOException {
        ByteBuffer scratch = io.scratch;
        scratch.clear();
        return calls != null ? receiveNow(scratch) : receiveByNio(scratch);
    }

    /** The whole length, or WOULD_BLOCK. */
    private int receiveNow(ByteBuffer direct) throws IOException {
        DatagramIo by = Objects.requireNonNull(calls);
        int n = by.receive(watch.fd(), direct);
        while (isIgnored(n)) {
            n = by.receive(watch.fd(), direct);
        }
        if (n < 0) {
            failUnlessWouldBlock(n);
            return WOULD_BLOCK;
        }
        lastSender = remote != null ? remote : by.sender();
        return n;
    }

    private boolean isIgnored(int result) {
        if (result != -Errno.ECONNREFUSED) {
            return false;
        }
        unreachable++;
        return !reportUnreachable;
    }

    private void failUnlessWouldBlock(int result) throws IOException {
        if (result != -Errno.EAGAIN) {
            throw failed("receive at " + this, result);
        }
    }

    private IOException failed(String what, int result) {
        return result == -Errno.ECONNREFUSED
                ? new PortUnreachableException(what + ": nobody is at " + remote)
                : new SocketException(what + ": " + Errno.text(-result));
    }

    private int receiveByNio(ByteBuffer scratch) throws IOException {
        IOException earlier = deferred;
        if (earlier != null) {
            deferred = null;
            throw earlier;
        }
        while (true) {
            try {
                InetSocketAddress from = (InetSocketAddress) channel.receive(scratch);
                if (from == null) {
                    return WOULD_BLOCK;
                }
                lastSender = from;
                return scratch.position();
            } catch (PortUnreachableException e) {
                unreachable++;
                if (reportUnreachable) {
                    throw told(e);
                }
            }
        }
    }

    private PortUnreachableException told(PortUnreachableException e) {
        PortUnreachableException told = new PortUnreachableException("nobody is at " + remote);
        told.initCause(e);
        return told;
    }

    // =========================================================== sending

    /**
     * Sends a datagram to the other side of a connected endpoint. Waits only while the system has no room, which is rare; a
     * cancel then means that it was not sent. That it was sent does not mean that it arrives.
     *
     * @param src the bytes, 0 to 65,507 (IPv4); used up
     * @throws PortUnreachableException if the network reported an earlier one; this one was not sent
     * @throws IOException if it is too long, or the system refuses; or for an empty one on the portable poller
     * @throws IllegalStateException if the endpoint is not connected
     */
    public void send(ByteBuffer src) throws IOException {
        if (remote == null) {
            throw new IllegalStateException(this + " is not connected: say where to");
        }
        sendTo(src, null);
    }

    /** {@link #send(ByteBuffer)} of all of an array. */
    public void send(byte[] src) throws IOException {
        send(ByteBuffer.wrap(src));
    }

    /**
     * Sends a datagram to {@code target}, otherwise as {@link #send(ByteBuffer)}.
     *
     * @throws IllegalStateException if the endpoint is connected, and not to {@code target}
     */
    public void send(ByteBuffer src, InetSocketAddress target) throws IOException {
        Objects.requireNonNull(target, "target");
        if (remote != null && !remote.equals(target)) {
            throw new IllegalStateException(this + " is connected to " + remote);
        }
        sendTo(src, remote == null ? target : null);
    }

    /** {@link #send(ByteBuffer, InetSocketAddress)} of all of an array. */
    public void send(byte[] src, InetSocketAddress target) throws IOException {
        send(ByteBuffer.wrap(src), target);
    }

    private void sendTo(ByteBuffer src, @Nullable InetSocketAddress target) throws IOException {
        begin();
        int n = src.remaining();
        if (n > LoopIo.SCRATCH) {
            throw new SocketException("datagram of " + n + " bytes is too long");
        }
        while (!sendNow(src, target)) {
            awaitRoom();
        }
        src.position(src.limit());
    }

    private boolean sendNow(ByteBuffer src, @Nullable InetSocketAddress target) throws IOException {
        int n = src.remaining();
        ByteBuffer direct = io.scratch;
        if (src.isDirect()) {
            direct = src; // moves only if it is sent
        } else {
            direct.clear().limit(n);
            direct.put(0, src, src.position(), n);
        }
        if (target == null && fds != null) {
            int r = fds.send(watch.fd(), direct);
            while (isIgnored(r)) {
                r = fds.send(watch.fd(), direct);
            }
            if (r == -Errno.EAGAIN) {
                return false;
            }
            if (r < 0) {
                throw failed("send by " + this, r);
            }
            return true;
        }
        if (n == 0 && target == null) {
            throw new SocketException("NIO cannot send an empty datagram by a connected endpoint");
        }
        while (true) {
            try {
                int r = target == null ? channel.write(direct) : channel.send(direct, target);
                return r == n; // an empty one gives 0, as does one without room: it is taken for sent
            } catch (PortUnreachableException e) {
                unreachable++;
                if (reportUnreachable) {
                    throw told(e);
                }
            }
        }
    }

    private void awaitRoom() throws IOException {
        if (watch.isWriteAwaited()) {
            senders.await(io.loop.ioFirst() ? Priority.URGENT : null, Wait.FOREVER);
            if (closed) {
                throw new AsynchronousCloseException(); // I4
            }
            return;
        }
        watch.writeWouldBlock();
        try {
            watch.awaitWritable();
        } finally {
            senders.wakeAll(); // each tries for itself; also after a cancel, or nobody would wait for the kernel
        }
    }

    // =========================================================== multicast

    /**
     * Becomes a member of a multicast group. Does not wait. Idempotent.
     *
     * @param group a multicast address of the kind that the endpoint is bound to
     * @param at the network to join it at; the system's choice of network to send to is the option {@link
     *     StandardSocketOptions#IP_MULTICAST_IF}
     */
    public void join(InetAddress group, NetworkInterface at) throws IOException {
        requireOpen();
        MembershipKey key = channel.join(group, at);
        if (!memberships.contains(key)) {
            memberships.add(key);
        }
    }

    /**
     * Ends a membership. Does not wait.
     *
     * @return whether it was a member
     */
    public boolean leave(InetAddress group, NetworkInterface at) {
        io.loop.requireCurrent(this);
        for (Iterator<MembershipKey> keys = memberships.iterator(); keys.hasNext(); ) {
            MembershipKey key = keys.next();
            if (key.group().equals(group) && key.networkInterface().equals(at)) {
                key.drop();
                keys.remove();
                return true;
            }
        }
        return false;
    }

    // =========================================================== knowing, setting, ending

    private void requireOpen() throws IOException {
        io.loop.requireCurrent(this);
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    /** Sets an option such as {@link StandardSocketOptions#IP_MULTICAST_TTL}. */
    public <T> Datagram setOption(SocketOption<T> option, T value) throws IOException {
        requireOpen();
        channel.setOption(option, value);
        return this;
    }

    /** The value of an option. */
    public <T> T getOption(SocketOption<T> option) throws IOException {
        requireOpen();
        return channel.getOption(option);
    }

    /** Where it receives. */
    public InetSocketAddress localAddress() throws IOException {
        requireOpen();
        return (InetSocketAddress) channel.getLocalAddress();
    }

    /** The port at which it receives. */
    public int port() throws IOException {
        return localAddress().getPort();
    }

    /** The other side of a connected endpoint, else null. */
    public @Nullable InetSocketAddress remoteAddress() {
        return remote;
    }

    /** How often the network has reported that nobody is at the other side's port. */
    public long unreachable() {
        return unreachable;
    }

    /** Whether it makes its tasks ready in class URGENT (I7). At any time. */
    public Datagram priority(boolean on) {
        io.loop.requireCurrent(this);
        watch.readPriority(on);
        watch.writePriority(on);
        return this;
    }

    /** Whether {@link #close()} was called. */
    public boolean isClosed() {
        return closed;
    }

    /**
     * Ends the endpoint; who waits gets {@link ClosedChannelException}. Its port is free at once, on the portable poller after
     * the loop's next look. Does not wait. Idempotent.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        io.loop.requireCurrent(this);
        closed = true;
        watch.close();
        senders.wakeAll();
        try {
            channel.close();
        } catch (IOException e) {
            io.loop.report(new LoopError("closing " + this + " failed", e, null));
        }
    }

    @Override
    public String toString() {
        String name;
        try {
            name = channel.isOpen() ? String.valueOf(channel.getLocalAddress()) : "closed";
        } catch (IOException e) {
            name = e.getMessage();
        }
        return "Datagram[" + name + (remote == null ? "]" : " -> " + remote + "]");
    }
}
