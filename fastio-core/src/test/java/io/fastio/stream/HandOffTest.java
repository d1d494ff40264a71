package io.fastio.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.Watch;
import io.fastio.context.Channel;
import io.fastio.context.LoopGroup;
import io.fastio.sync.QueueClosedException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One loop accepts, others serve: sockets handed over a channel, where the system has no reuse-port or it is not wanted. */
@Timeout(60)
final class HandOffTest {
    private static final int CONNECTIONS = 60;

    private static void accept(ServerSocketChannel listener, Channel<SocketChannel> accepted) throws Exception {
        Watch watch = Watch.of(listener, null);
        try {
            for (int i = 0; i < CONNECTIONS; ) {
                SocketChannel c = listener.accept();
                if (c == null) {
                    watch.readWouldBlock();
                    watch.awaitReadable();
                } else {
                    accepted.send(c);
                    i++;
                }
            }
        } finally {
            watch.close();
            accepted.close();
        }
    }

    private static int serve(Channel<SocketChannel> accepted) throws Exception {
        List<Task<?>> served = new ArrayList<>();
        while (true) {
            SocketChannel socket;
            try {
                socket = accepted.receive();
            } catch (QueueClosedException end) {
                break;
            }
            Stream stream = Streams.of(socket); // from here on it is this loop's
            served.add(Asyncio.createTask(() -> {
                try (stream) {
                    for (String line = stream.readLine(); line != null; line = stream.readLine()) {
                        stream.write((Asyncio.runningLoop().name() + ' ' + line + '\n').getBytes(UTF_8));
                        stream.drain();
                    }
                }
            }));
        }
        for (Task<?> t : served) {
            t.await();
        }
        return served.size();
    }

    @Test
    void acceptedSocketsGoOverATypedChannelToTheLoopsThatServeThem() throws Exception {
        try (LoopGroup group = LoopGroup.start(3);
                ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
            listener.configureBlocking(false);
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            Channel<SocketChannel> accepted = new Channel<>(4);
            EventLoop acceptor = group.get(0);
            List<Task<Integer>> workers = new ArrayList<>();
            for (int i = 1; i < group.size(); i++) {
                workers.add(group.get(i).createTask(() -> serve(accepted)));
            }
            group.runOnAll(() -> true); // both wait by now, and a channel serves those who wait in turn
            Task<?> accepting = acceptor.createTask(() -> accept(listener, accepted));

            Set<String> servers = new TreeSet<>();
            List<Socket> clients = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Socket s = new Socket(InetAddress.getLoopbackAddress(), port);
                s.setSoTimeout(20_000);
                clients.add(s);
            }
            for (int i = 0; i < CONNECTIONS; i++) {
                try (Socket s = clients.get(i)) {
                    for (int n = 0; n < 3; n++) { // each answered by the same loop, whichever that is
                        s.getOutputStream().write((i + "." + n + "\n").getBytes(UTF_8));
                        String[] answer = line(s).split(" ");
                        assertThat(answer[1]).isEqualTo(i + "." + n);
                        servers.add(i + " " + answer[0]);
                    }
                }
            }
            assertThat(servers).hasSize(CONNECTIONS).noneMatch(s -> s.endsWith(acceptor.name()));
            accepting.get(20, TimeUnit.SECONDS);
            int served = 0;
            for (Task<Integer> w : workers) {
                int n = w.get(20, TimeUnit.SECONDS);
                assertThat(n).isPositive();
                served += n;
            }
            assertThat(served).isEqualTo(CONNECTIONS);
            assertThat(acceptor.createTask(() -> Asyncio.sleep(Duration.ofMillis(1)))
                            .get(20, TimeUnit.SECONDS))
                    .isNull();
        }
    }

    private static String line(Socket s) throws Exception {
        StringBuilder line = new StringBuilder();
        for (int b = s.getInputStream().read();
                b != '\n';
                b = s.getInputStream().read()) {
            assertThat(b).isNotNegative();
            line.append((char) b);
        }
        return line.toString();
    }
}
