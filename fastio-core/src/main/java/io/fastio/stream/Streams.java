package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.Wait;
import io.fastio.Watch;
import io.fastio.poll.FdIo;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Opens streams and servers (asyncio's {@code streams}). For tasks; everything opened belongs to the task's loop. */
public final class Streams {
    private Streams() {}

    // =========================================================== connections

    /** {@link #openConnection(String, int, ConnectOptions)} with the defaults. */
    public static Stream openConnection(String host, int port) throws IOException {
        return openConnection(host, port, ConnectOptions.defaults());
    }

    /**
     * Connects by TCP. Waits; names are resolved without blocking the loop. All addresses of the host are tried (I5): an
     * attempt that has failed, or has had no answer for {@link ConnectOptions#attemptDelay}, is followed by the next, and
     * the first that answers wins (RFC 8305). A cancel ends all attempts.
     *
     * @param host name or address
     * @param port 1 to 65,535
     * @throws UnknownHostException if there is no such host
     * @throws ConnectException if no address answers
     * @throws SocketTimeoutException if the time limit passed
     */
    public static Stream openConnection(String host, int port, ConnectOptions options) throws IOException {
        Objects.requireNonNull(host, "host");
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("port must be 1 to 65535: " + port);
        }
        return limited(
                () -> connect(resolve(host, port), options, host + ":" + port), options.timeout(), host + ":" + port);
    }

    /** Connects to a Unix-domain socket. Waits; a cancel ends the attempt. */
    public static Stream openUnixConnection(Path path) throws IOException {
        return openUnixConnection(path, ConnectOptions.defaults());
    }

    /** {@link #openUnixConnection(Path)}; of the options, those of TCP do not count. */
    public static Stream openUnixConnection(Path path, ConnectOptions options) throws IOException {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(path);
        return limited(() -> connect(address, options, path.toString()), options.timeout(), path.toString());
    }

    @FunctionalInterface
    interface Attempt {
        Stream run() throws IOException;
    }

    static Stream limited(Attempt attempt, @Nullable Duration timeout, String where) throws IOException {
        if (timeout == null) {
            return attempt.run();
        }
        Stream[] made = new Stream[1];
        try {
            return Asyncio.waitFor(
                    () -> {
                        Stream s = attempt.run();
                        made[0] = s;
                        return s;
                    },
                    timeout);
        } catch (TimeoutException e) {
            if (made[0] != null) {
                made[0].abort();
            }
            SocketTimeoutException t =
                    new SocketTimeoutException("cannot connect to " + where + ": no answer within " + timeout);
            t.initCause(e);
            throw t;
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    /** All addresses of a host; a name is looked up on a thread of its own, since that blocks. */
    static List<InetSocketAddress> resolve(String host, int port) throws IOException {
        InetAddress[] found;
        try {
            found = new InetAddress[] {InetAddress.ofLiteral(host)};
        } catch (IllegalArgumentException aName) {
            try {
                found = Asyncio.offload(() -> InetAddress.getAllByName(host));
            } catch (UnknownHostException e) {
                UnknownHostException u = new UnknownHostException("unknown host " + host + " (port " + port + ")");
                u.initCause(e);
                throw u;
            } catch (IOException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException("cannot look up " + host, e);
            }
        }
        List<InetSocketAddress> addresses = new ArrayList<>(found.length);
        for (InetAddress a : found) {
            addresses.add(new InetSocketAddress(a, port));
        }
        return addresses;
    }

    static Stream connect(List<InetSocketAddress> addresses, ConnectOptions options, String where) throws IOException {
        if (addresses.size() == 1) {
            return connect(addresses.getFirst(), options, where);
        }
        Wait.begin();
        return new ConnectRace(addresses, options, where).run();
    }

    private static Stream connect(SocketAddress to, ConnectOptions options, String where) throws IOException {
        Wait.begin();
        try {
            return connect(to, options);
        } catch (IOException e) {
            throw failure(where, e);
        }
    }

    /** The error of connecting to {@code where}, as {@code cause} of one address has it. */
    static ConnectException failure(String where, IOException cause) {
        ConnectException e = new ConnectException("cannot connect to " + where + ": " + cause.getMessage());
        e.initCause(cause);
        return e;
    }

    static Stream connect(SocketAddress to, ConnectOptions options) throws IOException {
        boolean unix = to instanceof UnixDomainSocketAddress;
        SocketChannel ch = unix ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
        Watch watch = null;
        boolean connected = false;
        try {
            ch.configureBlocking(false);
            if (!unix) {
                ch.setOption(StandardSocketOptions.TCP_NODELAY, options.noDelay());
                ch.setOption(StandardSocketOptions.SO_KEEPALIVE, options.keepAlive());
                if (options.localAddress() != null) {
                    ch.bind(options.localAddress());
                }
            }
            boolean done = ch.connect(to);
            watch = Watch.of(ch, null);
            watch.writePriority(options.priority());
            while (!done) {
                watch.awaitWritable();
                done = ch.finishConnect();
                if (!done) {
                    watch.writeWouldBlock();
                }
            }
            Stream s = socket(ch, watch, to.toString());
            if (options.priority()) {
                s.priority(true);
            }
            connected = true;
            return s;
        } finally {
            if (!connected) {
                if (watch != null) {
                    watch.close();
                }
                ch.close();
            }
        }
    }

    static Stream socket(SocketChannel ch, Watch watch, String name) {
        LoopIo io = LoopIo.get();
        FdIo fds = io.fds;
        Transport t =
                fds != null && watch.fd() >= 0 ? new SocketTransport(ch, watch, fds) : new ChannelTransport(ch, watch);
        return new Stream(io, t, name);
    }

    /**
     * A stream over a channel of yours, such as a socket that was made elsewhere or an end of a {@link
     * java.nio.channels.Pipe}; it is put into non-blocking mode and belongs to the stream from then on.
     */
    public static Stream of(SelectableChannel channel) throws IOException {
        channel.configureBlocking(false);
        Watch watch = Watch.of(channel, null);
        return channel instanceof SocketChannel s
                ? socket(s, watch, String.valueOf(s.getRemoteAddress()))
                : new Stream(LoopIo.get(), new ChannelTransport(channel, watch), channel.toString());
    }

    // =========================================================== files, pipes, terminals

    /**
     * A stream over whatever a path leads to: terminal, serial line, FIFO, device, or a regular file, which is read and
     * written without waiting. Waits only until somebody reads a FIFO that is opened for writing.
     *
     * @param options READ, WRITE, APPEND, TRUNCATE_EXISTING, CREATE, CREATE_NEW; none: READ
     * @throws UnsupportedOperationException if the loop's poller serves channels only, or for another option
     */
    public static Stream openFile(Path path, OpenOption... options) throws IOException {
        return Descriptors.open(path, Set.of(options));
    }

    /**
     * A stream over an open file descriptor, which is put into non-blocking mode and belongs to the stream from then on.
     * Does not wait.
     *
     * @throws UnsupportedOperationException if the loop's poller serves channels only
     */
    public static Stream ofDescriptor(int fd) throws IOException {
        return Descriptors.own(fd, FdIo.O_RDWR, "descriptor " + fd);
    }

    /**
     * A new pipe: what is written into the sink comes out of the source. For talking to code that wants a channel or a
     * descriptor; tasks have queues. Does not wait.
     */
    public static Pipe pipe() throws IOException {
        java.nio.channels.Pipe p = java.nio.channels.Pipe.open();
        return new Pipe(of(p.source()), of(p.sink()));
    }

    /**
     * The two ends of a pipe.
     *
     * @param source can be read only
     * @param sink can be written only
     */
    public record Pipe(Stream source, Stream sink) {}

    /**
     * The process's standard input, whatever it is. The file it leads to may be shared with other processes; its mode is not
     * changed. Bytes that {@link System#in} has read already are gone. Does not wait.
     */
    public static Stream stdin() throws IOException {
        return Descriptors.standard(0, "stdin");
    }

    /** The process's standard output; see {@link #stdin()}. Does not know of what {@link System#out} still holds. */
    public static Stream stdout() throws IOException {
        return Descriptors.standard(1, "stdout");
    }

    /** The process's standard error output; see {@link #stdout()}. */
    public static Stream stderr() throws IOException {
        return Descriptors.standard(2, "stderr");
    }

    // =========================================================== layers

    /**
     * Lays a protocol over a stream. From then on the result is used in place of {@code below}, and closes it; it has the priority
     * that {@code below} has (I7). Does not wait.
     *
     * @param layer makes the layer from what it may do with the stream below
     */
    public static Stream layered(Stream below, Function<? super Below, ? extends Layer> layer) {
        Objects.requireNonNull(below, "below");
        LoopIo io = LoopIo.get();
        Stream s = new Stream(io, new LayerTransport(io, below, layer.apply(new Below(below))), below.name());
        if (below.out.hasPriority()) {
            s.writePriority(true); // who reads waits for the stream below, in its class
        }
        return s;
    }

    // =========================================================== servers

    /** {@link #startServer(Server.Handler, String, int, ServerOptions)} with the defaults. */
    public static Server startServer(Server.Handler onConnect, @Nullable String host, int port) throws IOException {
        return startServer(onConnect, host, port, ServerOptions.defaults());
    }

    /**
     * Listens for TCP connections and runs {@code onConnect} for each, in a task named after the peer. Waits only for the
     * look-up of a name.
     *
     * @param host name or address to listen at, at all addresses of it; null or empty: everywhere
     * @param port 0 to 65,535; 0: any free one, see {@link Server#port()}
     * @throws IOException if it cannot listen there, with host and port
     */
    public static Server startServer(Server.Handler onConnect, @Nullable String host, int port, ServerOptions options)
            throws IOException {
        Objects.requireNonNull(onConnect, "onConnect");
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be 0 to 65535: " + port);
        }
        List<InetSocketAddress> addresses =
                host == null || host.isEmpty() ? List.of(new InetSocketAddress(port)) : resolve(host, port);
        return Server.listen(onConnect, addresses, options);
    }

    /** Listens at a Unix-domain socket; see {@link #startUnixServer(Server.Handler, Path, ServerOptions)}. */
    public static Server startUnixServer(Server.Handler onConnect, Path path) throws IOException {
        return startUnixServer(onConnect, path, ServerOptions.defaults());
    }

    /**
     * Listens at a Unix-domain socket, whose file is removed when the server closes. Does not wait.
     *
     * @throws IOException if it cannot listen there, as when the file exists
     */
    public static Server startUnixServer(Server.Handler onConnect, Path path, ServerOptions options)
            throws IOException {
        Objects.requireNonNull(onConnect, "onConnect");
        return Server.listen(onConnect, List.of(UnixDomainSocketAddress.of(path)), options);
    }
}
