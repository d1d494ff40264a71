package io.fastio.tls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.sync.Event;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input, and how a session ends. */
final class TlsFaultTest extends TlsFixture {
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
                assertThatThrownBy(() -> c.read(1)).isInstanceOf(IOException.class);
                failed.await();
                assertThat(failures).singleElement().isInstanceOf(SSLException.class);
                c.close();
            }
        });
    }

    /**
     * A JDK client that wants new keys again and again: by renegotiation in TLS 1.2, by changes of keys in TLS 1.3. Also with the
     * smallest number that is refused, when the server has read all: then no reset hides whether it ends the session as a good one.
     */
    @ParameterizedTest
    @CsvSource({"TLSv1.3, 200", "TLSv1.3, 65", "TLSv1.2, 200", "TLSv1.2, 1"})
    void newKeysWithoutEndAreRefused(String version, int times) throws Exception {
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
                        for (int i = 0; i < times; i++) {
                            c.startHandshake();
                        }
                        return "went through: " + in.read(); // a good end of the session would be -1
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
            try (Server s = SERVER.startServer(TlsFaultTest::echo, "localhost", 0)) {
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
            try (Server s = SERVER.startServer(TlsFaultTest::echo, "localhost", 0)) {
                Stream c = CLIENT.connect("localhost", s.port());
                Task<byte[]> reader = Asyncio.createTask(() -> c.read(1));
                Asyncio.sleepMs(20);
                c.close();
                assertThatThrownBy(reader::await).isInstanceOf(ClosedChannelException.class);
                assertThat(c.waitClosed()).isTrue();
            }
        });
    }
}
