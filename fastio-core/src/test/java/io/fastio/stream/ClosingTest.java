package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.Task;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stream that is closed while the other side takes nothing: every way out of that, on each kind of stream. */
final class ClosingTest extends OnBothPollers {
    private static final int MUCH = 20 << 20;

    @TempDir
    Path dir;

    /** The end that is closed, and the other one, which need not read. */
    private record Full(String kind, Stream writer, Stream other) {
        static Full of(String kind, Stream writer, Stream other) throws IOException {
            writer.write(pattern(MUCH));
            assertThat(writer.pendingBytes()).as(kind).isPositive();
            return new Full(kind, writer, other);
        }

        void end() {
            writer.abort();
            other.abort();
        }
    }

    private Full tcp() throws Exception {
        Ends e = connected();
        return Full.of("TCP", e.client(), e.server());
    }

    private Full unix() throws Exception {
        Path path = Files.createTempDirectory(dir, "u").resolve("s");
        Stream[] accepted = new Stream[1];
        Server s = Streams.startUnixServer(
                (r, w) -> {
                    w.detach();
                    accepted[0] = (Stream) w;
                },
                path);
        Stream client = Streams.openUnixConnection(path);
        until(() -> accepted[0] != null);
        s.close();
        return Full.of("Unix", client, accepted[0]);
    }

    private Full pipe() throws Exception {
        Streams.Pipe p = Streams.pipe();
        return Full.of("pipe", p.sink(), p.source());
    }

    private Full layered() throws Exception {
        Ends e = connected();
        return Full.of(
                "layer",
                Streams.layered(e.client(), LayerTest.Mask::new),
                Streams.layered(e.server(), LayerTest.Mask::new));
    }

    private List<Full> all() throws Exception {
        List<Full> all = new ArrayList<>(List.of(tcp(), unix(), pipe(), layered()));
        if (poller == EventLoop.PollerKind.EPOLL) {
            Pty p = Pty.open();
            all.add(Full.of("pty, terminal", p.terminal(), p.controller()));
            Pty q = Pty.open();
            all.add(Full.of("pty, controller", q.controller(), q.terminal()));
        }
        return all;
    }

    private static List<Task<?>> closings() {
        return Asyncio.allTasks().stream()
                .filter(t -> t.name().startsWith("closing"))
                .toList();
    }

    @Test
    void I4_C2_whoWaitsForAGracefulCloseIsCancelledAtOnceAndAbortEndsIt() throws Exception {
        run(settings().shutdownTimeout(Duration.ofHours(1)), () -> {
            Asyncio.sleepMs(5);
            long files = ConnectTest.openFiles();
            for (Full f : all()) {
                Stream s = f.writer;
                Task<Void> drain = Asyncio.createTask(s::drain);
                Task<Void> flush = Asyncio.createTask(s::flush);
                Task<Void> cancelled = Asyncio.createTask(s::flush);
                letRun(cancelled);
                s.close();
                Task<Boolean> closed = Asyncio.createTask(s::waitClosed);
                letRun(closed);
                assertThatThrownBy(() -> Asyncio.waitForMs(s::waitClosed, 10))
                        .as(f.kind)
                        .isInstanceOf(TimeoutException.class);
                cancelled.cancel();
                assertThatThrownBy(cancelled::await).isInstanceOf(CancelledError.class);
                assertThatThrownBy(s::drain).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(s::flush).isInstanceOf(ClosedChannelException.class);
                assertThat(drain.done() || flush.done() || closed.done())
                        .as(f.kind + ": what was written is still on its way")
                        .isFalse();

                Asyncio.createTask(s::abort);
                assertThatThrownBy(drain::await).as(f.kind).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(flush::await).as(f.kind).isInstanceOf(ClosedChannelException.class);
                assertThat(closed.await()).as(f.kind).isFalse();
                assertThat(s.pendingBytes()).isZero();
                f.end();
            }
            until(() -> closings().isEmpty());
            Asyncio.sleepMs(5); // a selector gives descriptors back at its next look
            assertThat(ConnectTest.openFiles()).isLessThanOrEqualTo(files + FIRST_USES);
        });
    }

    /** What the JDK opens when sockets and pipes are first used, and keeps. */
    private static final int FIRST_USES = 4;

    @Test
    void I4_F53_theTimeLimitOfTheLoopEndsAGracefulCloseAndAllWhoWaitForIt() throws Exception {
        run(settings().shutdownTimeout(Duration.ofMillis(100)), () -> {
            for (Full f : all()) {
                Stream s = f.writer;
                Task<Void> drain = Asyncio.createTask(s::drain);
                Task<Void> flush = Asyncio.createTask(s::flush);
                letRun(flush);
                s.close();
                assertThat(s.waitClosed()).as(f.kind).isFalse();
                assertThatThrownBy(drain::await).as(f.kind).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(flush::await).as(f.kind).isInstanceOf(ClosedChannelException.class);
                f.end();
            }
            until(() -> closings().isEmpty());
        });
    }

