package io.fastio.stream;

import io.fastio.Watch;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * NIO channels in non-blocking mode: in that mode, unlike in blocking mode, an interrupt of the thread does not close them
 * (F97).
 */
final class ChannelTransport extends WatchedTransport {
    private final SelectableChannel channel;

    ChannelTransport(SelectableChannel channel, Watch watch) {
        super(watch);
        this.channel = channel;
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        if (!(channel instanceof ReadableByteChannel source)) {
            throw new IOException(channel + " cannot be read");
        }
        int n = source.read(dst);
        if (n == 0) {
            watch.readWouldBlock();
        }
        return n;
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        if (!(channel instanceof WritableByteChannel sink)) {
            throw new IOException(channel + " cannot be written");
        }
        int n = sink.write(src);
        if (n == 0) {
            watch.writeWouldBlock();
        }
        return n;
    }

    @Override
    void shutdownOutput() throws IOException {
        if (channel instanceof SocketChannel s) {
            s.shutdownOutput();
        } else {
            close();
        }
    }

    @Override
    void dropOnClose() throws IOException {
        if (channel instanceof SocketChannel s && s.supportedOptions().contains(StandardSocketOptions.SO_LINGER)) {
            s.setOption(StandardSocketOptions.SO_LINGER, 0);
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
        return ChannelInfo.of(channel, name);
    }
}
