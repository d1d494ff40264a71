package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.Wait;
import io.fastio.WaitList;
import io.fastio.Watch;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Listens, and runs a handler for each connection (asyncio's {@code Server}). Serves from the moment it exists. Unless said
 * otherwise, everything is for the tasks and callbacks of its loop and does not wait.
 */
public final class Server implements AutoCloseable {
    /** Connections accepted before handlers get a turn: a burst must not starve those who are connected already (I6). */
    private static final int ACCEPTS_AT_ONCE = 16;

    /** How long the end waits for handlers that were cancelled. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(1);

    private static final long FIRST_PAUSE_MS = 5;
    private static final long LONGEST_PAUSE_MS = 250;

    /** What a connection gets: run in a task of its own, named after the peer; the connection is closed when it returns. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Serves one connection. What it throws ends this connection only, and is reported to the loop's exception handler;
         * that the connection was lost, as by a reset, without the exception.
         *
         * @param reader what the peer sends
         * @param writer what the peer gets; the same {@link Stream} as {@code reader}
         */
        void handle(StreamReader reader, StreamWriter writer) throws Exception;
    }

    private final EventLoop loop;
    private final Handler handler;
    private final ServerOptions options;
    private final List<Listener> listeners = new ArrayList<>();

    /** Those who wait for the end, or for room for another connection. */
    private final WaitList waiters = new WaitList();

    private @Nullable Connection newest;
    private int connections;
    private boolean closed;

    private record Listener(ServerSocketChannel channel, Watch watch, SocketAddress address) {}

    /** A connection in service; member of the server's list. */
    private final class Connection {
        final Stream stream;

        @Nullable
        Task<?> task;

        @Nullable
        Connection older;

        @Nullable
        Connection newer;

        private boolean left;

        Connection(Stream stream) {
            this.stream = stream;
            older = newest;
            if (older != null) {
                older.newer = this;
            }
            newest = this;
            connections++;
        }

        void serve() {
            try {
                handle();
                if (!stream.isDetached()) {
                    stream.close();
                    stream.waitClosed();
                }
            } catch (CancelledError e) {
                if (!stream.isDetached()) {
                    stream.abort();
                }
                throw e;
            } finally {
                leave();
            }
        }

        private void handle() {
            try {
                handler.handle(stream, stream);
            } catch (CancelledError e) {
                throw e;
            } catch (Throwable e) { // I6
                loop.report(
                        stream.isOwnFailure(e)
                                ? new LoopError(
                                        "the connection from " + stream.name() + " was lost: " + e.getMessage(),
                                        null,
                                        task)
                                : new LoopError(
                                        "the handler of the connection from " + stream.name() + " failed: " + e,
                                        e,
                                        task));
            }
        }

        /** One that was cancelled before its first step has not left yet (C3). */
        void ended(Task<?> ignored) {
            if (!left) {
                stream.abort();
                leave();
            }
        }

        private void leave() {
            left = true;
            if (newer == null) {
                newest = older;
            } else {
                newer.older = older;
            }
            if (older != null) {
                older.newer = newer;
            }
            connections--;
            waiters.wakeAll();
        }
    }

    private Server(EventLoop loop, Handler handler, ServerOptions options) {
        this.loop = loop;
        this.handler = handler;
        this.options = options;
    }

    static Server listen(Handler handler, List<? extends SocketAddress> addresses, ServerOptions options)
            throws IOException {
        Server s = new Server(Asyncio.runningLoop(), handler, options);
        IOException skipped = null;
        try {
            for (SocketAddress a : addresses) {
                try {
                    s.listenAtOrRetry(a);
                } catch (IOException e) {
                    if (!(a instanceof InetSocketAddress i && i.getAddress() instanceof Inet6Address)
                            || addresses.size() == 1
                            || s.isInUse(e)) {
                        throw e;
                    }
                    skipped = e; // a host name's IPv6 address where there is no IPv6
                }
            }
            if (s.listeners.isEmpty()) {
                throw Objects.requireNonNull(skipped);
            }
        } catch (IOException | RuntimeException e) {
            s.close();
            throw e;
        }
        for (Listener l : s.listeners) {
            s.loop.createTask(TaskOptions.named("accepting at " + l.address), () -> s.acceptAll(l));
        }
        return s;
    }

    private boolean isInUse(IOException e) {
        return e instanceof BindException && String.valueOf(e.getMessage()).contains("in use");
    }

    /** A selector gives the port of a server that was just closed back at its next look. */
    private void listenAtOrRetry(SocketAddress a) throws IOException {
        try {
            listenAt(a);
        } catch (IOException e) {
            if (Watch.supportsFds() || !isInUse(e)) {
                throw e;
            }
            Asyncio.sleepMs(1);
            listenAt(a);
        }
    }

    private void listenAt(SocketAddress wanted) throws IOException {
        boolean unix = wanted instanceof UnixDomainSocketAddress;
        SocketAddress at = wanted;
        if (wanted instanceof InetSocketAddress i && i.getPort() == 0 && !listeners.isEmpty()) {
            at = new InetSocketAddress(i.getAddress(), port()); // one port for all addresses
        }
        ServerSocketChannel ch =
                unix ? ServerSocketChannel.open(StandardProtocolFamily.UNIX) : ServerSocketChannel.open();
        boolean listening = false;
        try {
            ch.configureBlocking(false);
            if (!unix) {
                ch.setOption(StandardSocketOptions.SO_REUSEADDR, options.reuseAddress());
                if (options.reusePort()) {
                    ch.setOption(StandardSocketOptions.SO_REUSEPORT, true);
                }
            }
            ch.bind(at, options.backlog());
            listeners.add(new Listener(ch, Watch.of(ch, null), ch.getLocalAddress()));
            listening = true;
        } catch (IOException e) {
            BindException b = new BindException("cannot listen at " + at + ": " + e.getMessage());
            b.initCause(e);
            throw b;
        } finally {
            if (!listening) {
                ch.close();
            }
        }
    }

    /** The life of one listener. */
    private void acceptAll(Listener l) throws IOException {
        try {
            accept(l);
        } finally {
            close(); // cancelled, as at the end of the loop
        }
    }

    private void accept(Listener l) throws IOException {
        int accepted = 0;
        long pause = FIRST_PAUSE_MS;
        boolean warned = false;
        while (!closed) {
            if (connections >= options.maxConnections()) {
                waiters.await(null, Wait.FOREVER);
                continue;
            }
            try {
                SocketChannel ch = l.channel.accept();
                if (ch == null) {
                    accepted = 0;
                    warned = false; // all who waited are in: what fails from here on is news
                    l.watch.readWouldBlock();
                    l.watch.awaitReadable();
                    continue;
                }
                pause = FIRST_PAUSE_MS;
                start(ch);
                if (++accepted >= ACCEPTS_AT_ONCE) {
                    accepted = 0;
                    Asyncio.yieldNow();
                }
            } catch (ClosedChannelException e) {
                if (!closed) {
                    throw e;
                }
            } catch (IOException e) { // no descriptors, no memory: it will pass (I6)
                if (!warned) {
                    warned = true;
                    loop.report(new LoopError(
                            "accepting at " + l.address + " failed (" + e.getMessage()
                                    + "); pausing until it works again",
                            e,
                            Asyncio.currentTask()));
                }
                Asyncio.sleepMs(pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
            }
        }
    }

    private void start(SocketChannel ch) throws IOException {
        boolean started = false;
        try {
            ch.configureBlocking(false);
            String peer = String.valueOf(ch.getRemoteAddress());
            if (ch.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
                ch.setOption(StandardSocketOptions.TCP_NODELAY, options.noDelay());
                ch.setOption(StandardSocketOptions.SO_KEEPALIVE, options.keepAlive());
            }
            Stream s = Streams.socket(ch, Watch.of(ch, null), peer);
            if (options.priority()) {
                s.priority(true);
            }
            started = true;
            Connection c = new Connection(s);
            TaskOptions named = TaskOptions.named("connection " + peer);
            Task<?> t = loop.createTask(options.priority() ? named.priority(Priority.URGENT) : named, c::serve);
            c.task = t;
            t.addDoneCallback(c::ended);
        } finally {
            if (!started) {
                ch.close();
            }
        }
    }

    /** The first port that it listens at; -1 for a Unix-domain socket. */
    public int port() {
        return listeners.getFirst().address instanceof InetSocketAddress i ? i.getPort() : -1;
    }

    /** Where it listens, or listened. */
    public List<SocketAddress> addresses() {
        return listeners.stream().map(Listener::address).toList();
    }

    /** Its listening channels; for their options. */
    public List<ServerSocketChannel> sockets() {
        return listeners.stream().map(Listener::channel).toList();
    }

    /** Connections whose handler has not ended. */
    public int connections() {
        return connections;
    }

    /** Whether {@link #close()} was called. */
    public boolean isClosed() {
        return closed;
    }

    /** Stops listening; open connections live on (I6). Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        loop.requireCurrent(this);
        closed = true;
        for (Listener l : listeners) {
            l.watch.close();
            try {
                l.channel.close();
                if (l.address instanceof UnixDomainSocketAddress u) {
                    Files.deleteIfExists(u.getPath());
                }
            } catch (IOException e) {
                loop.report(new LoopError("closing the listener at " + l.address + " failed", e, null));
            }
        }
        waiters.wakeAll();
    }

    /** Closes all connections: what was written still goes out, and their handlers get an exception when they read. */
    public void closeClients() {
        loop.requireCurrent(this);
        for (Connection c = newest; c != null; c = c.older) {
            c.stream.close();
        }
    }

    /** Ends all connections at once and cancels their handlers. */
    public void abortClients() {
        loop.requireCurrent(this);
        for (Connection c = newest; c != null; c = c.older) {
            c.stream.abort();
            if (c.task != null) {
                c.task.cancel();
            }
        }
    }

    /** {@link #waitClosed(Duration)} with the loop's {@code shutdownTimeout}. */
    public boolean waitClosed() {
        return waitClosed(loop.shutdownTimeout());
    }

    /**
     * Waits until the server is closed and all its handlers have ended; when the time is over, {@linkplain #abortClients
     * aborts} what is left and waits a second for that. The time counts from the close, or from the call if that is later.
     *
     * @param limit zero or more
     * @return whether all handlers ended by themselves
     */
    public boolean waitClosed(Duration limit) {
        Wait.begin();
        loop.requireCurrent(this);
        while (!closed) {
            waiters.await(null, Wait.FOREVER);
        }
        long until = Wait.deadlineIn(limit);
        while (connections > 0) {
            if (waiters.await(null, until) == Wait.Reason.DEADLINE) {
                abortClients();
                long last = Wait.deadlineIn(LAST_MOMENT);
                while (connections > 0 && waiters.await(null, last) == Wait.Reason.WOKEN) {
                    // Each end of a connection wakes.
                }
                return false;
            }
        }
        return true;
    }

    /** Waits until the server is closed; a cancel of the caller closes it. */
    public void serveForever() {
        Asyncio.currentTask(); // whoever may not wait does not close it either
        loop.requireCurrent(this);
        try {
            Wait.begin();
            while (!closed) {
                waiters.await(null, Wait.FOREVER);
            }
        } finally {
            close();
        }
    }

    @Override
    public String toString() {
        return "Server[" + addresses() + ", " + connections + " connections" + (closed ? ", closed]" : "]");
    }
}
