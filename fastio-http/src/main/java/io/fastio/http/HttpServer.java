package io.fastio.http;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import io.fastio.stream.Server;
import io.fastio.stream.ServerOptions;
import io.fastio.stream.Stream;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A small HTTP/1.1 server on the running loop:
 *
 * <pre>{@code
 * HttpServer.start((request, response) -> response.send("hello\n"), "localhost", 8080).serveForever();
 * }</pre>
 *
 * Connections are kept alive, requests may be pipelined, bodies may be chunked both ways. A request that breaks the rules
 * gets an answer that says so, and the end of its connection; the other connections never notice. Slow clients run into
 * time limits. What {@link #close} finds in service is finished.
 *
 * <p>As a {@link Server.Handler} it serves the connections of any {@link Server}; by {@link #serve} any {@link Stream}. Everything is
 * for the tasks and callbacks of its loop, and does not wait unless said otherwise.
 */
public final class HttpServer implements Server.Handler, AutoCloseable {
    private static final long NANOS_PER_MS = 1_000_000;
    private static final long SHORTEST_TICK = 5 * NANOS_PER_MS;
    private static final long LONGEST_TICK = 1_000 * NANOS_PER_MS;

    /** Time limits are this much too long at most, in parts of the shortest one. */
    private static final int TICKS_PER_LIMIT = 8;

    private static final Duration LAST_MOMENT = Duration.ofSeconds(1);

    final EventLoop loop;
    final HttpHandler handler;
    final int maxHeadBytes;
    final int maxHeaderFields;
    final int maxTargetBytes;
    final long maxBodyBytes;
    final int idleTicks;
    final int headTicks;
    final int transferTicks;
    private final int leastBytesPerSecond;
    private final Layer layer;
    private final ServerOptions options;
    private final long tickNanos;
    private final Handle clock;
    private int tick;

    private final List<Server> listeners = new ArrayList<>();

    /** Those who wait for the end. */
    private final WaitList waiters = new WaitList();

    /** Connections over which the layer is being laid, and their tasks. */
    private final Map<Stream, Task<?>> arriving = new LinkedHashMap<>();

    private @Nullable Connection newest;
    private int connections;
    private long requests;
    private boolean closing;

    /** Turns an accepted connection into the stream that HTTP is spoken on, such as one with TLS. */
    @FunctionalInterface
    public interface Layer {
        /**
         * Lays a protocol over a connection. Called in the task of the connection; may wait.
         *
         * @param connection as accepted
         * @return the stream to speak HTTP on
         * @throws IOException to refuse the connection, which is then closed; that is not reported
         */
        Stream over(Stream connection) throws Exception;
    }

    private HttpServer(Builder b) {
        loop = Asyncio.runningLoop();
        handler = b.handler;
        maxHeadBytes = b.maxHeadBytes;
        maxHeaderFields = b.maxHeaderFields;
        maxTargetBytes = Math.min(b.maxTargetBytes, b.maxHeadBytes);
        maxBodyBytes = b.maxBodyBytes;
        leastBytesPerSecond = b.leastBytesPerSecond;
        layer = b.layer;
        options = b.options;
        long shortest = Math.min(b.idleTime.toNanos(), Math.min(b.headTime.toNanos(), b.transferTime.toNanos()));
        tickNanos = Math.clamp(shortest / TICKS_PER_LIMIT, SHORTEST_TICK, LONGEST_TICK);
        idleTicks = ticks(b.idleTime);
        headTicks = ticks(b.headTime);
        transferTicks = ticks(b.transferTime);
        clock = loop.handle(Priority.NORMAL, this::look);
    }

    private int ticks(Duration d) {
        return (int) Math.min(Integer.MAX_VALUE / 2, (d.toNanos() + tickNanos - 1) / tickNanos);
    }

    /** Listens with the defaults; see {@link #listen(String, int)}. Waits only for the look-up of a name. */
    public static HttpServer start(HttpHandler handler, @Nullable String host, int port) throws IOException {
        HttpServer s = builder(handler).build();
        s.listen(host, port);
        return s;
    }

    /** A server with limits of your own. Any thread, but for {@link Builder#build}. */
    public static Builder builder(HttpHandler handler) {
        return new Builder(handler);
    }

    // =========================================================== listening

    /**
     * Listens for TCP connections, in addition to where it listens already. Waits only for the look-up of a name.
     *
     * @param host name or address to listen at; null or empty: everywhere
     * @param port 0 to 65,535; 0: any free one, see {@link #port()}
     * @throws IOException if it cannot listen there
     */
    public HttpServer listen(@Nullable String host, int port) throws IOException {
        requireOpen();
        listeners.add(Streams.startServer(this, host, port, options));
        return this;
    }

    /** Listens at a Unix-domain socket, in addition to where it listens already. */
    public HttpServer listen(Path path) throws IOException {
        requireOpen();
        listeners.add(Streams.startUnixServer(this, path, options));
        return this;
    }

    private void requireOpen() {
        loop.requireCurrent(this);
        if (closing) {
            throw new IllegalStateException("the server is closed");
        }
    }

    /** The first port that it listens at; -1 if there is none. */
    public int port() {
        for (Server s : listeners) {
            if (s.port() >= 0) {
                return s.port();
            }
        }
        return -1;
    }

    // =========================================================== serving

    /** Serves a connection of a {@link Server}. In a task; waits until the connection ends. */
    @Override
    public void handle(StreamReader reader, StreamWriter writer) throws Exception {
        serve((Stream) reader);
    }

    /**
     * Serves a connection until it ends, and closes it. In a task; waits. A cancel ends the connection at once.
     *
     * @param connection any stream; the {@linkplain Builder#over layer} is laid over it first
     */
    public void serve(Stream connection) throws Exception {
        Stream stream;
        arriving.put(connection, Asyncio.currentTask());
        try {
            stream = layer.over(connection);
        } catch (IOException e) {
            connection.close(); // a stranger at the door: told by the layer, if it can be told at all
            return;
        } finally {
            arriving.remove(connection);
            waiters.wakeAll();
        }
        Connection c = new Connection(this, stream);
        enter(c);
        try {
            c.serve();
        } finally {
            try {
                stream.close();
                stream.waitClosed();
            } finally {
                leave(c);
            }
        }
    }

    private void enter(Connection c) {
        c.older = newest;
        if (newest != null) {
            newest.newer = c;
        }
        newest = c;
        if (connections++ == 0) {
            clock.callLaterNanos(tickNanos);
        }
    }

    private void leave(Connection c) {
        if (c.newer == null) {
            newest = c.older;
        } else {
            c.newer.older = c.older;
        }
        if (c.older != null) {
            c.older.newer = c.newer;
        }
        if (--connections == 0) {
            clock.cancel();
        }
        waiters.wakeAll();
    }

    /** One tick of the time limits. A callback. */
    private void look() {
        tick++;
        for (Connection c = newest; c != null; c = c.older) {
            c.look(tick);
        }
        if (connections > 0) {
            clock.callLaterNanos(tickNanos);
        }
    }

    int tick() {
        return tick;
    }

    /** Whether fewer bytes moved in that many ticks than may be asked for. */
    boolean isTooSlow(long bytes, int ticks) {
        return ticks > transferTicks && bytes < (double) leastBytesPerSecond * ticks * tickNanos / 1e9;
    }

    void counted() {
        requests++;
    }

    /** Requests that were handed to the handler so far. */
    public long requests() {
        return requests;
    }

    /** Connections in service. */
    public int connections() {
        return connections;
    }

    // =========================================================== ending

    boolean isClosing() {
        return closing;
    }

    /** Whether {@link #close()} was called. */
    public boolean isClosed() {
        return closing;
    }

    /**
     * Stops listening and ends the connections that wait for a request; those with a request in service end behind its
     * answer. Idempotent. Wait for that by {@link #waitClosed(Duration)}.
     */
    @Override
    public void close() {
        if (closing) {
            return;
        }
        loop.requireCurrent(this);
        closing = true;
        for (Server s : listeners) {
            s.close();
        }
        for (Connection c = newest; c != null; c = c.older) {
            c.endIfIdle();
        }
        arriving.keySet().forEach(Stream::close);
        waiters.wakeAll();
    }

    private boolean isBusy() {
        return connections > 0 || !arriving.isEmpty();
    }

    /** {@link #waitClosed(Duration)} with the loop's {@code shutdownTimeout}. */
    public boolean waitClosed() {
        return waitClosed(loop.shutdownTimeout());
    }

    /**
     * Waits until the server is closed and its connections have ended. When the time is over, what is left is aborted: handlers
     * are cancelled, clients see a reset. The time counts from the close, or from the call if that is later.
     *
     * @param limit zero or more
     * @return whether all connections ended by themselves
     */
    public boolean waitClosed(Duration limit) {
        Wait.begin();
        loop.requireCurrent(this);
        while (!closing) {
            waiters.await(null, Wait.FOREVER);
        }
        long until = Wait.deadlineIn(limit);
        while (isBusy()) {
            if (waiters.await(null, until) == Wait.Reason.DEADLINE) {
                for (Connection c = newest; c != null; c = c.older) {
                    c.abort();
                }
                arriving.values().forEach(Task::cancel);
                long last = Wait.deadlineIn(LAST_MOMENT);
                while (isBusy() && waiters.await(null, last) == Wait.Reason.WOKEN) {
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
            while (!closing) {
                waiters.await(null, Wait.FOREVER);
            }
        } finally {
            close();
        }
    }

    @Override
    public String toString() {
        return "HttpServer[" + listeners + ", " + connections + " connections" + (closing ? ", closed]" : "]");
    }

    /** Limits, and what else a server can be told. Not thread safe. */
    public static final class Builder {
        private final HttpHandler handler;
        private int maxHeadBytes = 16 * 1024;
        private int maxHeaderFields = 100;
        private int maxTargetBytes = 8 * 1024;
        private long maxBodyBytes = 16L * 1024 * 1024;
        private Duration idleTime = Duration.ofSeconds(60);
        private Duration headTime = Duration.ofSeconds(10);
        private Duration transferTime = Duration.ofSeconds(20);
        private int leastBytesPerSecond = 240;
        private Layer layer = s -> s;
        private ServerOptions options = ServerOptions.defaults();

        private Builder(HttpHandler handler) {
            this.handler = Objects.requireNonNull(handler, "handler");
        }

        private static int positive(int n, String what) {
            if (n < 1) {
                throw new IllegalArgumentException(what + " must be positive: " + n);
            }
            return n;
        }

        private static Duration positive(Duration d, String what) {
            if (d.isNegative() || d.isZero() || d.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException(what + " must be positive and at most a day: " + d);
            }
            return d;
        }

        /** Largest head of a request, in bytes: else 431. Default 16,384. */
        public Builder maxHeadBytes(int bytes) {
            maxHeadBytes = positive(bytes, "maxHeadBytes");
            return this;
        }

        /** Most header fields of a request: else 431. Default 100. */
        public Builder maxHeaderFields(int fields) {
            maxHeaderFields = positive(fields, "maxHeaderFields");
            return this;
        }

        /** Longest request target, in bytes: else 414. Default 8,192. */
        public Builder maxTargetBytes(int bytes) {
            maxTargetBytes = positive(bytes, "maxTargetBytes");
            return this;
        }

        /** Largest body of a request, in bytes, zero or more: else 413. Default 16 MiB. */
        public Builder maxBodyBytes(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("maxBodyBytes must not be negative: " + bytes);
            }
            maxBodyBytes = bytes;
            return this;
        }

        /** How long a connection may wait between requests before it is closed. Default 60 s. */
        public Builder idleTime(Duration d) {
            idleTime = positive(d, "idleTime");
            return this;
        }

        /** How long the head of a request may take from its first byte: else 408. Default 10 s. */
        public Builder headTime(Duration d) {
            headTime = positive(d, "headTime");
            return this;
        }

        /**
         * How slow a client may be in sending a body (else 408) or taking an answer (else a reset): nothing for that long, or less
         * than {@code bytesPerSecond} on average of any time as long. Default 20 s and 240 B/s.
         */
        public Builder transfer(Duration d, int bytesPerSecond) {
            transferTime = positive(d, "transfer");
            leastBytesPerSecond = positive(bytesPerSecond, "bytesPerSecond");
            return this;
        }

        /** What is laid over each connection: TLS, say. */
        public Builder over(Layer l) {
            layer = Objects.requireNonNull(l, "layer");
            return this;
        }

        /** How it listens: backlog, most connections at a time, priority. */
        public Builder options(ServerOptions o) {
            options = Objects.requireNonNull(o, "options");
            return this;
        }

        /** The server, which belongs to the running loop and does not listen yet. For tasks and callbacks. */
        public HttpServer build() {
            return new HttpServer(this);
        }
    }
}
