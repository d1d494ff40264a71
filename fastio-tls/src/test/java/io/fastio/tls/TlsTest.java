package io.fastio.tls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.Task;
import io.fastio.context.LoopGroup;
import io.fastio.stream.Device;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;
import io.fastio.sync.Event;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedKeyManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class TlsTest {
    private static final TlsServer SERVER = server("localhost");
    private static final TlsClient CLIENT = client("ca");

    private final List<LoopError> reported = new ArrayList<>();

    private static TlsServer server(String... aliases) {
        try {
            return TlsServer.showing(Certificates.keys(aliases), Certificates.PASSWORD);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static TlsClient client(String trusted) {
        try {
            return TlsClient.trusting(Certificates.trust(trusted));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private void onLoop(Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .exceptionHandler(reported::add)
                .shutdownTimeout(Duration.ofSeconds(5))
                .build()) {
            loop.run(() -> Asyncio.waitFor(test, Duration.ofSeconds(100)));
        }
    }

    private static void echo(StreamReader r, StreamWriter w) throws IOException {
        r.copyTo(w);
    }

    private static String ask(Stream s, String line) throws IOException {
        s.write(line + "\n");
        return s.readLine();
    }

    private static byte[] pattern(int n, int seed) {
        byte[] b = new byte[n];
        int x = seed;
        for (int i = 0; i < n; i++) {
            x = x * 1_103_515_245 + 12_345;
            b[i] = (byte) (x >> 16);
        }
        return b;
    }

    /** As any stream is; OwnershipTest has the others. */
    @Test
    void S13_isForItsOwnLoop() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0);
                    Stream c = CLIENT.connect("localhost", s.port());
                    EventLoop other = EventLoop.builder().name("other").build()) {
                other.start();
                List<Action> uses = List.of(
                        () -> c.read(1), () -> c.write("no"), c::drain, () -> c.limit(1), c::close, c::abort, () -> {
                            CLIENT.upgrade(c, "localhost").close();
                        });
                for (Action use : uses) {
                    assertThatThrownBy(() -> LoopGroup.runOn(other, () -> {
                                use.run();
                                return use;
                            }))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("belongs to")
                            .hasMessageContaining("other");
                }
                assertThat(ask(c, "hello")).isEqualTo("hello");
            }
        });
    }

    // =========================================================== what is agreed on

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void echoesInBothVersions(String version) throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0);
                    Stream c = CLIENT.protocols(version).connect("localhost", s.port())) {
                assertThat(ask(c, "hello")).isEqualTo("hello");
                TlsInfo info = (TlsInfo) c.getExtraInfo("tls");
                assertThat(info.session().getProtocol()).isEqualTo(version);
                assertThat(info.peerCertificates()).first().isEqualTo(Certificates.certificate("localhost"));
                assertThat(info.applicationProtocol()).isNull();
                assertThat(c.getExtraInfo("peername")).isNotNull();
                c.writeEof();
                assertThat(c.read(10)).isEmpty();
            }
        });
        assertThat(reported).isEmpty();
    }

    /** What a client and a server remember of a session saves them the next one's signatures. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void goesOnWithAnEarlierSession(String version) throws Exception {
        onLoop(() -> {
            TlsClient client = client("ca").protocols(version);
            List<Long> begun = new ArrayList<>();
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0)) {
                for (TlsClient c : List.of(client, client, client("ca").protocols(version))) {
                    try (Stream stream = c.connect("localhost", s.port())) {
                        assertThat(ask(stream, "x")).isEqualTo("x"); // in TLS 1.3 the ticket comes behind the handshake
                        begun.add(
                                ((TlsInfo) stream.getExtraInfo("tls")).session().getCreationTime());
                        stream.writeEof();
                        assertThat(stream.read(1)).isEmpty();
                    }
                    Asyncio.sleepMs(5);
                }
            }
            assertThat(begun.get(1)).as("the same session").isEqualTo(begun.get(0));
            assertThat(begun.get(2)).as("of a client that knows none").isNotEqualTo(begun.get(0));
        });
        assertThat(reported).isEmpty();
    }

    /** However the bytes come: one by one, in both directions. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void shakesHandsByteByByte(String version) throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0);
                    Server slow = Streams.startServer(
                            (r, w) -> {
                                try (Stream on = Streams.openConnection("localhost", s.port())) {
                                    Task<Void> back = Asyncio.createTask(() -> {
                                        trickle(on, w);
                                        return null;
                                    });
                                    trickle(r, on);
                                    on.writeEof();
                                    back.await();
                                }
                            },
                            "localhost",
                            0);
                    Stream c = CLIENT.protocols(version).connect("localhost", slow.port())) {
                assertThat(ask(c, "hello")).isEqualTo("hello");
                c.write(pattern(5_000, 1));
                assertThat(c.readExactly(5_000)).isEqualTo(pattern(5_000, 1));
            }
        });
    }

    private static void trickle(StreamReader from, StreamWriter to) throws IOException {
        byte[] one = new byte[1];
        while (from.readInto(one, 0, 1) > 0) {
            to.write(one);
            to.flush();
            Asyncio.yieldNow();
        }
    }

    @Test
    void showsTheCertificateOfTheHostAskedFor() throws Exception {
        onLoop(() -> {
            List<String> asked = new ArrayList<>();
            try (Server s = server("localhost", "example")
                    .startServer(
                            (r, w) -> {
                                asked.add(((TlsInfo) w.getExtraInfo("tls")).serverName());
                                echo(r, w);
                            },
                            "localhost",
                            0)) {
                for (String host : List.of("example.org", "localhost", "127.0.0.1")) {
                    try (Stream c = CLIENT.upgrade(Streams.openConnection("localhost", s.port()), host)) {
                        assertThat(ask(c, host)).isEqualTo(host);
                    }
                }
            }
            assertThat(asked).containsExactly("example.org", "localhost", null);
        });
    }

    @Test
    void servesOnlyTheHostsItIsFor() throws Exception {
        onLoop(() -> {
            try (Server s = server("localhost", "example")
                    .onlyFor("localhost"::equals)
                    .startServer(TlsTest::echo, "localhost", 0)) {
                assertThatThrownBy(() -> CLIENT.upgrade(Streams.openConnection("localhost", s.port()), "example.org"))
                        .isInstanceOf(SSLException.class)
                        .hasMessageContaining("unrecognized_name");
                try (Stream c = CLIENT.connect("localhost", s.port())) {
                    assertThat(ask(c, "x")).isEqualTo("x");
                }
            }
        });
    }

    @Test
    void agreesOnAnApplicationProtocol() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.applicationProtocols("b", "a").startServer(TlsTest::echo, "localhost", 0)) {
                try (Stream c = CLIENT.applicationProtocols("a", "b").connect("localhost", s.port())) {
                    assertThat(((TlsInfo) c.getExtraInfo("tls")).applicationProtocol())
                            .isEqualTo("b");
                }
                assertThatThrownBy(() -> CLIENT.applicationProtocols("c").connect("localhost", s.port()))
                        .isInstanceOf(SSLException.class)
                        .hasMessageContaining("no_application_protocol");
            }
        });
    }

    @Test
    void speaksTheChosenCiphersOnly() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.ciphers("TLS_AES_256_GCM_SHA384").startServer(TlsTest::echo, "localhost", 0)) {
                try (Stream c = CLIENT.connect("localhost", s.port())) {
                    assertThat(((TlsInfo) c.getExtraInfo("tls")).session().getCipherSuite())
                            .isEqualTo("TLS_AES_256_GCM_SHA384");
                }
                assertThatThrownBy(
                                () -> CLIENT.ciphers("TLS_AES_128_GCM_SHA256").connect("localhost", s.port()))
                        .isInstanceOf(SSLException.class)
                        .hasMessageContaining("handshake_failure");
            }
        });
        assertThat(reported).isEmpty();
    }

    /** With contexts of one's own; the server's key is slow to come by, as one in a token is. */
    @Test
    void theLoopGoesOnWhileAHandshakeIsComputed() throws Exception {
        AtomicInteger ticks = new AtomicInteger();
        List<Integer> meanwhile = Collections.synchronizedList(new ArrayList<>());
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(Certificates.keys("localhost"), Certificates.PASSWORD);
        X509ExtendedKeyManager quick = (X509ExtendedKeyManager) keys.getKeyManagers()[0];
        SSLContext slow = SSLContext.getInstance("TLS");
        slow.init(
                new KeyManager[] {
                    new OtherKeys(quick, () -> {
                        int before = ticks.get();
                        long end = System.nanoTime() + 20_000_000_000L;
                        while (ticks.get() < before + 10 && System.nanoTime() - end < 0) {
                            LockSupport.parkNanos(1_000_000);
                        }
                        meanwhile.add(ticks.get() - before);
                    })
                },
                null,
                null);
        SSLContext trusting = Keys.context(null, null, Certificates.trust("ca"));
        onLoop(() -> {
            Task<?> ticker = Asyncio.createTask(() -> {
                while (true) {
                    Asyncio.sleepMs(2);
                    ticks.incrementAndGet();
                }
            });
            try (Server s = TlsServer.create(slow).startServer(TlsTest::echo, "localhost", 0);
                    Stream c = TlsClient.create(trusting).connect("localhost", s.port())) {
                assertThat(ask(c, "at last")).isEqualTo("at last");
            }
            ticker.cancel();
        });
        assertThat(meanwhile).isNotEmpty().allMatch(n -> n >= 10);
    }

    /** While the other side is silent, and while something is computed: at once, and with the connection. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void C2_aCancelledHandshakeClosesTheConnection(boolean computing) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(Certificates.keys("localhost"), Certificates.PASSWORD);
        X509ExtendedKeyManager quick = (X509ExtendedKeyManager) keys.getKeyManagers()[0];
        SSLContext stuck = SSLContext.getInstance("TLS");
        stuck.init(
                new KeyManager[] {
                    new OtherKeys(quick, () -> {
                        begun.countDown();
                        go.await();
                    })
                },
                null,
                null);
        try {
            onLoop(() -> {
                List<Task<?>> handshakes = new ArrayList<>();
                Event arrived = new Event();
                try (Server s = Streams.startServer(
                        (r, w) -> {
                            handshakes.add(Asyncio.currentTask());
                            arrived.set();
                            TlsServer.create(stuck).upgrade((Stream) r);
                        },
                        "localhost",
                        0)) {
                    try (Stream raw = Streams.openConnection("localhost", s.port())) {
                        Task<?> client = Asyncio.createTask(() -> {
                            if (computing) {
                                CLIENT.upgrade(raw, "localhost");
                            }
                        });
                        arrived.await();
                        if (computing) {
                            Asyncio.offload(() -> begun.await(20, TimeUnit.SECONDS));
                        } else {
                            Asyncio.sleepMs(20);
                        }
                        handshakes.getFirst().cancel();
                        assertThatThrownBy(() -> Asyncio.waitForMs(handshakes.getFirst()::await, 5_000))
                                .isInstanceOf(CancelledError.class);
                        if (computing) {
                            assertThatThrownBy(() -> Asyncio.waitForMs(client::await, 5_000))
                                    .isInstanceOf(IOException.class);
                        } else {
                            assertThat(Asyncio.waitForMs(() -> raw.read(1), 5_000))
                                    .isEmpty();
                        }
                    }
                }
            });
        } finally {
            go.countDown();
        }
    }

    /** Does something before it says which key. */
    private static final class OtherKeys extends X509ExtendedKeyManager {
        private final X509ExtendedKeyManager quick;
        private final Action before;

        OtherKeys(X509ExtendedKeyManager quick, Action before) {
            this.quick = quick;
            this.before = before;
        }

        @Override
        public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
            try {
                before.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            return quick.chooseEngineServerAlias(keyType, issuers, engine);
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return quick.getClientAliases(keyType, issuers);
        }

        @Override
        public String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
            return quick.chooseClientAlias(keyType, issuers, socket);
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            return quick.getServerAliases(keyType, issuers);
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            return quick.chooseServerAlias(keyType, issuers, socket);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return quick.getCertificateChain(alias);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return quick.getPrivateKey(alias);
        }
    }

    // =========================================================== who is refused

    @Test
    void refusesWrongHostExpiredAndUntrusted() throws Exception {
        Map<String, String> cases = Map.of("example", "No subject", "expired", "", "untrusted", "");
        onLoop(() -> {
            for (Map.Entry<String, String> e : cases.entrySet()) {
                AtomicInteger served = new AtomicInteger();
                try (Server s = server(e.getKey()).startServer((r, w) -> served.incrementAndGet(), "localhost", 0)) {
                    assertThatThrownBy(() -> CLIENT.protocols("TLSv1.2").connect("localhost", s.port()))
                            .as(e.getKey())
                            .isInstanceOf(SSLException.class)
                            .hasMessageContaining(e.getValue());
                    assertThatThrownBy(() -> CLIENT.connect("localhost", s.port()))
                            .as(e.getKey())
                            .isInstanceOf(SSLException.class);
                    assertThat(served.get()).isZero();
                }
            }
            // The broken twins: the same certificates are accepted by who has reason to.
            try (Server s = server("example").startServer(TlsTest::echo, "localhost", 0);
                    Stream c = CLIENT.withoutHostCheck().connect("localhost", s.port())) {
                assertThat(ask(c, "x")).isEqualTo("x");
            }
            try (Server s = server("untrusted").startServer(TlsTest::echo, "localhost", 0);
                    Stream c = client("otherca").connect("localhost", s.port())) {
                assertThat(ask(c, "x")).isEqualTo("x");
            }
        });
        assertThat(reported).isEmpty();
    }

    @Test
    void refusesWhatIsExpiredEvenIfItIsTrustedByItself() throws Exception {
        onLoop(() -> {
            try (Server s = server("expired").startServer(TlsTest::echo, "localhost", 0)) {
                assertThatThrownBy(() -> client("expired").connect("localhost", s.port()))
                        .isInstanceOf(SSLException.class);
            }
        });
    }

    @Test
    void trustsNoPrivateAuthorityByDefault() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0)) {
                assertThatThrownBy(() -> TlsClient.create().connect("localhost", s.port()))
                        .isInstanceOf(SSLException.class);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void asksForClientCertificates(String version) throws Exception {
        KeyStore trusted = Certificates.trust("ca");
        onLoop(() -> {
            List<Object> seen = new ArrayList<>();
            TlsServer needs = TlsServer.showing(Certificates.keys("localhost"), Certificates.PASSWORD, trusted);
            try (Server s = needs.startServer(
                    (r, w) -> {
                        seen.addAll(((TlsInfo) w.getExtraInfo("tls")).peerCertificates());
                        echo(r, w);
                    },
                    "localhost",
                    0)) {
                TlsClient with = TlsClient.trusting(trusted, Certificates.keys("client"), Certificates.PASSWORD)
                        .protocols(version);
                try (Stream c = with.connect("localhost", s.port())) {
                    assertThat(ask(c, "x")).isEqualTo("x");
                }
                assertThat(seen).first().isEqualTo(Certificates.certificate("client"));
                // In TLS 1.3 a client hears of it only when it reads.
                for (TlsClient without : List.of(
                        CLIENT.protocols(version),
                        TlsClient.trusting(trusted, Certificates.keys("untrusted"), Certificates.PASSWORD)
                                .protocols(version))) {
                    assertThatThrownBy(() -> {
                                try (Stream c = without.connect("localhost", s.port())) {
                                    c.readLine();
                                }
                            })
                            .isInstanceOf(IOException.class);
                }
                assertThat(seen).hasSize(2);
            }
        });
        assertThat(reported).isEmpty();
    }

    /** Asked for, a certificate may be left out, but not be somebody's whom nobody trusts. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void aClientCertificateMayBeWantedOnly(String version) throws Exception {
        KeyStore trusted = Certificates.trust("ca");
        onLoop(() -> {
            List<Integer> shown = new ArrayList<>();
            TlsServer wants = TlsServer.showing(Certificates.keys("localhost"), Certificates.PASSWORD, trusted)
                    .clientCertificate(TlsServer.ClientCertificate.WANTED);
            try (Server s = wants.startServer(
                    (r, w) -> {
                        shown.add(((TlsInfo) w.getExtraInfo("tls"))
                                .peerCertificates()
                                .size());
                        echo(r, w);
                    },
                    "localhost",
                    0)) {
                TlsClient with = TlsClient.trusting(trusted, Certificates.keys("client"), Certificates.PASSWORD);
                for (TlsClient client : List.of(CLIENT.protocols(version), with.protocols(version))) {
                    try (Stream c = client.connect("localhost", s.port())) {
                        assertThat(ask(c, "x")).isEqualTo("x");
                    }
                }
                assertThat(shown).hasSize(2).startsWith(0).doesNotHaveDuplicates();
                TlsClient strange = TlsClient.trusting(trusted, Certificates.keys("untrusted"), Certificates.PASSWORD)
                        .protocols(version);
                // The JDK's client shows none if it has none of an authority that the server names.
                try (Stream c = strange.connect("localhost", s.port())) {
                    assertThat(ask(c, "x")).isEqualTo("x");
                }
                assertThat(shown).endsWith(0);
            }
        });
        assertThat(reported).isEmpty();
    }

    /** Of those that end behind the engine's handshake, too, the client must not hear a good end. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void refusesAnExpiredClientEvenIfItIsTrustedByItself(String version) throws Exception {
        onLoop(() -> {
            AtomicInteger served = new AtomicInteger();
            TlsServer needs = TlsServer.showing(
                    Certificates.keys("localhost"), Certificates.PASSWORD, Certificates.trust("ca", "expired"));
            TlsClient expired = TlsClient.trusting(
                            Certificates.trust("ca"), Certificates.keys("expired"), Certificates.PASSWORD)
                    .protocols(version);
            try (Server s = needs.startServer((r, w) -> served.incrementAndGet(), "localhost", 0)) {
                assertThatThrownBy(() -> {
                            try (Stream c = expired.connect("localhost", s.port())) {
                                c.readLine();
                            }
                        })
                        .isInstanceOf(IOException.class);
                assertThat(served.get()).isZero();
            }
        });
        assertThat(reported).isEmpty();
    }

    // =========================================================== bad input

    @Test
    void aHandshakeThatNeverEndsIsEnded() throws Exception {
        onLoop(() -> {
            AtomicInteger served = new AtomicInteger();
            Server.Handler handler = (r, w) -> {
                served.incrementAndGet();
                echo(r, w);
            };
            try (Server s = SERVER.handshakeTime(Duration.ofMillis(300)).startServer(handler, "localhost", 0);
                    Stream silent = Streams.openConnection("localhost", s.port());
                    Stream half = Streams.openConnection("localhost", s.port())) {
                half.write(new byte[] {22, 3, 1, 2, 0, 1, 0});
                assertThat(silent.read(100)).isEmpty();
                assertThat(half.read(100)).isEmpty();
                assertThat(served.get()).isZero();
            }
            try (Server mute = Streams.startServer((r, w) -> r.read(-1), "localhost", 0)) {
                assertThatThrownBy(() ->
                                CLIENT.handshakeTime(Duration.ofMillis(200)).connect("localhost", mute.port()))
                        .isInstanceOf(SSLHandshakeException.class)
                        .hasMessageContaining("within 200 ms")
                        .hasCauseInstanceOf(TimeoutException.class);
            }
        });
        assertThat(reported).isEmpty();
    }

    @Test
    void garbageGetsAnAlertAndTheEnd() throws Exception {
        onLoop(() -> {
            AtomicInteger served = new AtomicInteger();
            try (Server s = SERVER.startServer(
                            (r, w) -> {
                                served.incrementAndGet();
                                echo(r, w);
                            },
                            "localhost",
                            0);
                    Stream good = CLIENT.connect("localhost", s.port())) {
                for (String garbage : List.of(
                        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                        "\u0016\u0003\u0003\u0000\u0005hello",
                        "x".repeat(100_000))) {
                    try (Stream bad = Streams.openConnection("localhost", s.port())) {
                        bad.write(garbage.getBytes(UTF_8));
                        byte[] alert = bad.read(-1);
                        assertThat(alert).hasSize(7);
                        assertThat(alert[0]).as("alert").isEqualTo((byte) 21);
                        assertThat(alert[5]).as("fatal").isEqualTo((byte) 2);
                    }
                }
                assertThat(ask(good, "fine")).isEqualTo("fine");
                assertThat(served.get()).isEqualTo(1);
            }
            try (Server plain = Streams.startServer(
                    (r, w) -> {
                        r.read(10);
                        w.write("220 not TLS\r\n");
                        r.read(-1);
                    },
                    "localhost",
                    0)) {
                assertThatThrownBy(() -> CLIENT.connect("localhost", plain.port()))
                        .isInstanceOf(SSLException.class);
            }
        });
        assertThat(reported).isEmpty();
    }

    @Test
    void aRecordThatWasTamperedWithEndsTheSession() throws Exception {
        onLoop(() -> {
            List<Throwable> failures = new ArrayList<>();
            Event failed = new Event();
            try (Server s = SERVER.startServer(
                    (r, w) -> {
                        try {
                            echo(r, w);
                        } catch (IOException e) {
                            failures.add(e);
                            failed.set();
                        }
                    },
                    "localhost",
                    0)) {
                Stream raw = Streams.openConnection("localhost", s.port());
                Stream c = CLIENT.upgrade(raw, "localhost");
                assertThat(ask(c, "x")).isEqualTo("x");
                raw.write(new byte[] {23, 3, 3, 0, 32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
                raw.write(new byte[16]);
                assertThatThrownBy(() -> c.read(1))
                        .isInstanceOf(SSLException.class)
                        .hasMessageContaining("bad_record_mac");
                failed.await();
                assertThat(failures).singleElement().isInstanceOf(SSLException.class);
                c.close();
            }
        });
    }

    /** A JDK client that wants new keys again and again: by renegotiation in TLS 1.2, by changes of keys in TLS 1.3. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void newKeysWithoutEndAreRefused(String version) throws Exception {
        onLoop(() -> {
            List<Throwable> failures = new ArrayList<>();
            try (Server s = SERVER.startServer(
                    (r, w) -> {
                        try {
                            echo(r, w);
                        } catch (IOException e) {
                            failures.add(e);
                        }
                    },
                    "localhost",
                    0)) {
                SSLContext trusting = Keys.context(null, null, Certificates.trust("ca"));
                String end = Asyncio.offload(() -> {
                    try (SSLSocket c = (SSLSocket)
                            trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), s.port())) {
                        c.setEnabledProtocols(new String[] {version});
                        c.setSoTimeout(10_000);
                        c.startHandshake();
                        OutputStream out = c.getOutputStream();
                        InputStream in = c.getInputStream();
                        out.write('a');
                        assertThat(in.read()).isEqualTo('a');
                        for (int i = 0; i < 200; i++) {
                            c.startHandshake();
                        }
                        return "went through: " + in.read();
                    } catch (SSLException | SocketException e) {
                        return "refused";
                    }
                });
                assertThat(end).isEqualTo("refused");
                for (int i = 0; i < 500 && failures.isEmpty(); i++) {
                    Asyncio.sleepMs(10);
                }
                assertThat(failures).singleElement().isInstanceOf(IOException.class);
                try (Stream c = CLIENT.connect("localhost", s.port())) {
                    assertThat(ask(c, "others")).isEqualTo("others");
                }
            }
        });
    }

    /** With data between its changes of keys, but without taking the answers, which would pile up at the server. */
    @Test
    void answersThatNobodyTakesDoNotPileUp() throws Exception {
        onLoop(() -> {
            List<Throwable> failures = new ArrayList<>();
            Event failed = new Event();
            try (Server s = SERVER.startServer(
                    (r, w) -> {
                        SocketChannel channel = (SocketChannel) w.getExtraInfo("channel");
                        channel.setOption(StandardSocketOptions.SO_SNDBUF, 4096);
                        byte[] some = new byte[1000];
                        try {
                            while (r.readInto(some) >= 0) {
                                // Reads only.
                            }
                        } catch (IOException e) {
                            failures.add(e);
                        } finally {
                            failed.set();
                        }
                    },
                    "localhost",
                    0)) {
                SSLContext trusting = Keys.context(null, null, Certificates.trust("ca"));
                int changes = Asyncio.offload(() -> {
                    Socket raw = new Socket();
                    raw.setReceiveBufferSize(4096);
                    raw.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), s.port()));
                    int n = 0;
                    try (SSLSocket c =
                            (SSLSocket) trusting.getSocketFactory().createSocket(raw, "localhost", s.port(), true)) {
                        c.setEnabledProtocols(new String[] {"TLSv1.3"});
                        c.startHandshake();
                        for (; n < 100_000 && !failed.isSet(); n++) {
                            c.startHandshake();
                            c.getOutputStream().write(1);
                        }
                    } catch (SSLException | SocketException e) {
                        return n;
                    }
                    return n;
                });
                failed.await();
                assertThat(failures).singleElement().isInstanceOf(SSLException.class);
                assertThat(failures.getFirst()).hasMessageContaining("takes no answers");
                assertThat(changes).isLessThan(100_000);
            }
        });
    }

    /** The broken twin: a change of keys now and then is served. */
    @Test
    void aChangeOfKeysIsServed() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0)) {
                SSLContext trusting = Keys.context(null, null, Certificates.trust("ca"));
                Asyncio.offload(() -> {
                    try (SSLSocket c = (SSLSocket)
                            trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), s.port())) {
                        c.setEnabledProtocols(new String[] {"TLSv1.3"});
                        c.setSoTimeout(10_000);
                        for (int i = 0; i < 200; i++) {
                            c.startHandshake();
                            c.getOutputStream().write(i);
                            assertThat(c.getInputStream().read()).isEqualTo(i);
                        }
                    }
                    return true;
                });
            }
        });
        assertThat(reported).isEmpty();
    }

    // =========================================================== ends

    @Test
    void tellsTheEndFromATruncation() throws Exception {
        onLoop(() -> {
            try (Server s = Streams.startServer(
                    (r, w) -> {
                        Stream t = SERVER.upgrade((Stream) r);
                        t.write("data");
                        t.flush();
                        if (t.readLine().equals("end")) {
                            t.close(); // with close_notify
                        } else {
                            w.close(); // without: as somebody on the way would
                        }
                        w.waitClosed();
                    },
                    "localhost",
                    0)) {
                try (Stream c = CLIENT.connect("localhost", s.port())) {
                    c.write("end\n");
                    assertThat(c.read(-1)).isEqualTo("data".getBytes(UTF_8));
                    assertThat(c.atEof()).isTrue();
                }
                try (Stream c = CLIENT.connect("localhost", s.port())) {
                    c.write("cut\n");
                    assertThat(c.readExactly(4)).as("what came before").isEqualTo("data".getBytes(UTF_8));
                    assertThatThrownBy(() -> c.read(1)).isInstanceOf(TlsTruncatedException.class);
                    assertThatThrownBy(() -> c.read(1)).hasCauseInstanceOf(TlsTruncatedException.class);
                }
            }
        });
        assertThat(reported).isEmpty();
    }

    /** What somebody on the way lets through to the client, and how he ends it. */
    private static final class Way {
        long left = Long.MAX_VALUE;
        boolean reset;

        Server to(Server server) throws IOException {
            return Streams.startServer(
                    (r, w) -> {
                        try (Stream on = Streams.openConnection("localhost", server.port())) {
                            Task<?> there = Asyncio.createTask(() -> r.copyTo(on));
                            byte[] some = new byte[10_000];
                            while (left > 0) {
                                int n = on.readInto(some, 0, (int) Math.min(left, some.length));
                                w.write(some, 0, Math.max(0, n));
                                w.flush();
                                left = n < 0 ? 0 : left - n;
                            }
                            if (reset) {
                                ((Stream) w).abort();
                            }
                            there.cancel();
                        }
                    },
                    "localhost",
                    0);
        }
    }

    /** Cut off in the handshake, between two records, in the head of one, within one, in its last byte; by an end or a reset. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void tellsACutWhereverItIs(String version) throws Exception {
        onLoop(() -> {
            List<Throwable> heard = new ArrayList<>();
            Way way = new Way();
            try (Server s = SERVER.startServer(
                            (r, w) -> {
                                try {
                                    echo(r, w);
                                } catch (IOException e) {
                                    heard.add(e);
                                }
                            },
                            "localhost",
                            0);
                    Server between = way.to(s)) {
                for (boolean reset : new boolean[] {false, true}) {
                    way.reset = reset;
                    for (long first : new long[] {0, 3, 100, 500}) {
                        way.left = first;
                        TlsClient stranger = client("ca").protocols(version); // a whole handshake each time
                        assertThatThrownBy(() -> stranger.connect("localhost", between.port()))
                                .as(first + " bytes of the handshake")
                                .isInstanceOf(IOException.class)
                                .isNotInstanceOf(TlsTruncatedException.class);
                    }
                    assertThat(heard).isEmpty();
                    for (long more : new long[] {0, 3, 5, 12, 1_000}) {
                        way.left = Long.MAX_VALUE;
                        try (Stream c = CLIENT.protocols(version).connect("localhost", between.port())) {
                            assertThat(ask(c, "hello")).isEqualTo("hello");
                            way.left = more;
                            c.write(pattern(1_000, 1));
                            assertThatThrownBy(() -> c.read(-1))
                                    .as(more + " bytes of a record")
                                    .isInstanceOf(reset ? IOException.class : TlsTruncatedException.class);
                            assertThat(c.atEof()).isFalse();
                        }
                    }
                    for (int i = 0; i < 500 && heard.size() < 5; i++) {
                        Asyncio.sleepMs(10);
                    }
                    assertThat(heard)
                            .as("by the server")
                            .hasSize(5)
                            .allMatch(e -> e instanceof TlsTruncatedException || reset);
                    heard.clear();
                }
            }
        });
        assertThat(reported).isEmpty();
    }

    /** TLS 1.2 has no half-closed sessions: an end in one direction is answered by that of the other. */
    @Test
    void tls12EndsBothDirectionsAtOnce() throws Exception {
        onLoop(() -> {
            List<Object> seen = new ArrayList<>();
            Event served = new Event();
            try (Server s = SERVER.startServer(
                            (r, w) -> {
                                seen.add(r.read(-1).length);
                                try {
                                    w.write("an answer");
                                    w.flush();
                                } catch (IOException e) {
                                    seen.add(e);
                                } finally {
                                    served.set();
                                }
                            },
                            "localhost",
                            0);
                    Stream c = CLIENT.protocols("TLSv1.2").connect("localhost", s.port())) {
                c.write(new byte[100_000]);
                c.writeEof();
                assertThat(c.read(-1)).as("no answer, and no truncation").isEmpty();
                served.await();
                assertThat(seen).hasSize(2).first().isEqualTo(100_000);
                assertThat(seen.getLast()).isInstanceOf(ClosedChannelException.class);
            }
        });
        assertThat(reported).isEmpty();
    }

    @Test
    void canBeHalfClosed() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(
                            (r, w) -> {
                                byte[] all = r.read(-1);
                                Asyncio.sleepMs(20);
                                w.write("got " + all.length);
                            },
                            "localhost",
                            0);
                    Stream c = CLIENT.protocols("TLSv1.3").connect("localhost", s.port())) {
                c.write(new byte[100_000]);
                c.writeEof();
                assertThatThrownBy(() -> c.write("more")).isInstanceOf(IllegalStateException.class);
                assertThat(new String(c.read(-1), UTF_8)).isEqualTo("got 100000");
            }
        });
    }

    @Test
    void closeIsBoundedWhenThePeerReadsNothing() throws Exception {
        long start = System.nanoTime();
        try (EventLoop loop = EventLoop.builder()
                .shutdownTimeout(Duration.ofMillis(500))
                .exceptionHandler(reported::add)
                .build()) {
            loop.run(() -> {
                try (Server s = SERVER.startServer((r, w) -> Asyncio.sleep(Duration.ofMinutes(5)), "localhost", 0)) {
                    Stream c = CLIENT.connect("localhost", s.port());
                    c.write(new byte[30_000_000]);
                    assertThat(c.pendingBytes()).isPositive();
                    c.close();
                    assertThat(c.waitClosed()).isFalse();
                    s.abortClients();
                }
            });
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void closeEndsAReadInProgress() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0)) {
                Stream c = CLIENT.connect("localhost", s.port());
                Task<byte[]> reader = Asyncio.createTask(() -> c.read(1));
                Asyncio.sleepMs(20);
                c.close();
                assertThatThrownBy(reader::await).isInstanceOf(ClosedChannelException.class);
                assertThat(c.waitClosed()).isTrue();
            }
        });
    }

    // =========================================================== streams as others

    /** Two ends of a line that the loop has to ask, with little room in between. */
    private static final class Line implements Device {
        private final ByteBuffer coming;
        private final ByteBuffer going;

        private Line(ByteBuffer coming, ByteBuffer going) {
            this.coming = coming;
            this.going = going;
        }

        static List<Stream> ends() throws IOException {
            ByteBuffer a = ByteBuffer.allocate(1_000);
            ByteBuffer b = ByteBuffer.allocate(1_000);
            return List.of(new Stream(new Line(a, b)), new Stream(new Line(b, a)));
        }

        @Override
        public int poll(int interest) {
            return interest & ((coming.position() > 0 ? READ : 0) | (going.hasRemaining() ? WRITE : 0));
        }

        @Override
        public int read(ByteBuffer dst) {
            coming.flip();
            int n = Math.min(coming.remaining(), dst.remaining());
            dst.put(dst.position(), coming, coming.position(), n).position(dst.position() + n);
            coming.position(n).compact();
            return n;
        }

        @Override
        public int write(ByteBuffer src) {
            int n = Math.min(going.remaining(), src.remaining());
            going.put(going.position(), src, src.position(), n).position(going.position() + n);
            src.position(src.position() + n);
            return n;
        }
    }

    /** Over a Unix-domain socket, a device, and TLS itself: the same session, byte for byte, with its end. */
    @ParameterizedTest
    @ValueSource(strings = {"unix", "device", "TLS"})
    void liesOverAnyStream(String kind, @TempDir Path folder) throws Exception {
        byte[] data = pattern(300_000, 5);
        onLoop(() -> {
            List<Stream> ends = new ArrayList<>();
            try (Server s = switch (kind) {
                case "unix" -> Streams.startUnixServer(twin(), folder.resolve("tls"));
                case "device" -> Streams.startServer(twin(), "localhost", 0); // nobody comes
                default -> SERVER.startServer(twin(), "localhost", 0);
            }) {
                switch (kind) {
                    case "unix" -> ends.add(Streams.openUnixConnection(folder.resolve("tls")));
                    case "device" -> {
                        ends.addAll(Line.ends());
                        Asyncio.createTask(() -> twin().handle(ends.get(1), ends.get(1)));
                    }
                    default -> ends.add(CLIENT.connect("localhost", s.port()));
                }
                Stream c = CLIENT.upgrade(ends.getFirst(), "localhost");
                Task<?> writer = Asyncio.createTask(() -> {
                    c.write(data);
                    c.drain();
                    c.writeEof();
                });
                assertThat(c.read(-1)).isEqualTo(data);
                assertThat(c.atEof()).isTrue();
                writer.await();
                c.close();
                assertThat(c.waitClosed()).isTrue();
            }
        });
        assertThat(reported).isEmpty();
    }

    private static Server.Handler twin() {
        return (r, w) -> {
            Stream t = SERVER.upgrade((Stream) r);
            echo(t, t);
            t.close();
            t.waitClosed();
        };
    }

    @Test
    void upgradesALiveConnection() throws Exception {
        onLoop(() -> {
            try (Server s = Streams.startServer(
                            (r, w) -> {
                                w.write("220 ready\r\n");
                                assertThat(r.readLine()).isEqualTo("STARTTLS");
                                w.write("220 go\r\n");
                                Stream t = SERVER.upgrade((Stream) r);
                                echo(t, t);
                                t.close();
                            },
                            "localhost",
                            0);
                    Stream raw = Streams.openConnection("localhost", s.port())) {
                assertThat(raw.readLine()).isEqualTo("220 ready");
                raw.write("STARTTLS\r\n");
                assertThat(raw.readLine()).isEqualTo("220 go");
                Stream c = CLIENT.upgrade(raw, "localhost");
                assertThat(ask(c, "secret")).isEqualTo("secret");
                c.close();
                c.waitClosed();
            }
        });
        assertThat(reported).isEmpty();
    }

    /** What a man in the middle puts behind the client's STARTTLS must not be taken for protected. */
    @Test
    void commandsBehindTheStarttlsAreNoCommands() throws Exception {
        onLoop(() -> {
            List<String> served = new ArrayList<>();
            try (Server s = Streams.startServer(
                            (r, w) -> {
                                r.readLine();
                                w.write("220 go\r\n");
                                Stream t = SERVER.upgrade((Stream) r);
                                served.add(t.readLine());
                            },
                            "localhost",
                            0);
                    Stream raw = Streams.openConnection("localhost", s.port())) {
                raw.write("STARTTLS\r\nINJECTED\r\n");
                raw.readLine();
                assertThatThrownBy(() -> CLIENT.upgrade(raw, "localhost")).isInstanceOf(IOException.class);
                assertThat(served).isEmpty();
            }
        });
    }

    @Test
    void hundredMegabytesBothWaysAreExact() throws Exception {
        int blocks = 100;
        byte[] block = pattern(1 << 20, 42);
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0);
                    Stream c = CLIENT.connect("localhost", s.port())) {
                Task<Void> writer = Asyncio.createTask(() -> {
                    for (int i = 0; i < blocks; i++) {
                        block[0] = (byte) i;
                        c.write(block);
                        c.drain();
                    }
                    c.writeEof();
                    return null;
                });
                byte[] expected = pattern(1 << 20, 42);
                byte[] got = new byte[1 << 20];
                for (int i = 0; i < blocks; i++) {
                    for (int have = 0; have < got.length; ) {
                        have += c.readInto(got, have, got.length - have);
                    }
                    expected[0] = (byte) i;
                    assertThat(Arrays.mismatch(got, expected)).as("block " + i).isEqualTo(-1);
                }
                assertThat(c.read(1)).isEmpty();
                writer.await();
            }
        });
        assertThat(reported).isEmpty();
    }

    @Test
    void everyKindOfReadAndWriteWorks() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsTest::echo, "localhost", 0);
                    Stream c = CLIENT.connect("localhost", s.port())) {
                byte[] data = pattern(200_000, 7);
                c.write(ByteBuffer.wrap(data));
                assertThat(c.readExactly(data.length)).isEqualTo(data);
                ByteBuffer direct =
                        ByteBuffer.allocateDirect(data.length).put(data).flip();
                c.writeUncopied(direct);
                ByteBuffer in = ByteBuffer.allocateDirect(data.length);
                while (in.hasRemaining()) {
                    c.read(in);
                }
                assertThat(in.flip()).isEqualTo(ByteBuffer.wrap(data));
                c.write(data);
                byte[] piecemeal = new byte[data.length];
                for (int i = 0; i < data.length; ) {
                    i += c.readInto(piecemeal, i, Math.min(1 + i % 97, data.length - i));
                }
                assertThat(piecemeal).isEqualTo(data);
                c.write("a line\nuntil;rest\n");
                assertThat(c.readLine()).isEqualTo("a line");
                assertThat(c.readUntil(new byte[] {';'})).isEqualTo("until;".getBytes(UTF_8));
                assertThat(c.readLine()).isEqualTo("rest");
            }
        });
    }

    @Test
    void C6_aCancelledReadOrDrainLosesNothing() throws Exception {
        byte[] data = pattern(8_000_000, 3);
        onLoop(() -> {
            Event go = new Event();
            try (Server s = SERVER.startServer(
                            (r, w) -> {
                                go.await();
                                echo(r, w);
                            },
                            "localhost",
                            0);
                    Stream c = CLIENT.connect("localhost", s.port())) {
                c.write(data);
                Task<Void> drain = Asyncio.createTask(() -> {
                    c.drain();
                    return null;
                });
                Task<byte[]> read = Asyncio.createTask(() -> c.read(100));
                Asyncio.sleepMs(10);
                drain.cancel();
                read.cancel();
                Asyncio.yieldNow();
                go.set();
                byte[] got = new byte[data.length];
                int have = 0;
                int cancelled = 0;
                while (have < got.length) {
                    int from = have;
                    Task<Integer> some = Asyncio.createTask(() -> c.readInto(got, from, got.length - from));
                    if (have % 3 == 0) {
                        Asyncio.sleepNanos(200_000); // time for it to become ready, or not
                        some.cancel();
                    }
                    try {
                        have += some.await();
                    } catch (CancelledError e) {
                        if (!some.cancelled()) {
                            throw e; // it was the test that was cancelled
                        }
                        cancelled++;
                    }
                }
                assertThat(Arrays.mismatch(got, data)).isEqualTo(-1);
                assertThat(cancelled).isPositive();
            }
        });
    }

    /** I7: beside tasks that block, an URGENT stream with TLS is served after one step, a NORMAL one after all of theirs. */
    @Test
    void I7_prioritiesWorkThroughTls() throws Exception {
        onLoop(() -> {
            try (Server normal = SERVER.startServer(TlsTest::echo, "localhost", 0);
                    Server urgent = SERVER.startServer(
                            (r, w) -> {
                                ((Stream) r).priority(true);
                                echo(r, w);
                            },
                            "localhost",
                            0)) {
                boolean[] over = new boolean[1];
                Thread[] clients = new Thread[1];
                double[] medians = new double[2];
                Event done = new Event();
                SSLContext trusting = Keys.context(null, null, Certificates.trust("ca"));
                clients[0] = Thread.ofPlatform().start(() -> {
                    try {
                        medians[0] = medianMillis(trusting, normal.port());
                        medians[1] = medianMillis(trusting, urgent.port());
                    } catch (IOException e) {
                        medians[0] = -1;
                    } finally {
                        done.set();
                    }
                });
                for (int i = 0; i < 10; i++) {
                    Asyncio.createTask(() -> {
                        while (!over[0]) {
                            long until = System.nanoTime() + 3_000_000;
                            while (System.nanoTime() - until < 0) {
                                Thread.onSpinWait();
                            }
                            Asyncio.yieldNow();
                        }
                    });
                }
                done.await();
                over[0] = true;
                assertThat(medians[0]).as("NORMAL, ms").isPositive();
                assertThat(medians[1]).as("URGENT, ms, against " + medians[0]).isLessThan(medians[0] / 2);
            }
        });
    }

    private static double medianMillis(SSLContext context, int port) throws IOException {
        try (Socket c = context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
            c.setTcpNoDelay(true);
            double[] ms = new double[21];
            for (int i = 0; i < ms.length; i++) {
                long start = System.nanoTime();
                c.getOutputStream().write(i);
                if (c.getInputStream().read() != i) {
                    throw new IOException("not what was sent");
                }
                ms[i] = (System.nanoTime() - start) / 1e6;
            }
            Arrays.sort(ms);
            return ms[ms.length / 2];
        }
    }

    @Test
    void talksToTheJdksServer() throws Exception {
        SSLContext context = Keys.context(Certificates.keys("localhost"), Certificates.PASSWORD, null);
        try (ServerSocket jdk = context.getServerSocketFactory().createServerSocket(0)) {
            Thread server = Thread.ofPlatform().start(() -> {
                try (Socket c = jdk.accept()) {
                    c.getInputStream().transferTo(c.getOutputStream());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            onLoop(() -> {
                try (Stream c = CLIENT.connect("localhost", jdk.getLocalPort())) {
                    assertThat(ask(c, "hello")).isEqualTo("hello");
                    c.writeEof();
                    assertThat(c.read(-1)).isEmpty();
                }
            });
            server.join();
        }
    }
}
