package io.fastio.stream;

/**
 * How a server listens.
 *
 * @param backlog connections that the system keeps until they are accepted; positive, default 1,024
 * @param maxConnections connections served at a time; further ones wait in the backlog; positive, default no limit
 * @param reuseAddress whether the port may be bound while connections of an earlier server linger; default true
 * @param reusePort whether several servers, on loops of their own, may share the port and its load; default false
 * @param noDelay whether small writes go out at once (TCP_NODELAY); default true
 * @param keepAlive whether the system probes idle connections (SO_KEEPALIVE); default false
 * @param priority whether the connections are of class URGENT (I7); default false
 */
public record ServerOptions(
        int backlog,
        int maxConnections,
        boolean reuseAddress,
        boolean reusePort,
        boolean noDelay,
        boolean keepAlive,
        boolean priority) {
    private static final ServerOptions DEFAULT =
            new ServerOptions(1024, Integer.MAX_VALUE, true, false, true, false, false);

    public ServerOptions {
        if (backlog < 1 || maxConnections < 1) {
            throw new IllegalArgumentException("backlog and maxConnections must be positive");
        }
    }

    /** The defaults. */
    public static ServerOptions defaults() {
        return DEFAULT;
    }

    /** These options with that backlog. */
    public ServerOptions backlog(int connections) {
        return new ServerOptions(connections, maxConnections, reuseAddress, reusePort, noDelay, keepAlive, priority);
    }

    /** These options with that limit. */
    public ServerOptions maxConnections(int connections) {
        return new ServerOptions(backlog, connections, reuseAddress, reusePort, noDelay, keepAlive, priority);
    }

    /** These options with {@code reuseAddress} as said. */
    public ServerOptions reuseAddress(boolean on) {
        return new ServerOptions(backlog, maxConnections, on, reusePort, noDelay, keepAlive, priority);
    }

    /** These options with {@code reusePort} as said. */
    public ServerOptions reusePort(boolean on) {
        return new ServerOptions(backlog, maxConnections, reuseAddress, on, noDelay, keepAlive, priority);
    }

    /** These options with {@code noDelay} as said. */
    public ServerOptions noDelay(boolean on) {
        return new ServerOptions(backlog, maxConnections, reuseAddress, reusePort, on, keepAlive, priority);
    }

    /** These options with {@code keepAlive} as said. */
    public ServerOptions keepAlive(boolean on) {
        return new ServerOptions(backlog, maxConnections, reuseAddress, reusePort, noDelay, on, priority);
    }

    /** These options with {@code priority} as said. */
    public ServerOptions priority(boolean on) {
        return new ServerOptions(backlog, maxConnections, reuseAddress, reusePort, noDelay, keepAlive, on);
    }
}
