package io.fastio.stream;

import java.io.IOException;
import java.io.Serial;
import java.net.InetSocketAddress;

/**
 * A datagram was longer than the buffer it was received into: the buffer holds its beginning, the rest is lost. The endpoint
 * goes on with the next datagram.
 */
public final class DatagramTruncatedException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final int length;
    private final InetSocketAddress sender;

    DatagramTruncatedException(int length, int room, InetSocketAddress sender) {
        super("datagram of " + length + " bytes from " + sender + " cut off after " + room);
        this.length = length;
        this.sender = sender;
    }

    /** Bytes that the datagram had. */
    public int length() {
        return length;
    }

    /** Who sent it. */
    public InetSocketAddress sender() {
        return sender;
    }
}
