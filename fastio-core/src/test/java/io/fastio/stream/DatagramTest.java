package io.fastio.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.EventLoop.PollerKind;
import io.fastio.Task;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
final class DatagramTest {
    private static final String HERE = "127.0.0.1";

    private static void on(PollerKind poller, Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder().poller(poller).build()) {
            loop.run(() -> Asyncio.waitFor(test, Duration.ofSeconds(20)));
        }
    }

    private static Datagram here() throws IOException {
        return Datagram.bind(HERE, 0);
    }

    private static Datagram to(Datagram other, DatagramOptions options) throws IOException {
        return Datagram.connect(other.localAddress(), options);
    }

    private static Datagram to(Datagram other) throws IOException {
        return to(other, DatagramOptions.defaults());
    }

    private static byte[] bytes(String s) {
        return s.getBytes(UTF_8);
    }

    private static byte[] pattern(int n, int seed) {
        byte[] b = new byte[n];
        new Random(seed).nextBytes(b);
        return b;
    }

    private static String text(Datagram d) throws IOException {
        return new String(d.receive().data(), UTF_8);
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void C2_I1_aCancelledReceiversPlaceIsFreeInThatVeryTurn(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram server = here();
                    Datagram client = to(server)) {
                Task<?> first = Asyncio.createTask(() -> server.receive());
                Asyncio.yieldNow();
                first.cancel();
                Asyncio.createTask(() -> {
                    assertThatThrownBy(server::receive).isInstanceOf(IllegalStateException.class);
                    client.send(bytes("for the second"));
                });
                assertThat(text(server)).isEqualTo("for the second");
                assertThat(first.cancelled()).isTrue();
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_exchangesDatagramsConnectedAndNot(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram server = here();
                    Datagram client = to(server);
                    Datagram stranger = here()) {
                Asyncio.createTask(() -> {
                    ByteBuffer b = ByteBuffer.allocateDirect(100);
                    while (true) {
                        InetSocketAddress from = server.receive(b.clear());
                        server.send(b.flip(), from);
                        assertThat(b.hasRemaining()).isFalse();
                    }
                });
                client.send(bytes("one"));
                assertThat(text(client)).isEqualTo("one");
                stranger.send(bytes("two"), server.localAddress());
                Datagram.Packet p = stranger.receive();
                assertThat(p.data()).isEqualTo(bytes("two"));
                assertThat(p.sender()).isEqualTo(server.localAddress());
                client.send(bytes("three"), server.localAddress());
                ByteBuffer heap = ByteBuffer.allocate(100).position(7);
                assertThat(client.read(heap)).isEqualTo(5);
                assertThat(heap.position()).isEqualTo(12);
                assertThat(new String(heap.array(), 7, 5, UTF_8)).isEqualTo("three");
                assertThat(client.remoteAddress()).isEqualTo(server.localAddress());
                assertThat(server.remoteAddress()).isNull();

                // A connected one hears nobody else.
                stranger.send(bytes("intruder"), client.localAddress());
                client.send(bytes("four"));
                assertThat(text(client)).isEqualTo("four");
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_speaksBothFamilies(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram everywhere = Datagram.bind(null, 0)) {
                int port = everywhere.localAddress().getPort();
                for (String host : List.of(HERE, "::1")) {
                    try (Datagram client = Datagram.connect(host, port)) {
                        client.send(bytes(host));
                        Datagram.Packet p = everywhere.receive();
                        assertThat(p.data()).isEqualTo(bytes(host));
                        assertThat(p.sender()).isEqualTo(client.localAddress());
                        everywhere.send(bytes("back"), p.sender());
                        assertThat(text(client)).isEqualTo("back");
                    }
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_carriesEverySize(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram a = here();
                    Datagram b = to(a)) {
                ByteBuffer direct = ByteBuffer.allocateDirect(65_507);
                a.send(new byte[0], b.localAddress());
                assertThat(b.receive().data()).isEmpty();
                if (poller == PollerKind.EPOLL) {
                    b.send(new byte[0]);
                    assertThat(a.receive().data()).isEmpty();
                } else {
                    assertThatThrownBy(() -> b.send(new byte[0]))
                            .as("NIO would drop it silently")
                            .isInstanceOf(SocketException.class)
                            .hasMessageContaining("empty");
                }
                for (int size : new int[] {1, 1_472, 1_473, 9_000, 65_507}) {
                    byte[] sent = pattern(size, size);
                    b.send(sent);
                    assertThat(a.receive().data()).isEqualTo(sent);
                    direct.clear().put(sent).flip();
                    b.send(direct);
                    assertThat(a.read(direct.clear())).isEqualTo(size);
                    assertThat(direct.flip()).isEqualTo(ByteBuffer.wrap(sent));
                }
                assertThatThrownBy(() -> b.send(new byte[65_508])).isInstanceOf(IOException.class);
                assertThatThrownBy(() -> b.send(new byte[70_000]))
                        .isInstanceOf(SocketException.class)
                        .hasMessageContaining("70000 bytes");
                b.send(bytes("after"));
                assertThat(text(a)).isEqualTo("after");
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_tellsOfADatagramLongerThanTheBuffer(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram a = here();
                    Datagram b = to(a)) {
                byte[] sent = pattern(1_000, 1);
                for (ByteBuffer dst : List.of(ByteBuffer.allocateDirect(10), ByteBuffer.allocate(10))) {
                    b.send(sent);
                    b.send(bytes("fits"));
                    dst.put((byte) 42);
                    assertThatThrownBy(() -> a.receive(dst))
                            .isInstanceOfSatisfying(DatagramTruncatedException.class, e -> {
                                assertThat(e.length()).isEqualTo(1_000);
                                assertThat(e.sender().getPort()).isPositive();
                            })
                            .hasMessageContaining("1000 bytes")
                            .hasMessageContaining("after 9");
                    assertThat(dst.hasRemaining()).isFalse();
                    assertThat(dst.get(0)).isEqualTo((byte) 42);
                    assertThat(dst.get(9)).isEqualTo(sent[8]);
                    assertThat(a.read(dst.clear())).as("the next one").isEqualTo(4);
                }
                b.send(bytes("x"));
                assertThatThrownBy(() -> a.receive(ByteBuffer.allocateDirect(0)))
                        .isInstanceOf(DatagramTruncatedException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_receivesInBatches(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram a = here();
                    Datagram b = to(a);
                    Datagram c = to(a)) {
                DatagramBatch batch = new DatagramBatch(8, 50);
                assertThat(batch.count()).isZero();
                Task<Integer> first = Asyncio.createTask(() -> a.receive(batch));
                Asyncio.yieldNow();
                b.send(bytes("first"));
                assertThat(first.await()).isEqualTo(1);
                assertThat(batch.sender(0)).isEqualTo(b.localAddress());

                for (int i = 0; i < 20; i++) {
                    (i % 2 == 0 ? b : c).send(pattern(i == 3 ? 51 : 30 + i, i));
                }
                int seen = 0;
                while (seen < 20) {
                    int n = a.receive(batch);
                    assertThat(n).isEqualTo(Math.min(8, 20 - seen));
                    for (int k = 0; k < n; k++, seen++) {
                        byte[] sent = pattern(seen == 3 ? 51 : 30 + seen, seen);
                        assertThat(batch.length(k)).isEqualTo(sent.length);
                        assertThat(batch.isTruncated(k)).isEqualTo(seen == 3);
                        assertThat(batch.data(k)).isEqualTo(ByteBuffer.wrap(sent, 0, Math.min(50, sent.length)));
                        assertThat(batch.sender(k)).isEqualTo((seen % 2 == 0 ? b : c).localAddress());
                    }
                }
                assertThatThrownBy(() -> batch.data(batch.count())).isInstanceOf(IndexOutOfBoundsException.class);
            }
        });
    }

    /** A port where nobody is, and most likely will not be. */
    private static InetSocketAddress nobody() throws IOException {
        InetSocketAddress at;
        try (Datagram d = here()) {
            at = d.localAddress();
        }
        Asyncio.sleepMs(1); // NIO frees the port of a channel at the selector's next look
        return at;
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I4_anUnreachablePortDoesNotEndReading(PollerKind poller) throws Exception {
        on(poller, () -> {
            InetSocketAddress nobody = nobody();
            try (Datagram d = Datagram.connect(nobody, DatagramOptions.defaults())) {
                ByteBuffer b = ByteBuffer.allocateDirect(10);
                d.send(bytes("anybody?"));
                assertThatThrownBy(() -> d.receive(b))
                        .isInstanceOf(PortUnreachableException.class)
                        .hasMessageContaining(String.valueOf(nobody.getPort()));
                assertThat(d.unreachable()).isEqualTo(1);

                Task<Integer> reader = Asyncio.createTask(() -> d.read(b));
                Asyncio.sleepMs(5);
                assertThat(reader.done()).as("told once").isFalse();
                try (Datagram late = Datagram.bind(HERE, nobody.getPort())) {
                    d.send(bytes("now?"));
                    late.send(bytes("yes"), late.receive().sender());
                    assertThat(reader.await()).isEqualTo(3);
                }

                // Told to whoever comes first: here a sender.
                assertThatThrownBy(() -> {
                            while (true) {
                                d.send(bytes("gone?"));
                                Asyncio.sleepMs(1);
                            }
                        })
                        .isInstanceOf(PortUnreachableException.class);
                d.send(bytes("gone?"));
                assertThatThrownBy(() -> d.receive(new DatagramBatch(2, 10)))
                        .isInstanceOf(PortUnreachableException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I4_unreachablePortsAreOnlyCountedIfNotReported(PollerKind poller) throws Exception {
        on(poller, () -> {
            InetSocketAddress nobody = nobody();
            try (Datagram d =
                    Datagram.connect(nobody, DatagramOptions.defaults().reportUnreachable(false))) {
                Task<String> reader = Asyncio.createTask(() -> text(d));
                for (int i = 0; i < 5; i++) {
                    d.send(bytes("anybody?"));
                    while (d.unreachable() <= i) {
                        Asyncio.sleepMs(1);
                    }
                }
                assertThat(reader.done()).isFalse();
                assertThat(d.unreachable()).isEqualTo(5);
                try (Datagram late = Datagram.bind(HERE, nobody.getPort())) {
                    d.send(bytes("now?"));
                    late.send(bytes("yes"), late.receive().sender());
                    assertThat(reader.await()).isEqualTo("yes");
                }
            }
        });
    }

    /** The system does not tell an endpoint that is not connected; its reader goes on, whoever it sends to. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I4_anUnconnectedEndpointGoesOnReadingWhoeverIsUnreachable(PollerKind poller) throws Exception {
        on(poller, () -> {
            InetSocketAddress nobody = nobody();
            try (Datagram d = here();
                    Datagram other = here()) {
                Task<String> reader = Asyncio.createTask(() -> text(d));
                for (int i = 0; i < 5; i++) {
                    d.send(bytes("anybody?"), nobody);
                    Asyncio.sleepMs(1);
                }
                assertThat(reader.done()).isFalse();
                other.send(bytes("somebody"), d.localAddress());
                assertThat(reader.await()).isEqualTo("somebody");
                assertThat(d.unreachable()).isZero();
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I4_F82_closeEndsAWaitingReceive(PollerKind poller) throws Exception {
        on(poller, () -> {
            Datagram d = here();
            Task<Throwable> reader = Asyncio.createTask(() -> catchThrowable(d::receive));
            Asyncio.sleepMs(1);
            d.close();
            assertThat(reader.await()).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(d::receive).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> d.send(new byte[1], new InetSocketAddress(InetAddress.getLoopbackAddress(), 9)))
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(d::localAddress).isInstanceOf(ClosedChannelException.class);
            assertThat(d.isClosed()).isTrue();
            d.close();
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void C6_aCancelledReceiveLosesNothing(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram a = here();
                    Datagram b = to(a)) {
                ByteBuffer buffer = ByteBuffer.allocateDirect(10);
                Task<?> reader = Asyncio.createTask(() -> a.receive(buffer));
                Asyncio.sleepMs(1);
                b.send(bytes("kept"));
                reader.cancel();
                assertThatThrownBy(reader::await).isInstanceOf(CancelledError.class);
                assertThat(text(a)).isEqualTo("kept");
                assertThatThrownBy(() -> Asyncio.waitForMs(() -> a.receive(buffer), 2))
                        .isInstanceOf(TimeoutException.class);
                b.send(bytes("again"));
                assertThat(text(a)).isEqualTo("again");
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void S13_aReadOnlyBufferIsRefusedBeforeADatagramIsTaken(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram a = here();
                    Datagram b = to(a)) {
                b.send(bytes("kept"));
                for (ByteBuffer buffer : List.of(ByteBuffer.allocate(9), ByteBuffer.allocateDirect(9))) {
                    assertThatThrownBy(() -> a.receive(buffer.asReadOnlyBuffer()))
                            .isInstanceOf(ReadOnlyBufferException.class);
                    assertThatThrownBy(() -> a.read(buffer.asReadOnlyBuffer()))
                            .isInstanceOf(ReadOnlyBufferException.class);
                }
                assertThat(text(a)).isEqualTo("kept");
            }
        });
    }

    @Test
    void I1_aSecondReceiverIsRefused() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Datagram a = here();
                    Datagram b = to(a)) {
                Task<String> reader = Asyncio.createTask(() -> text(a));
                Asyncio.sleepMs(1);
                assertThatThrownBy(a::receive).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> a.receive(new DatagramBatch(1, 1))).isInstanceOf(IllegalStateException.class);
                b.send(bytes("for the first"));
                assertThat(reader.await()).isEqualTo("for the first");
            }
        });
    }

    @Test
    void I7_anUrgentEndpointIsServedFirst() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Datagram normal = here();
                    Datagram urgent =
                            Datagram.bind(HERE, 0, DatagramOptions.defaults().priority(true));
                    Datagram sender = here()) {
                List<String> order = new ArrayList<>();
                Task<?> n = Asyncio.createTask(() -> order.add(text(normal)));
                Task<?> u = Asyncio.createTask(() -> order.add(text(urgent)));
                Asyncio.sleepMs(1);
                sender.send(bytes("normal"), normal.localAddress());
                sender.send(bytes("urgent"), urgent.localAddress());
                n.await();
                u.await();
                assertThat(order).containsExactly("urgent", "normal");
            }
        });
    }

    @Test
    void S11_endpointsLeftOpenAreClosedWithTheirLoop() throws Exception {
        Datagram[] left = new Datagram[1];
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> {
                left[0] = here();
            });
        }
        assertThat(left[0].isClosed()).isTrue();
        left[0].close(); // outside a loop, but closed already
    }

    @Test
    void S13_wrongUseIsAnErrorAtOnce() throws Exception {
        assertThatThrownBy(() -> Datagram.bind(null, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> new DatagramBatch(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new DatagramBatch(1, 65_536)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DatagramOptions.defaults().sendBuffer(-1))
                .isInstanceOf(IllegalArgumentException.class);
        on(PollerKind.AUTO, () -> {
            assertThatThrownBy(() -> Datagram.connect(HERE, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Datagram.bind(HERE, 65_536)).isInstanceOf(IllegalArgumentException.class);
            try (Datagram a = here();
                    Datagram b = to(a)) {
                assertThatThrownBy(() -> a.send(new byte[1])).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(
                                () -> b.send(new byte[1], new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)))
                        .isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> Datagram.bind(HERE, a.localAddress().getPort()))
                        .isInstanceOf(BindException.class)
                        .hasMessageContaining(HERE)
                        .hasMessageContaining(String.valueOf(a.localAddress().getPort()));
            }
        });
    }

    @Test
    void I7_optionsReachTheSocket() throws Exception {
        on(PollerKind.AUTO, () -> {
            DatagramOptions options = DatagramOptions.defaults()
                    .reuseAddress(true)
                    .receiveBuffer(300_000)
                    .sendBuffer(20_000)
                    .broadcast(true);
            try (Datagram a = Datagram.bind(HERE, 0, options);
                    Datagram second = Datagram.bind(HERE, a.localAddress().getPort(), options)) {
                assertThat(second.localAddress()).isEqualTo(a.localAddress());
                assertThat(a.port()).isEqualTo(a.localAddress().getPort());
                assertThat(a.getOption(StandardSocketOptions.SO_BROADCAST)).isTrue();
                assertThat(a.getOption(StandardSocketOptions.SO_SNDBUF)).isEqualTo(20_000);
                a.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 3);
                assertThat(a.getOption(StandardSocketOptions.IP_MULTICAST_TTL)).isEqualTo(3);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_broadcastsWhenAllowed(PollerKind poller) throws Exception {
        on(poller, () -> {
            try (Datagram all = Datagram.bind("0.0.0.0", 0);
                    Datagram quiet = Datagram.bind("0.0.0.0", 0);
                    Datagram loud = Datagram.bind(
                            "0.0.0.0", 0, DatagramOptions.defaults().broadcast(true))) {
                InetSocketAddress everybody = new InetSocketAddress(
                        "127.255.255.255", all.localAddress().getPort());
                assertThatThrownBy(() -> quiet.send(bytes("no"), everybody)).isInstanceOf(SocketException.class);
                loud.send(bytes("hear"), everybody);
                assertThat(text(all)).isEqualTo("hear");
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_joinsAndLeavesMulticastGroups(PollerKind poller) throws Exception {
        NetworkInterface network = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        InetAddress group = InetAddress.getByName("239.255.77.1");
        on(poller, () -> {
            DatagramOptions shared = DatagramOptions.defaults().reuseAddress(true);
            try (Datagram one = Datagram.bind("0.0.0.0", 0, shared);
                    Datagram two = Datagram.bind("0.0.0.0", one.localAddress().getPort(), shared);
                    Datagram sender = Datagram.bind(HERE, 0)) {
                one.join(group, network);
                one.join(group, network);
                two.join(group, network);
                sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, network);
                sender.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true);
                InetSocketAddress members =
                        new InetSocketAddress(group, one.localAddress().getPort());
                try {
                    sender.send(bytes("all"), members);
                } catch (SocketException e) {
                    assumeThat(e).as("this machine has no route for multicast").isNull();
                }
                assertThat(text(one)).isEqualTo("all");
                assertThat(text(two)).isEqualTo("all");
                assertThat(two.leave(group, network)).isTrue();
                assertThat(two.leave(group, network)).isFalse();
                sender.send(bytes("the rest"), members);
                assertThat(text(one)).isEqualTo("the rest");
                assertThatThrownBy(() -> Asyncio.waitForMs(() -> two.receive(), 20))
                        .as("left, though others of this machine have not")
                        .isInstanceOf(TimeoutException.class);
                assertThatThrownBy(() -> one.join(InetAddress.getByName("10.0.0.1"), network))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void I7_joinsMulticastGroupsOfIpv6(PollerKind poller) throws Exception {
        NetworkInterface network = NetworkInterface.networkInterfaces()
                .filter(DatagramTest::carriesMulticastOfIpv6)
                .findFirst()
                .orElse(null);
        assumeThat(network).as("this machine has no multicast of IPv6").isNotNull();
        byte[] group = InetAddress.getByName("ff11::77:1").getAddress(); // leaves no machine
        InetAddress here = Inet6Address.getByAddress(null, group, network.getIndex());
        on(poller, () -> {
            try (Datagram member = Datagram.bind("::", 0);
                    Datagram sender = Datagram.bind("::", 0)) {
                sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, network);
                InetSocketAddress members =
                        new InetSocketAddress(here, member.localAddress().getPort());
                member.join(here, network);
                sender.send(bytes("all"), members);
                assertThat(text(member)).isEqualTo("all");
                assertThat(member.leave(here, network)).isTrue();
                sender.send(bytes("nobody"), members);
                assertThatThrownBy(() -> Asyncio.waitForMs(() -> member.receive(), 20))
                        .isInstanceOf(TimeoutException.class);
            }
        });
    }

    private static boolean carriesMulticastOfIpv6(NetworkInterface n) {
        try {
            return n.isUp() && n.supportsMulticast() && n.inetAddresses().anyMatch(a -> a instanceof Inet6Address);
        } catch (SocketException e) {
            return false;
        }
    }

    @Test
    void S9_receivingAndSendingAllocateNothing() throws Exception {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long carrier = Thread.currentThread().threadId();
        on(PollerKind.EPOLL, () -> {
            try (Datagram server = here();
                    Datagram client = to(server)) {
                ByteBuffer out = ByteBuffer.allocateDirect(100);
                DatagramBatch batch = new DatagramBatch(4, 100);
                int rounds = 2_000;
                long bytes = Long.MAX_VALUE;
                for (int attempt = 0; attempt < 100 && bytes > rounds * 2L; attempt++) { // compilation ends it
                    long before = threads.getThreadAllocatedBytes(carrier);
                    for (int i = 0; i < rounds; i++) {
                        client.send(out.clear());
                        server.read(out.clear());
                        client.send(out.flip());
                        server.receive(batch);
                    }
                    bytes = threads.getThreadAllocatedBytes(carrier) - before;
                }
                assertThat(bytes).as("bytes in %s rounds", rounds).isLessThan(rounds * 2L);
                client.send(out.clear());
                InetSocketAddress first = server.receive(out.clear());
                client.send(out.clear());
                assertThat(server.receive(out.clear())).as("remembered").isSameAs(first);
            }
        });
    }

    /**
     * Requests and answers through a relay that drops, doubles and holds back a third of all datagrams, by a seed: with
     * numbers and repeats every request is answered, once.
     */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "SELECTOR"})
    void V3_aProtocolWithRepeatsSurvivesLoss(PollerKind poller) throws Exception {
        on(poller, () -> {
            Random luck = new Random(4711);
            List<String> served = new ArrayList<>();
            int[] dropped = new int[1];
            try (Datagram server = here();
                    Datagram relay = here();
                    Datagram client = to(relay)) {
                InetSocketAddress serverAt = server.localAddress();
                InetSocketAddress clientAt = client.localAddress();
                Asyncio.createTask(() -> {
                    while (true) {
                        Datagram.Packet p = server.receive();
                        String request = new String(p.data(), UTF_8);
                        if (!served.contains(request)) {
                            served.add(request);
                        }
                        server.send(bytes("answer to " + request), p.sender());
                    }
                });
                Asyncio.createTask(() -> {
                    List<byte[]> held = new ArrayList<>();
                    while (true) {
                        Datagram.Packet p = relay.receive();
                        InetSocketAddress on = p.sender().equals(clientAt) ? serverAt : clientAt;
                        switch (luck.nextInt(9)) {
                            case 0 -> dropped[0]++;
                            case 1 -> {
                                relay.send(p.data(), on);
                                relay.send(p.data(), on);
                            }
                            case 2 -> held.add(p.data());
                            default -> relay.send(p.data(), on);
                        }
                        if (held.size() == 3) {
                            Collections.shuffle(held, luck);
                            for (byte[] h : held) {
                                relay.send(h, clientAt);
                            }
                            held.clear();
                        }
                    }
                });
                List<String> asked = new ArrayList<>();
                for (int i = 0; i < 200; i++) {
                    String request = "request " + i;
                    asked.add(request);
                    assertThat(ask(client, request)).isEqualTo("answer to " + request);
                }
                assertThat(served).isEqualTo(asked);
                assertThat(dropped[0]).as("losses").isPositive();
            }
        });
    }

    private static String ask(Datagram client, String request) throws Exception {
        while (true) {
            client.send(bytes(request));
            try {
                return Asyncio.waitForMs(
                        () -> {
                            String answer;
                            do {
                                answer = text(client);
                            } while (!answer.endsWith(" " + request.substring(8)) || !answer.startsWith("answer"));
                            return answer;
                        },
                        20);
            } catch (TimeoutException e) {
                assertThat(client.isClosed()).as("lost, once more").isFalse();
            }
        }
    }
}
