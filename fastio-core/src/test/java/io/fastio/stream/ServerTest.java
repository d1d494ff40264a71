package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.sync.Event;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

final class ServerTest extends OnBothPollers {
    private static final Server.Handler ECHO = (r, w) -> {
        byte[] b = new byte[4096];
        for (int n; (n = r.readInto(b)) > 0; ) {
            w.write(b, 0, n);
            w.drain();
        }
    };

    private static void assertServes(Server s) throws Exception {
        try (Stream c = Streams.openConnection("127.0.0.1", s.port())) {
            c.write("still here?\n");
            assertThat(c.readLine()).isEqualTo("still here?");
        }
    }

    @Test
    void I6_aHandlersExceptionEndsItsConnectionOnlyAndIsReported() throws Exception {
        run(() -> {
            Server s = Streams.startServer(
                    (r, w) -> {
                        if (r.readLine().startsWith("bad")) {
                            w.write("oops");
                            throw new IllegalArgumentException("bad line");
                        }
                        w.write("still here?\n");
                    },
                    "127.0.0.1",
                    0);
            Stream bad = Streams.openConnection("127.0.0.1", s.port());
            bad.write("bad\n");
            assertThat(text(bad.read(-1))).as("flushed, then closed").isEqualTo("oops");
            until(() -> !errors.isEmpty());
            assertThat(errors).hasSize(1);
            assertThat(errors.getFirst().exception()).isInstanceOf(IllegalArgumentException.class);
            assertThat(errors.getFirst().message())
                    .contains(bad.getExtraInfo("sockname").toString());
            assertServes(s);
            s.close();
        });
    }

    @Test
    void I6_aResetThatAHandlerLetsOutIsToldInOneLineWithoutATrace() throws Exception {
        List<Server.Handler> handlers =
                List.of((r, w) -> r.read(-1), (r, w) -> r.lines().forEach(line -> {}), (r, w) -> {
                    while (true) {
                        w.write(new byte[100_000]);
                        w.drain();
                    }
                });
        run(() -> {
            for (Server.Handler h : handlers) {
                Server s = Streams.startServer(h, "127.0.0.1", 0);
                Socket c = outside(() -> new Socket(HERE, s.port()));
                String peer = "127.0.0.1:" + c.getLocalPort();
                until(() -> s.connections() == 1);
                Asyncio.sleepMs(5);
                reset(c);
                until(() -> s.connections() == 0 && !errors.isEmpty());
                assertThat(errors).hasSize(1);
                assertThat(errors.getFirst().exception()).isNull();
                assertThat(errors.getFirst().message()).contains(peer, "lost").doesNotContain("\n");
                errors.clear();
                s.close();
            }
        });
    }

