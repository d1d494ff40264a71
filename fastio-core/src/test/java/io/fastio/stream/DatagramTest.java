package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class DatagramTest extends OnBothPollers {
    private static String received(Datagram d) throws Exception {
        ByteBuffer b = ByteBuffer.allocate(2_000);
        d.receive(b);
        return StandardCharsets.UTF_8.decode(b.flip()).toString();
    }

    @Test
    void I7_packetsKeepTheirBounds() throws Exception {
        run(() -> {
            Datagram server = Datagram.bind("127.0.0.1", 0);
            Datagram client = Datagram.connect("127.0.0.1", server.port());
            Task<String> first = Asyncio.createTask(() -> received(server));
            letRun(first);
            client.send(ByteBuffer.wrap(bytes("one")));
            client.send(ByteBuffer.wrap(bytes("two")));
            assertThat(first.await()).isEqualTo("one");
            ByteBuffer b = ByteBuffer.allocate(2);
            SocketAddress from = server.receive(b);
            assertThat(text(b.array())).as("what has no room is lost").isEqualTo("tw");
            server.send(ByteBuffer.wrap(bytes("back")), from);
            assertThat(received(client)).isEqualTo("back");
            server.send(ByteBuffer.allocate(0), from);
            assertThat(received(client)).isEmpty();
            client.close();
            server.close();
        });
    }

    @Test
    void F82_closingEndsAReceiver() throws Exception {
        run(() -> {
            Datagram d = Datagram.bind("127.0.0.1", 0);
            Task<String> t = Asyncio.createTask(() -> received(d));
            letRun(t);
            assertThatThrownBy(() -> received(d)).isInstanceOf(IllegalStateException.class);
            d.close();
            d.close();
            assertThatThrownBy(t::await).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> received(d)).isInstanceOf(ClosedChannelException.class);
        });
    }

    @Test
    void C6_aCancelledReceiverLeavesThePacket() throws Exception {
        run(() -> {
            Datagram server = Datagram.bind("127.0.0.1", 0);
            Datagram client = Datagram.connect("127.0.0.1", server.port());
            Task<String> t = Asyncio.createTask(() -> received(server));
            letRun(t);
            client.send(ByteBuffer.wrap(bytes("kept")));
            t.cancel();
            assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
            assertThat(received(server)).isEqualTo("kept");
            client.close();
            server.close();
        });
    }
}
