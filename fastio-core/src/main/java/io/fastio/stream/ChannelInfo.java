package io.fastio.stream;

import java.io.IOException;
import java.nio.channels.Channel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** What {@link StreamWriter#getExtraInfo} tells of a channel. */
final class ChannelInfo {
    private ChannelInfo() {}

    static @Nullable Object of(Channel channel, String name) {
        try {
            return switch (name) {
                case "peername" -> channel instanceof SocketChannel s ? s.getRemoteAddress() : null;
                case "sockname" -> channel instanceof NetworkChannel n ? n.getLocalAddress() : null;
                case "channel" -> channel;
                default -> null;
            };
        } catch (IOException closed) {
            return null; // there is nothing to know any more
        }
    }
}
