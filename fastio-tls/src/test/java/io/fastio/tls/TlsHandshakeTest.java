package io.fastio.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;
import io.fastio.sync.Event;
import java.io.IOException;
import java.net.Socket;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509ExtendedKeyManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the two sides agree on, and who is refused. */
final class TlsHandshakeTest extends TlsFixture {
    // =========================================================== what is agreed on

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void echoesInBothVersions(String version) throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsHandshakeTest::echo, "localhost", 0);
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
            try (Server s = SERVER.startServer(TlsHandshakeTest::echo, "localhost", 0)) {
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
            try (Server s = SERVER.startServer(TlsHandshakeTest::echo, "localhost", 0);
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
    void settingsThatMeanNothingAreRefused() {
        for (String name : List.of("", "x".repeat(256), "\u00e9".repeat(128))) {
            assertThatThrownBy(() -> CLIENT.applicationProtocols("h2", name))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(CLIENT.applicationProtocols("x".repeat(255), "h2")).isNotSameAs(CLIENT);
        assertThatThrownBy(CLIENT::protocols).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(CLIENT::ciphers).isInstanceOf(IllegalArgumentException.class);
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
                    .startServer(TlsHandshakeTest::echo, "localhost", 0)) {
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
            try (Server s = SERVER.applicationProtocols("b", "a").startServer(TlsHandshakeTest::echo, "localhost", 0)) {
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
            try (Server s =
                    SERVER.ciphers("TLS_AES_256_GCM_SHA384").startServer(TlsHandshakeTest::echo, "localhost", 0)) {
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
            try (Server s = TlsServer.create(slow).startServer(TlsHandshakeTest::echo, "localhost", 0);
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
            try (Server s = server("example").startServer(TlsHandshakeTest::echo, "localhost", 0);
                    Stream c = CLIENT.withoutHostCheck().connect("localhost", s.port())) {
                assertThat(ask(c, "x")).isEqualTo("x");
            }
            try (Server s = server("untrusted").startServer(TlsHandshakeTest::echo, "localhost", 0);
                    Stream c = client("otherca").connect("localhost", s.port())) {
                assertThat(ask(c, "x")).isEqualTo("x");
            }
        });
        assertThat(reported).isEmpty();
    }

    @Test
    void refusesWhatIsExpiredEvenIfItIsTrustedByItself() throws Exception {
        onLoop(() -> {
            try (Server s = server("expired").startServer(TlsHandshakeTest::echo, "localhost", 0)) {
                assertThatThrownBy(() -> client("expired").connect("localhost", s.port()))
                        .isInstanceOf(SSLException.class);
            }
        });
    }

    @Test
    void trustsNoPrivateAuthorityByDefault() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsHandshakeTest::echo, "localhost", 0)) {
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
}