    @Test
    void I6_withoutAHandlerOfExceptionsAResetIsLoggedAsAWarning() throws Exception {
        List<LogRecord> logged = new CopyOnWriteArrayList<>();
        Handler keep = new Handler() {
            @Override
            public void publish(LogRecord r) {
                logged.add(r);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.fastio");
        logger.addHandler(keep);
        logger.setUseParentHandlers(false);
        try {
            run(EventLoop.builder().poller(poller), () -> {
                Server s = Streams.startServer((r, w) -> r.read(-1), "127.0.0.1", 0);
                Socket c = outside(() -> new Socket(HERE, s.port()));
                until(() -> s.connections() == 1);
                reset(c);
                until(() -> !logged.isEmpty());
                s.close();
            });
        } finally {
            logger.removeHandler(keep);
            logger.setUseParentHandlers(true);
        }
        assertThat(logged).hasSize(1);
        assertThat(logged.getFirst().getLevel()).isEqualTo(Level.WARNING);
        assertThat(logged.getFirst().getThrown()).isNull();
    }

    @Test
    void I6_theConnectionIsFlushedAndClosedWhenItsHandlerEnds() throws Exception {
        run(() -> {
            byte[] data = pattern(8 << 20);
            Server s = Streams.startServer((r, w) -> w.write(data), "127.0.0.1", 0);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            assertThat(c.read(-1)).isEqualTo(data);
            s.close();
            assertThat(s.waitClosed()).isTrue();
        });
    }

    @Test
    void I6_aDetachedConnectionOutlivesItsHandler() throws Exception {
        run(() -> {
            StreamWriter[] kept = new StreamWriter[1];
            Server s = Streams.startServer(
                    (r, w) -> {
                        w.detach();
                        kept[0] = w;
                    },
                    "127.0.0.1",
                    0);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            until(() -> kept[0] != null && s.connections() == 0);
            kept[0].write("later\n");
            assertThat(c.readLine()).isEqualTo("later");
            s.close();
        });
    }

    @Test
    void I6_eachConnectionHasATaskNamedAfterThePeer() throws Exception {
        run(() -> {
            String[] name = new String[1];
            Server s = Streams.startServer(
                    (r, w) -> {
                        name[0] = Asyncio.currentTask().name();
                        assertThat(r).isSameAs(w);
                    },
                    "127.0.0.1",
                    0);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            c.read(-1);
            assertThat(name[0]).contains(c.getExtraInfo("sockname").toString());
            s.close();
        });
    }

    @Test
    void I6_connectionsThatAreResetBeforeOrSoonAfterTheAcceptDoNotEndIt_F74() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            outside(() -> {
                for (int i = 0; i < 250; i++) {
                    Socket c = new Socket(HERE, s.port());
                    if (i % 2 == 0) {
                        c.getOutputStream().write(1);
                    }
                    reset(c);
                }
                return null;
            });
            until(() -> s.connections() == 0);
            assertServes(s);
            s.close();
            assertThat(s.waitClosed()).isTrue();
        });
    }

    @Tag("slow")
    @Test
    void I6_tenThousandConnectsAndResetsLeaveNothing() throws Exception {
        run(() -> {
            Server s = Streams.startServer(
                    (r, w) -> {
                        try {
                            r.read(-1);
                        } catch (IOException reset) {
                            w.abort();
                        }
                    },
                    "127.0.0.1",
                    0);
            connectAndReset(s, 1_000); // whatever is made once
            long files = ConnectTest.openFiles();
            int tasks = Asyncio.allTasks().size();
            long memory = outside(ServerTest::usedMemory);
            connectAndReset(s, 10_000);
            assertServes2(s);
            until(() -> s.connections() == 0);
            Asyncio.sleepMs(20);
            assertThat(Asyncio.allTasks()).hasSize(tasks);
            assertThat(ConnectTest.openFiles()).isLessThan(files + 10);
            assertThat(outside(ServerTest::usedMemory) - memory)
                    .as("a task and a stream are more than 1,000 bytes")
                    .isLessThan(5_000_000);
            s.close();
        });
    }

    private static void connectAndReset(Server s, int times) throws Exception {
        outside(() -> {
            for (int i = 0; i < times; i++) {
                reset(new Socket(HERE, s.port()));
            }
            return null;
        });
        until(() -> s.connections() == 0);
    }

    private static long usedMemory() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(50);
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static void assertServes2(Server s) throws Exception {
        Stream c = Streams.openConnection("127.0.0.1", s.port());
        c.writeEof();
        assertThat(c.read(-1)).isEmpty();
        c.close();
    }

    @Test
    void I6_theConnectionLimitLeavesFurtherOnesInTheBacklog() throws Exception {
        run(() -> {
            Server s = Streams.startServer(
                    ECHO, "127.0.0.1", 0, ServerOptions.defaults().maxConnections(2));
            List<Stream> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(Streams.openConnection("127.0.0.1", s.port()));
                clients.getLast().write("x");
            }
            clients.get(0).readExactly(1);
            clients.get(1).readExactly(1);
            Asyncio.sleepMs(20);
            assertThat(s.connections()).isEqualTo(2);
            assertThatThrownBy(() -> Asyncio.waitForMs(() -> clients.get(2).readExactly(1), 20))
                    .isInstanceOf(java.util.concurrent.TimeoutException.class);
            clients.get(0).close();
            assertThat(clients.get(2).readExactly(1)).hasSize(1);
            clients.get(1).close();
            assertThat(clients.get(3).readExactly(1)).hasSize(1);
            clients.get(2).close();
            clients.get(3).close();
            s.close();
            assertThat(s.waitClosed()).isTrue();
        });
    }

    @Test
    void I6_closeStopsAcceptingAndOpenConnectionsLiveOn() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            c.write("a\n");
            assertThat(c.readLine()).isEqualTo("a");
            s.close();
            s.close();
            assertThatThrownBy(() -> Streams.openConnection("127.0.0.1", s.port()))
                    .isInstanceOf(IOException.class);
            c.write("b\n");
            assertThat(c.readLine()).isEqualTo("b");
            c.close();
            assertThat(s.waitClosed()).isTrue();
        });
    }

    @Test
    void I6_F79_waitClosedWaitsForTheHandlersAndThenAbortsWhatIsLeft() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            Stream idle = Streams.openConnection("127.0.0.1", s.port());
            idle.write("a\n");
            idle.readLine();
            s.close();
            long start = System.nanoTime();
            assertThat(s.waitClosed(Duration.ofMillis(50))).isFalse();
            assertThat(System.nanoTime() - start).isBetween(50_000_000L, 5_000_000_000L);
            assertThat(s.connections()).isZero();
            assertThatThrownBy(() -> idle.read(1)).isInstanceOf(IOException.class);
        });
    }

    /** S14 may have the waiter give way just before it waits: what happens then must not be missed. */
    @Test
    void I6_S14_waitClosedSeesAnEndThatComesAsItGivesWay() throws Exception {
        run(() -> {
            Event set = new Event();
            set.set();
            for (int n = 250; n < 262; n++) {
                Event end = new Event();
                Server s = Streams.startServer((r, w) -> end.await(), "127.0.0.1", 0);
                Stream c = Streams.openConnection("127.0.0.1", s.port());
                until(() -> s.connections() == 1);
                s.close();
                Asyncio.yieldNow();
                end.set();
                for (int i = 0; i < n; i++) {
                    set.await();
                }
                assertThat(s.waitClosed(Duration.ofSeconds(2))).isTrue();
                c.close();
            }
        });
    }

    @Test
    void S3_waitClosedTakesALimitThatOverflows() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            c.write("a\n");
            c.readLine();
            s.close();
            Asyncio.createTask(c::close);
            assertThat(s.waitClosed(ChronoUnit.FOREVER.getDuration())).isTrue();
        });
    }

    @Test
    void I6_F79_waitClosedIsBoundedByAHandlerThatWillNotEnd() throws Exception {
        run(() -> {
            boolean[] end = {false};
            Server s = Streams.startServer(
                    (r, w) -> {
                        while (!end[0]) {
                            try {
                                Asyncio.sleepMs(10);
                            } catch (CancelledError stubborn) {
                                w.abort();
                            }
                        }
                    },
                    "127.0.0.1",
                    0);
            Streams.openConnection("127.0.0.1", s.port());
            until(() -> s.connections() == 1);
            s.close();
            assertThat(s.waitClosed(Duration.ZERO)).isFalse();
            end[0] = true;
        });
    }

    @Test
    void I6_closeClientsAndAbortClients() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            Stream a = Streams.openConnection("127.0.0.1", s.port());
            a.write("x");
            a.readExactly(1);
            s.closeClients();
            assertThat(a.read(-1)).isEmpty();
            Stream b = Streams.openConnection("127.0.0.1", s.port());
            b.write("x");
            b.readExactly(1);
            s.abortClients();
            assertThatThrownBy(() -> b.read(1)).isInstanceOf(IOException.class);
            until(() -> s.connections() == 0);
            assertServes(s);
            s.close();
            assertThat(errors)
                    .as("a closed connection is reported as what its handler threw")
                    .hasSize(1)
                    .allSatisfy(e -> assertThat(e.exception()).isInstanceOf(ClosedChannelException.class));
        });
    }

    @Test
    void I6_aBurstOfConnectionsDoesNotStarveThoseInService() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            Stream old = Streams.openConnection("127.0.0.1", s.port());
            old.write("warm\n");
            old.readLine();
            List<Socket> burst = new ArrayList<>();
            Thread connecting = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 300; i++) {
                        burst.add(new Socket(HERE, s.port()));
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            while (connecting.isAlive()) {
                Thread.onSpinWait(); // holds the loop, so that all of them come together
            }
            old.write("x\n");
            old.readLine();
            assertThat(s.connections())
                    .as("answered before the burst was through")
                    .isLessThan(300);
            until(() -> s.connections() == 301);
            outside(() -> {
                for (Socket c : burst) {
                    c.close();
                }
                return null;
            });
            s.close();
        });
    }

    @Test
    void I6_serveForeverEndsWithItsTask() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            Task<Void> t = Asyncio.createTask(s::serveForever);
            assertServes(s);
            t.cancel();
            assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
            assertThat(s.isClosed()).isTrue();
        });
    }

    @Test
    void I6_aCancelledHandlerEndsItsConnection() throws Exception {
        run(() -> {
            Task<?>[] handler = new Task<?>[1];
            Server s = Streams.startServer(
                    (r, w) -> {
                        handler[0] = Asyncio.currentTask();
                        r.read(1);
                    },
                    "127.0.0.1",
                    0);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            until(() -> handler[0] != null);
            handler[0].cancel();
            assertThatThrownBy(() -> c.read(1)).isInstanceOf(IOException.class);
            until(() -> s.connections() == 0);
            s.close();
            assertThat(errors).isEmpty();
        });
    }

    @Test
    void servesNc() throws Exception {
        run(() -> {
            Server s = Streams.startServer(
                    (r, w) -> {
                        for (int i = 0; i < 2; i++) {
                            w.write("<" + r.readLine() + ">\n");
                        }
                    },
                    "127.0.0.1",
                    0);
            Process nc;
            try {
                nc = new ProcessBuilder("nc", "127.0.0.1", String.valueOf(s.port())).start();
            } catch (IOException e) {
                throw new TestAbortedException("no nc on this machine: the server is not tried with it", e);
            }
            try {
                nc.getOutputStream().write("one\ntwo\n".getBytes(StandardCharsets.US_ASCII));
                nc.getOutputStream().flush();
                byte[] answer = Asyncio.offload(() -> nc.getInputStream().readNBytes(12));
                assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("<one>\n<two>\n");
                nc.getOutputStream().close();
                int status = Asyncio.offload(() -> nc.waitFor());
                assertThat(status).isZero(); // the connection was ended properly
            } finally {
                nc.destroy();
            }
            s.close();
        });
    }

    @Test
    void F80_aPortInUseIsAnErrorOfTheCaller() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            assertThatThrownBy(() -> Streams.startServer(ECHO, "127.0.0.1", s.port()))
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining(String.valueOf(s.port()));
            s.close();
        });
    }

    @Test
    void F80_closeAndWaitClosedRightAfterTheStart() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, "127.0.0.1", 0);
            s.close();
            assertThat(s.waitClosed()).isTrue();
            Server again = Streams.startServer(ECHO, "127.0.0.1", s.port());
            assertThat(again.port()).isEqualTo(s.port());
            assertServes(again);
            again.close();
        });
    }

    @Test
    void aServerWithoutAHostListensEverywhere() throws Exception {
        run(() -> {
            Server s = Streams.startServer(ECHO, null, 0);
            assertThat(((InetSocketAddress) s.addresses().getFirst())
                            .getAddress()
                            .isAnyLocalAddress())
                    .isTrue();
            assertServes(s);
            s.close();
        });
    }

    @Test
    void I6_resetAtEveryStageEndsThatConnectionOnly() throws Exception {
        byte[] much = new byte[20 << 20];
        run(() -> {
            Server s = Streams.startServer(
                    (r, w) -> {
                        switch (r.readExactly(1)[0]) {
                            case 'r' -> r.read(-1);
                            case 'x' -> r.readExactly(1_000);
                            case 'X' -> r.readExactly(1_000_000);
                            case 'l' -> r.readLine();
                            case 'u' -> r.readUntil(bytes("END"));
                            case 'k' -> r.copyTo(w);
                            case 'd' -> {
                                w.write(much);
                                w.drain();
                            }
                            case 'f' -> {
                                w.writeUncopied(ByteBuffer.wrap(much));
                                w.flush();
                            }
                            case 'c' -> w.write(much); // and is closed meanwhile
                            case 'e' -> {
                                w.writeEof();
                                r.read(-1);
                            }
                            case 'E' -> {
                                w.write(much);
                                w.writeEof();
                                r.read(-1);
                            }
                            default -> ECHO.handle(r, w);
                        }
                    },
                    "127.0.0.1",
                    0);
            for (char stage : "rxXlukdfceE".toCharArray()) {
                for (boolean halfClosed : new boolean[] {false, true}) {
                    outside(() -> {
                        Socket c = new Socket(HERE, s.port());
                        c.getOutputStream().write(bytes(stage + "some"));
                        if (halfClosed) {
                            c.shutdownOutput();
                        }
                        Thread.sleep(5);
                        reset(c);
                        return null;
                    });
                    Asyncio.waitForMs(() -> until(() -> s.connections() == 0), 10_000);
                    try (Stream c = Streams.openConnection("127.0.0.1", s.port())) {
                        c.write("?still here?\n"); // the first byte chooses the echo
                        assertThat(c.readLine()).as("after " + stage).isEqualTo("still here?");
                    }
                }
            }
            until(() -> s.connections() == 0);
            s.close();
            assertThat(s.waitClosed()).isTrue();
            assertThat(errors).isNotEmpty().allSatisfy(e -> {
                if (e.exception() != null) { // the end came, before the reset
                    assertThat(e.exception()).isInstanceOf(IncompleteReadException.class);
                }
            });
        });
    }

    @Test
    void I6_reusePortSharesAPortAcrossLoops() throws Exception {
        ServerOptions shared = ServerOptions.defaults().reusePort(true);
        try (EventLoop second = settings().build()) {
            second.start();
            run(() -> {
                Server a = Streams.startServer((r, w) -> w.write("a"), "127.0.0.1", 0, shared);
                Task<Server> other = second.createTask(
                        () -> Streams.startServer((r, w) -> w.write("b"), "127.0.0.1", a.port(), shared));
                Server b = outside(other::get);
                int[] served = {0, 0};
                for (int i = 0; i < 60; i++) {
                    try (Stream c = Streams.openConnection("127.0.0.1", a.port())) {
                        served[c.read(-1)[0] - 'a']++;
                    }
                }
                assertThat(served[0]).isPositive();
                assertThat(served[1]).isPositive();
                a.close();
                outside(() -> second.createTask(b::close).get());
            });
        }
    }

    @Test
    void I6_theBacklogBoundsWhatWaitsToBeAccepted() throws Exception {
        run(() -> {
            Server s = Streams.startServer(
                    ECHO, "127.0.0.1", 0, ServerOptions.defaults().backlog(1).maxConnections(1));
            ConnectOptions brief = ConnectOptions.defaults().timeout(Duration.ofMillis(100));
            List<Stream> clients = new ArrayList<>();
            assertThatThrownBy(() -> {
                        while (clients.size() < 50) {
                            clients.add(Streams.openConnection("127.0.0.1", s.port(), brief));
                        }
                    })
                    .isInstanceOf(IOException.class);
            assertThat(clients).hasSizeBetween(2, 10);
            for (Stream c : clients) { // each in its turn, as the one before it leaves
                c.write("still here?\n");
                assertThat(c.readLine()).isEqualTo("still here?");
                c.close();
            }
            assertServes(s);
            s.close();
        });
    }

    @Test
    void I6_aServerWithoutRoomForAnotherConnectionCanBeClosed() throws Exception {
        run(() -> {
            Server s = Streams.startServer(
                    ECHO, "127.0.0.1", 0, ServerOptions.defaults().maxConnections(1));
            Stream served = Streams.openConnection("127.0.0.1", s.port());
            served.write("a\n");
            assertThat(served.readLine()).isEqualTo("a");
            Stream waiting = Streams.openConnection("127.0.0.1", s.port());
            Task<byte[]> refused = Asyncio.createTask(() -> waiting.read(1));
            Asyncio.sleepMs(5);
            s.close();
            assertThatThrownBy(refused::await).isInstanceOf(IOException.class);
            until(() -> Asyncio.allTasks().stream().noneMatch(t -> t.name().startsWith("accepting")));
            served.write("b\n");
            assertThat(served.readLine()).isEqualTo("b");
            served.close();
            assertThat(s.waitClosed()).isTrue();
        });
    }

    @Test
    void I6_theOptionsReachTheConnections() throws Exception {
        run(() -> {
            ServerOptions o = ServerOptions.defaults().noDelay(false).keepAlive(true);
            SocketChannel[] accepted = new SocketChannel[1];
            Server s = Streams.startServer(
                    (r, w) -> {
                        accepted[0] = (SocketChannel) w.getExtraInfo("channel");
                        r.read(-1);
                    },
                    "127.0.0.1",
                    0,
                    o);
            Stream c = Streams.openConnection("127.0.0.1", s.port());
            until(() -> accepted[0] != null);
            assertThat(accepted[0].getOption(StandardSocketOptions.TCP_NODELAY)).isFalse();
            assertThat(accepted[0].getOption(StandardSocketOptions.SO_KEEPALIVE))
                    .isTrue();
            c.close();
            s.close();
        });
    }

    @Test
    void reusePortSharesAPort() throws Exception {
        run(() -> {
            ServerOptions shared = ServerOptions.defaults().reusePort(true);
            Server a = Streams.startServer(ECHO, "127.0.0.1", 0, shared);
            Server b = Streams.startServer(ECHO, "127.0.0.1", a.port(), shared);
            assertThat(b.port()).isEqualTo(a.port());
            for (int i = 0; i < 20; i++) {
                assertServes(a);
            }
            a.close();
            b.close();
        });
    }

    @Test
    void aPeerThatSendsOneByteAtATimeIsServedBesideOthers() throws Exception {
        run(() -> {
            Server s = Streams.startServer((r, w) -> w.write(r.readLine() + "\n"), "127.0.0.1", 0);
            Stream slow = Streams.openConnection("127.0.0.1", s.port());
            for (char c : "slowly".toCharArray()) {
                slow.write(String.valueOf(c));
                assertServes(s);
            }
            slow.write("\n");
            assertThat(slow.readLine()).isEqualTo("slowly");
            s.close();
        });
    }
}
