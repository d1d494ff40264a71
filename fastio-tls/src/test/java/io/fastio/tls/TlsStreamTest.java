package io.fastio.tls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.context.LoopGroup;
import io.fastio.stream.Device;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.sync.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A session is a stream as any other. */
final class TlsStreamTest extends TlsFixture {
    /** As any stream is; OwnershipTest has the others. */
    @Test
    void S13_isForItsOwnLoop() throws Exception {
        onLoop(() -> {
            try (Server s = SERVER.startServer(TlsStreamTest::echo, "localhost", 0);
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
            try (Server s = SERVER.startServer(TlsStreamTest::echo, "localhost", 0);
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
            try (Server s = SERVER.startServer(TlsStreamTest::echo, "localhost", 0);
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
                assertThat(drain.cancelled()).isTrue();
                assertThat(read.cancelled()).isTrue();
                go.set();
                byte[] got = new byte[data.length];
                int have = 0;
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
                    }
                }
                assertThat(Arrays.mismatch(got, data)).isEqualTo(-1);
            }
        });
    }

    /** I7: beside tasks that block, an URGENT stream with TLS is served after one step, a NORMAL one after all of theirs. */
    @Test
    void I7_prioritiesWorkThroughTls() throws Exception {
        onLoop(() -> {
            try (Server normal = SERVER.startServer(TlsStreamTest::echo, "localhost", 0);
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
