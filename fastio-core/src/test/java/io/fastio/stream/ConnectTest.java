package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ConnectTest extends OnBothPollers {
    @Test
    void I5_aRefusedPortIsAnErrorOfOpenConnectionWithHostAndPort() throws Exception {
        run(() -> {
            int port = unusedPort().getPort();
            assertThatThrownBy(() -> Streams.openConnection("127.0.0.1", port))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining("127.0.0.1:" + port)
                    .hasMessageContaining("refused");
        });
    }

    @Test
    void I5_anUnknownHostIsNamed() throws Exception {
        run(() -> assertThatThrownBy(() -> Streams.openConnection("no-such-host.invalid", 80))
                .isInstanceOf(UnknownHostException.class)
                .hasMessageContaining("no-such-host.invalid"));
    }

    @Test
    void I5_wrongPortsAreRefused() throws Exception {
        run(() -> {
            for (int port : new int[] {-1, 0, 65_536}) {
                assertThatThrownBy(() -> Streams.openConnection("127.0.0.1", port))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        });
    }

    @Test
    void I5_allAddressesAreTried() throws Exception {
        run(() -> {
            Server s = Streams.startServer((r, w) -> w.write("here"), "127.0.0.1", 0);
            List<InetSocketAddress> addresses =
                    List.of(unusedPort(), unusedPort(), new InetSocketAddress(HERE, s.port()));
            Stream c = Streams.connect(addresses, ConnectOptions.defaults(), "somewhere");
            assertThat(text(c.read(-1))).isEqualTo("here");
            c.close();
            assertThatThrownBy(() -> Streams.connect(
                            List.of(unusedPort(), unusedPort()), ConnectOptions.defaults(), "somewhere"))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining("somewhere")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            s.close();
        });
    }

    @Test
    void I5_aNameIsResolved() throws Exception {
        run(() -> {
            Server s = Streams.startServer((r, w) -> w.write("here"), "localhost", 0);
            try (Stream c = Streams.openConnection("localhost", s.port())) {
                assertThat(text(c.read(-1))).isEqualTo("here");
            }
            s.close();
        });
    }

    @Test
    void I5_overIPv6() throws Exception {
        assumeTrue(
                NetworkInterface.networkInterfaces()
                        .flatMap(NetworkInterface::inetAddresses)
                        .anyMatch(a -> a instanceof Inet6Address && a.isLoopbackAddress()),
                "no IPv6 here");
        run(() -> {
            Server s = Streams.startServer((r, w) -> w.write(String.valueOf(w.getExtraInfo("peername"))), "::1", 0);
            try (Stream c = Streams.openConnection("::1", s.port())) {
                assertThat(text(c.read(-1))).contains("0:0:0:0:0:0:0:1");
            }
            s.close();
        });
    }

    @Test
    void I5_theTimeLimitEndsAnAttemptThatGetsNoAnswer() throws Exception {
        run(() -> {
            try (ServerSocket deaf = new ServerSocket(0, 1, HERE)) {
                List<Socket> queued = fillBacklog(deaf);
                ConnectOptions impatient = ConnectOptions.defaults().timeout(Duration.ofMillis(100));
                assertThatThrownBy(() -> Streams.openConnection("127.0.0.1", deaf.getLocalPort(), impatient))
                        .isInstanceOf(SocketTimeoutException.class)
                        .hasMessageContaining("127.0.0.1:" + deaf.getLocalPort());
                for (Socket s : queued) {
                    s.close();
                }
            }
        });
    }

    @Test
    void C2_aCancelEndsAnAttemptAndLeavesNothing() throws Exception {
        run(() -> {
            try (ServerSocket deaf = new ServerSocket(0, 1, HERE)) {
                List<Socket> queued = fillBacklog(deaf);
                long before = openFiles();
                Task<Stream> t = Asyncio.createTask(() -> Streams.openConnection("127.0.0.1", deaf.getLocalPort()));
                letRun(t);
                assertThat(t.done()).isFalse();
                t.cancel();
                assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
                Asyncio.sleepMs(10); // a selector gives descriptors back at the next look
                assertThat(openFiles()).isLessThanOrEqualTo(before);
                for (Socket s : queued) {
                    s.close();
                }
            }
        });
    }

    /** Connects until the kernel does not answer any more. */
    private static List<Socket> fillBacklog(ServerSocket deaf) throws Exception {
        return outside(() -> {
            List<Socket> queued = new ArrayList<>();
            while (true) {
                Socket s = new Socket();
                try {
                    s.connect(deaf.getLocalSocketAddress(), 200);
                } catch (SocketTimeoutException full) {
                    s.close();
                    return queued;
                }
                queued.add(s);
            }
        });
    }

    static long openFiles() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    @Test
    void theOptionsReachTheSocket() throws Exception {
        run(() -> {
            Server s = Streams.startServer((r, w) -> r.read(-1), "127.0.0.1", 0);
            InetAddress other = InetAddress.ofLiteral("127.0.0.2");
            ConnectOptions o = ConnectOptions.defaults()
                    .keepAlive(true)
                    .noDelay(false)
                    .priority(true)
                    .localAddress(new InetSocketAddress(other, 0));
            Stream c = Streams.openConnection("127.0.0.1", s.port(), o);
            var ch = (java.nio.channels.SocketChannel) c.getExtraInfo("channel");
            assertThat(ch.getOption(java.net.StandardSocketOptions.SO_KEEPALIVE))
                    .isTrue();
            assertThat(ch.getOption(java.net.StandardSocketOptions.TCP_NODELAY)).isFalse();
            assertThat(((InetSocketAddress) c.getExtraInfo("sockname")).getAddress())
                    .isEqualTo(other);
            assertThat(((InetSocketAddress) c.getExtraInfo("peername")).getPort())
                    .isEqualTo(s.port());
            assertThat(c.getExtraInfo("nonsense")).isNull();
            c.close();
            assertThat(c.getExtraInfo("peername")).isNull();
            s.close();
            assertThat(s.waitClosed()).isTrue();
        });
    }

    @Test
    void unixDomainSockets(@TempDir Path dir) throws Exception {
        run(() -> {
            Path path = dir.resolve("socket");
            Server s = Streams.startUnixServer((r, w) -> w.write("got " + r.readLine()), path);
            assertThat(s.port()).isEqualTo(-1);
            assertThatThrownBy(() -> Streams.startUnixServer((r, w) -> {}, path))
                    .isInstanceOf(IOException.class);
            try (Stream c = Streams.openUnixConnection(path)) {
                c.write("unix\n");
                assertThat(text(c.read(-1))).isEqualTo("got unix");
            }
            s.close();
            assertThat(path).doesNotExist();
            assertThatThrownBy(() -> Streams.openUnixConnection(path)).isInstanceOf(IOException.class);
        });
    }
}
