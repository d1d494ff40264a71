package io.fastio.stream;

/**
 * How a datagram endpoint is made.
 *
 * @param broadcast whether it may send to broadcast addresses (SO_BROADCAST); default false
 * @param reuseAddress whether the port may be shared with other endpoints that say so too, as members of a multicast group
 *     do (SO_REUSEADDR); default false
 * @param reusePort whether several endpoints, on loops of their own, may share the port and its load; default false
 * @param receiveBuffer bytes that the system keeps until they are received, before it drops datagrams; 0: the system's
 *     choice (default)
 * @param sendBuffer bytes that the system keeps until they are sent; 0: the system's choice (default)
 * @param reportUnreachable whether a connected endpoint tells, once each, that nobody is at the other side's port; default
 *     true
 * @param priority whether the endpoint is of class URGENT (I7); default false
 */
public record DatagramOptions(
        boolean broadcast,
        boolean reuseAddress,
        boolean reusePort,
        int receiveBuffer,
        int sendBuffer,
        boolean reportUnreachable,
        boolean priority) {
    private static final DatagramOptions DEFAULT = new DatagramOptions(false, false, false, 0, 0, true, false);

    public DatagramOptions {
        if (receiveBuffer < 0 || sendBuffer < 0) {
            throw new IllegalArgumentException("receiveBuffer and sendBuffer must not be negative");
        }
    }

    /** The defaults. */
    public static DatagramOptions defaults() {
        return DEFAULT;
    }

    /** These options with {@code broadcast} as said. */
    public DatagramOptions broadcast(boolean on) {
        return new DatagramOptions(on, reuseAddress, reusePort, receiveBuffer, sendBuffer, reportUnreachable, priority);
    }

    /** These options with {@code reuseAddress} as said. */
    public DatagramOptions reuseAddress(boolean on) {
        return new DatagramOptions(broadcast, on, reusePort, receiveBuffer, sendBuffer, reportUnreachable, priority);
    }

    /** These options with {@code reusePort} as said. */
    public DatagramOptions reusePort(boolean on) {
        return new DatagramOptions(broadcast, reuseAddress, on, receiveBuffer, sendBuffer, reportUnreachable, priority);
    }

    /** These options with a receive buffer of that many bytes. */
    public DatagramOptions receiveBuffer(int bytes) {
        return new DatagramOptions(broadcast, reuseAddress, reusePort, bytes, sendBuffer, reportUnreachable, priority);
    }

    /** These options with a send buffer of that many bytes. */
    public DatagramOptions sendBuffer(int bytes) {
        return new DatagramOptions(
                broadcast, reuseAddress, reusePort, receiveBuffer, bytes, reportUnreachable, priority);
    }

    /** These options with {@code reportUnreachable} as said. */
    public DatagramOptions reportUnreachable(boolean on) {
        return new DatagramOptions(broadcast, reuseAddress, reusePort, receiveBuffer, sendBuffer, on, priority);
    }

    /** These options with {@code priority} as said. */
    public DatagramOptions priority(boolean on) {
        return new DatagramOptions(
                broadcast, reuseAddress, reusePort, receiveBuffer, sendBuffer, reportUnreachable, on);
    }
}
