package io.fastio.stream;

import io.fastio.LoopError;
import io.fastio.Wait;
import io.fastio.Watch;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A UDP socket (asyncio's {@code create_datagram_endpoint}). For the tasks of its loop: one may receive while another sends; a
 * second one for the same gets an {@link IllegalStateException}. A cancel leaves packets where they are.
 */
public final class Datagram implements Closeable {
    private final DatagramChannel channel;
    private final Watch watch;
    private final String name;

    private Datagram(DatagramChannel channel, Watch watch) throws IOException {
        this.channel = channel;
        this.watch = watch;
        this.name = String.valueOf(channel.getLocalAddress());
    }

    /**
     * A socket for packets from and to anybody. Waits only for the look-up of a name.
     *
     * @param host name or address to receive at; null or empty: everywhere
     * @param port 0 to 65,535; 0: any free one, see {@link #port()}
     */
    public static Datagram bind(@Nullable String host, int port) throws IOException {
        InetSocketAddress at = host == null || host.isEmpty()
                ? new InetSocketAddress(port)
                : Streams.resolve(host, port).getFirst();
        return open(at, null);
    }

    /**
     * A socket for packets from and to one peer; that nobody listens there shows, if at all, as an {@link IOException} of a
     * later call. Waits only for the look-up of a name.
     */
    public static Datagram connect(String host, int port) throws IOException {
        Objects.requireNonNull(host, "host");
        return open(null, Streams.resolve(host, port));
    }

    private static Datagram open(@Nullable InetSocketAddress at, @Nullable List<InetSocketAddress> peers)
            throws IOException {
        DatagramChannel ch = DatagramChannel.open();
        boolean opened = false;
        try {
            ch.configureBlocking(false);
            ch.setOption(StandardSocketOptions.SO_BROADCAST, true);
            if (peers != null) {
                ch.connect(peers.getFirst());
            } else {
                ch.bind(at);
            }
            Datagram d = new Datagram(ch, Watch.of(ch, null));
            opened = true;
            return d;
        } finally {
            if (!opened) {
                ch.close();
            }
        }
    }

    /**
     * Receives one packet into {@code dst}; what of it has no room is lost. Waits.
     *
     * @return where it came from
     * @throws ClosedChannelException if the socket is closed, also while it waits (F82)
     */
    public SocketAddress receive(ByteBuffer dst) throws IOException {
        Wait.begin();
        while (true) {
            requireOpen();
            SocketAddress from = channel.receive(dst);
            if (from != null) {
                return from;
            }
            watch.readWouldBlock();
            watch.awaitReadable();
            if (watch.isClosed()) {
                throw new AsynchronousCloseException();
            }
        }
    }

    /** Sends what remains in {@code src} as one packet to the connected peer. Waits while the system has no room. */
    public void send(ByteBuffer src) throws IOException {
        Wait.begin();
        requireOpen();
        while (channel.write(src) == 0 && src.hasRemaining()) {
            awaitRoom();
        }
    }

    /** Sends what remains in {@code src} as one packet to {@code to}. Waits while the system has no room. */
    public void send(ByteBuffer src, SocketAddress to) throws IOException {
        Wait.begin();
        requireOpen();
        while (channel.send(src, to) == 0 && src.hasRemaining()) {
            awaitRoom();
        }
    }

    private void awaitRoom() throws IOException {
        watch.writeWouldBlock();
        watch.awaitWritable();
        requireOpen();
    }

    private void requireOpen() throws ClosedChannelException {
        if (watch.isClosed()) {
            throw new ClosedChannelException();
        }
    }

    /** Whether packets make their receiver ready in class URGENT (I7). At any time. */
    public void readPriority(boolean on) {
        watch.readPriority(on);
    }

    /** The port that it receives at. */
    public int port() throws IOException {
        return channel.getLocalAddress() instanceof InetSocketAddress a ? a.getPort() : -1;
    }

    /** The channel, for its options and for joining multicast groups. */
    public DatagramChannel channel() {
        return channel;
    }

    /** Ends it; who waits gets a {@link ClosedChannelException}. Does not wait. Idempotent. */
    @Override
    public void close() {
        watch.close();
        try {
            channel.close();
        } catch (IOException e) {
            io.fastio.Asyncio.runningLoop().report(new LoopError("closing " + this + " failed", e, null));
        }
    }

    @Override
    public String toString() {
        return "Datagram[" + name + (watch.isClosed() ? ", closed]" : "]");
    }
}
