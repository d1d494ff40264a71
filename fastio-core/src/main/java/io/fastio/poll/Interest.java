package io.fastio.poll;

import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** Interest and readiness in a poller's two directions, and the same in NIO's four operations. */
final class Interest {
    static final int BOTH = Poller.READ | Poller.WRITE;
    static final int IN = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
    static final int OUT = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    private Interest() {}

    /** The directions that a channel has. */
    static int validFor(SelectableChannel ch) {
        return fromOps(ch.validOps());
    }

    /** @throws IllegalArgumentException if {@code interest} is none of, or more than, {@code valid} */
    static void check(int interest, int valid) {
        if (interest == 0 || (interest & ~valid) != 0) {
            throw new IllegalArgumentException("interest " + interest + " in what allows " + valid + " (READ = "
                    + Poller.READ + ", WRITE = " + Poller.WRITE + ")");
        }
    }

    static int fromOps(int ops) {
        return ((ops & IN) != 0 ? Poller.READ : 0) | ((ops & OUT) != 0 ? Poller.WRITE : 0);
    }

    /**
     * NIO's operations for an interest. WRITE on a socket means the end of its connect until it is connected.
     * OP_CONNECT must not stay set afterwards: the kernel reports it, NIO hides it, and the select ends at once for
     * ever.
     */
    static int toOps(int interest, SelectableChannel ch) {
        int ops = 0;
        if ((interest & Poller.READ) != 0) {
            ops |= ch.validOps() & IN;
        }
        if ((interest & Poller.WRITE) != 0) {
            if (ch instanceof SocketChannel s) {
                ops |= s.isConnected() ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT;
            } else {
                ops |= ch.validOps() & OUT;
            }
        }
        return ops;
    }
}
