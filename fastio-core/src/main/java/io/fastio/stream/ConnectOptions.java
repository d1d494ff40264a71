package io.fastio.stream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a connection is made.
 *
 * @param timeout longest time for everything, name resolution included; positive, or null for the system's
 * @param localAddress address to connect from, or null for the system's choice; port 0 for any
 * @param noDelay whether small writes go out at once (TCP_NODELAY); default true
 * @param keepAlive whether the system probes an idle connection (SO_KEEPALIVE); default false
 * @param priority whether the stream is of class URGENT (I7); default false
 * @param attemptDelay how long an attempt may go without an answer before the next address of the host is tried beside it
 *     (RFC 8305); zero or more, default 250 ms; does not count for a host of one address
 */
public record ConnectOptions(
        @Nullable Duration timeout,
        @Nullable InetSocketAddress localAddress,
        boolean noDelay,
        boolean keepAlive,
        boolean priority,
        Duration attemptDelay) {
    private static final ConnectOptions DEFAULT =
            new ConnectOptions(null, null, true, false, false, Duration.ofMillis(250));

    public ConnectOptions {
        if (timeout != null && (timeout.isZero() || timeout.isNegative())) {
            throw new IllegalArgumentException("timeout must be positive: " + timeout);
        }
        if (attemptDelay.isNegative()) {
            throw new IllegalArgumentException("attemptDelay must not be negative: " + attemptDelay);
        }
    }

    /** The defaults. */
    public static ConnectOptions defaults() {
        return DEFAULT;
    }

    /** These options with that time limit. */
    public ConnectOptions timeout(Duration limit) {
        return new ConnectOptions(
                Objects.requireNonNull(limit, "limit"), localAddress, noDelay, keepAlive, priority, attemptDelay);
    }

    /** These options with that address to connect from. */
    public ConnectOptions localAddress(InetSocketAddress from) {
        return new ConnectOptions(
                timeout, Objects.requireNonNull(from, "from"), noDelay, keepAlive, priority, attemptDelay);
    }

    /** These options with {@code noDelay} as said. */
    public ConnectOptions noDelay(boolean on) {
        return new ConnectOptions(timeout, localAddress, on, keepAlive, priority, attemptDelay);
    }

    /** These options with {@code keepAlive} as said. */
    public ConnectOptions keepAlive(boolean on) {
        return new ConnectOptions(timeout, localAddress, noDelay, on, priority, attemptDelay);
    }

    /** These options with {@code priority} as said. */
    public ConnectOptions priority(boolean on) {
        return new ConnectOptions(timeout, localAddress, noDelay, keepAlive, on, attemptDelay);
    }

    /** These options with that delay between attempts. */
    public ConnectOptions attemptDelay(Duration delay) {
        return new ConnectOptions(timeout, localAddress, noDelay, keepAlive, priority, delay);
    }
}
