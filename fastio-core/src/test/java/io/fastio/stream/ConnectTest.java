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
    void I5_theTimeLimitCountsForAllAddressesTogether() throws Exception {
        run(() -> {
            try (ServerSocket deaf = new ServerSocket(0, 1, HERE)) {
                List<Socket> queued = fillBacklog(deaf);
                InetSocketAddress silent = new InetSocketAddress(HERE, deaf.getLocalPort());
                long before = openFiles();
                long start = System.nanoTime();
                assertThatThrownBy(() -> Streams.limited(
                                () -> Streams.connect(
                                        List.of(silent, unusedPort(), silent, silent),
                                        ConnectOptions.defaults().attemptDelay(Duration.ofMillis(20)),
                                        "somewhere"),
                                Duration.ofMillis(150),
                                "somewhere"))
                        .isInstanceOf(SocketTimeoutException.class)
                        .hasMessageContaining("somewhere");
                assertThat(System.nanoTime() - start).isBetween(150_000_000L, 10_000_000_000L);
                Asyncio.sleepMs(10);
                assertThat(openFiles()).isLessThanOrEqualTo(before);
                for (Socket s : queued) {
                    s.close();
                }
            }
        });
    }

    @Test
    void I5_wrongHostNamesAreNamedAndHoldUpNobody() throws Exception {
        run(() -> {
            int[] turns = {0};
            Task<?> other = Asyncio.createTask(() -> {
                while (true) {
                    Asyncio.sleepMs(1);
                    turns[0]++;
                }
            });
            for (String host : List.of(
                    " ", "no such host", "a..b", "1.2.3.4.5", "256.1.1.1", "host:80", "[::1", "x".repeat(300))) {
                assertThatThrownBy(() -> Streams.openConnection(host, 80))
                        .as(host)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(host);
            }
            assertThatThrownBy(() -> Streams.startServer((r, w) -> {}, "no such host", 0))
                    .isInstanceOf(UnknownHostException.class);
            until(() -> turns[0] > 0);
            other.cancel();
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

    @Test
    void I5_anAddressThatDoesNotAnswerCostsTheDelayOnly() throws Exception {
        run(() -> {
            Server s = Streams.startServer((r, w) -> w.write("here"), "127.0.0.1", 0);
            try (ServerSocket deaf = new ServerSocket(0, 1, HERE)) {
                List<Socket> queued = fillBacklog(deaf);
                InetSocketAddress silent = new InetSocketAddress(HERE, deaf.getLocalPort());
                InetSocketAddress good = new InetSocketAddress(HERE, s.port());
                long before = openFiles();
                long start = System.nanoTime();
                Stream c = Streams.connect(
                        List.of(silent, silent, good),
                        ConnectOptions.defaults().attemptDelay(Duration.ofMillis(50)),
                        "somewhere");
                assertThat(System.nanoTime() - start).isBetween(100_000_000L, 10_000_000_000L);
                assertThat(text(c.read(-1))).isEqualTo("here");
                c.close();
                Asyncio.sleepMs(10);
                assertThat(openFiles()).isLessThanOrEqualTo(before);
                assertThat(Asyncio.allTasks()).noneMatch(t -> t.name().startsWith("connecting"));
                for (Socket q : queued) {
                    q.close();
                }
            }
            s.close();
        });
    }

    @Test
    void I5_aFailedAttemptIsFollowedByTheNextAtOnce() throws Exception {
        run(() -> {
            Server s = Streams.startServer((r, w) -> w.write("here"), "127.0.0.1", 0);
            Stream c = Asyncio.waitForMs(
                    () -> Streams.connect(
                            List.of(unusedPort(), unusedPort(), new InetSocketAddress(HERE, s.port())),
                            ConnectOptions.defaults().attemptDelay(Duration.ofHours(1)),
                            "somewhere"),
                    LIMIT_MS / 2);
            assertThat(text(c.read(-1))).isEqualTo("here");
            c.close();
            s.close();
        });
    }

    @Test
    void I5_whoAnswersAtTheSameTimeAsAnotherIsLetGo() throws Exception {
        run(() -> {
            int[] accepted = {0};
            Server s = Streams.startServer(
                    (r, w) -> {
                        accepted[0]++;
                        r.read(-1);
                    },
                    "127.0.0.1",
                    0);
            InetSocketAddress good = new InetSocketAddress(HERE, s.port());
            for (int i = 0; i < 50; i++) {
                Stream c = Streams.connect(
                        List.of(good, good, good, good),
                        ConnectOptions.defaults().attemptDelay(Duration.ZERO),
                        "somewhere");
                until(() -> s.connections() <= 1);
                c.close();
            }
            until(() -> s.connections() == 0);
            assertThat(accepted[0]).isGreaterThanOrEqualTo(50);
            s.close();
        });
    }

    @Test
    void C2_aCancelEndsAllAttempts() throws Exception {
        run(() -> {
            try (ServerSocket deaf = new ServerSocket(0, 1, HERE)) {
                List<Socket> queued = fillBacklog(deaf);
                InetSocketAddress silent = new InetSocketAddress(HERE, deaf.getLocalPort());
                long before = openFiles();
                Task<Stream> t = Asyncio.createTask(() -> Streams.connect(
                        List.of(silent, silent, silent),
                        ConnectOptions.defaults().attemptDelay(Duration.ofMillis(1)),
                        "somewhere"));
                Asyncio.sleepMs(20);
                t.cancel();
                assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
                Asyncio.sleepMs(10);
                assertThat(openFiles()).isLessThanOrEqualTo(before);
                for (Socket q : queued) {
                    q.close();
                }
            }
        });
    }

    @Test
    void I5_theFamiliesAreTriedByTurns() throws Exception {
        List<InetSocketAddress> given = new ArrayList<>();
        for (String a : List.of("::1", "::2", "::3", "127.0.0.1", "127.0.0.2")) {
            given.add(new InetSocketAddress(InetAddress.ofLiteral(a), 1));
        }
        assertThat(ConnectRace.byTurns(given).stream().map(given::indexOf)).containsExactly(0, 3, 1, 4, 2);
        assertThat(ConnectRace.byTurns(given.subList(3, 5))).isEqualTo(given.subList(3, 5));
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
    void theLoopSaysWhichPollerItUses() throws Exception {
        run(() -> {
            Streams.startServer((r, w) -> {}, "127.0.0.1", 0).close();
            assertThat(Asyncio.runningLoop().toString())
                    .contains(poller == io.fastio.EventLoop.PollerKind.EPOLL ? ", epoll (" : ", selector (");
        });
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
