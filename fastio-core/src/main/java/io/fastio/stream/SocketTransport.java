package io.fastio.stream;

import io.fastio.Watch;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * A NIO socket read and written by system calls on its descriptor: no locks, no states to check, no way for an interrupt to
 * close it (F97).
 */
final class SocketTransport extends WatchedTransport {
    private final SocketChannel channel;
    private final FdIo fds;
    private final int fd;

    SocketTransport(SocketChannel channel, Watch watch, FdIo fds) {
        super(watch);
        this.channel = channel;
        this.fds = fds;
        this.fd = watch.fd();
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        int n = fds.recv(fd, dst);
        if (n > 0) {
            return n;
        }
        if (n == 0) {
            return -1;
        }
        if (n == -Errno.EAGAIN) {
            watch.readWouldBlock();
            return 0;
        }
        throw failed("read from ", n);
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        int n = fds.send(fd, src);
        if (n >= 0) {
            return n;
        }
        if (n == -Errno.EAGAIN) {
            watch.writeWouldBlock();
            return 0;
        }
        throw failed("write to ", n);
    }

    private SocketException failed(String what, int result) {
        return new SocketException(what + info("peername") + ": " + Errno.text(-result));
    }

    @Override
    void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    @Override
    void dropOnClose() throws IOException {
        if (channel.supportedOptions().contains(StandardSocketOptions.SO_LINGER)) {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
    }

    @Override
    void close() throws IOException {
        watch.close();
        channel.close();
    }

    @Override
    @Nullable
    Object info(String name) {
        if (name.equals("unsent")) {
            int n = channel.isOpen() ? fds.unsent(fd) : -1;
            return n < 0 ? null : n;
        }
        return ChannelInfo.of(channel, name);
    }
}