    @Test
    void I3_I4_whoDrainsAndFlushesAsTheStreamIsClosedWaitsForTheRestAndSucceeds() throws Exception {
        run(() -> {
            for (Full f : all()) {
                if (f.kind.equals("pty, controller")) {
                    f.end(); // its close is a hang-up, for which the kernel drops what the terminal has not read
                    continue;
                }
                Stream s = f.writer;
                Task<Void> drain = Asyncio.createTask(s::drain);
                Task<Void> flush = Asyncio.createTask(s::flush);
                letRun(flush);
                s.close();
                int n = 0;
                byte[] into = new byte[64 * 1024];
                for (int k; n < MUCH && (k = f.other.readInto(into)) > 0; ) {
                    n += k;
                }
                assertThat(n).as(f.kind).isEqualTo(MUCH);
                drain.await();
                flush.await();
                assertThat(s.waitClosed()).as(f.kind).isTrue();
                f.end();
            }
        });
        assertThat(errors).isEmpty();
    }

    /** The layer is closed, and the stream below still has its last words to send. */
    @Test
    void I4_abortOfAClosedLayerEndsTheStreamBelow() throws Exception {
        run(settings().shutdownTimeout(Duration.ofHours(1)), () -> {
            Ends e = connected();
            while (e.client().pendingBytes() == 0) {
                e.client().write(new byte[64 * 1024]);
            }
            Stream s = Streams.layered(e.client(), LayerTest.Mask::new);
            s.close();
            Task<Boolean> closed = Asyncio.createTask(s::waitClosed);
            letRun(closed);
            assertThat(closed.done()).as("something is still on its way").isFalse();
            s.abort();
            assertThat(closed.await()).isFalse();
            until(() -> closings().isEmpty());
            e.server().abort();
        });
    }

    @Test
    void I6_C2_aHandlerThatIsCancelledWhileItsConnectionIsClosedLeavesNothing() throws Exception {
        run(settings().shutdownTimeout(Duration.ofHours(1)), () -> {
            Task<?>[] handler = new Task<?>[1];
            Server s = Streams.startServer(
                    (r, w) -> {
                        handler[0] = Asyncio.currentTask();
                        w.write(new byte[MUCH]);
                    },
                    "127.0.0.1",
                    0);
            Stream deaf = Streams.openConnection("127.0.0.1", s.port());
            until(() -> !closings().isEmpty());
            letRun(handler[0]);
            assertThat(s.connections()).isEqualTo(1);
            handler[0].cancel();
            until(() -> s.connections() == 0);
            until(() -> closings().isEmpty());
            deaf.abort();
            s.close();
        });
        assertThat(errors).isEmpty();
    }

    /** A task that closes in its cleanup, when the loop ends already, which runs no new tasks: the stream ends by itself. */
    @Test
    void S11_I4_aCloseAtTheEndOfTheLoopEndsWhenAllIsSent() throws Exception {
        List<LoopError> reported = new CopyOnWriteArrayList<>();
        AtomicLong received = new AtomicLong();
        AtomicBoolean sentAll = new AtomicBoolean();
        try (ServerSocket peer = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread reader = Thread.ofPlatform().start(() -> {
                try (Socket s = peer.accept()) {
                    Thread.sleep(200); // the kernel has no more room by then
                    received.set(s.getInputStream().transferTo(OutputStream.nullOutputStream()));
                } catch (IOException | InterruptedException e) {
                    received.set(-1);
                }
            });
            long start = System.nanoTime();
            try (EventLoop loop = EventLoop.builder()
                    .exceptionHandler(reported::add)
                    .shutdownTimeout(Duration.ofSeconds(20))
                    .build()) {
                loop.run(() -> {
                    Stream s = Streams.openConnection("localhost", peer.getLocalPort());
                    Asyncio.createTask(() -> {
                        try {
                            Asyncio.sleep(Duration.ofHours(1));
                        } finally {
                            s.write(new byte[MUCH]);
                            s.close();
                            sentAll.set(s.waitClosed());
                        }
                    });
                    Asyncio.yieldNow();
                });
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
            reader.join();
        }
        assertThat(received.get()).isEqualTo(MUCH);
        assertThat(sentAll.get()).isTrue();
        assertThat(reported).isEmpty();
    }
}
