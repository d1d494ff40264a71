package io.fastio.stream;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.Task;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs each test on a loop with the epoll poller and on one with the selector. */
@ParameterizedClass
@EnumSource(
        value = EventLoop.PollerKind.class,
        names = {"EPOLL", "SELECTOR"})
abstract class OnBothPollers {
    static final long LIMIT_MS = 30_000;
    static final InetAddress HERE = InetAddress.getLoopbackAddress();

    @Parameter
    EventLoop.PollerKind poller;

    /** What the loop's exception handler was told. */
    final List<LoopError> errors = new CopyOnWriteArrayList<>();

    /** The thread that carries the loop of {@link #run}. */
    private long carrier;

    EventLoop.Builder settings() {
        return EventLoop.builder()
                .poller(poller)
                .shutdownTimeout(Duration.ofSeconds(2))
                .exceptionHandler(errors::add);
    }

    void run(Action body) throws Exception {
        run(settings(), body);
    }

    void run(EventLoop.Builder settings, Action body) throws Exception {
        carrier = Thread.currentThread().threadId();
        try (EventLoop loop = settings.build()) {
            loop.run(() -> Asyncio.waitForMs(body, LIMIT_MS));
        }
    }

    /** Two ends of a TCP connection within the loop. */
    record Ends(Stream client, Stream server) {}

    static Ends connected() throws Exception {
        Stream[] accepted = new Stream[1];
        Server s = Streams.startServer(
                (r, w) -> {
                    w.detach();
                    accepted[0] = (Stream) w;
                },
                "127.0.0.1",
                0);
        Stream client = Streams.openConnection("127.0.0.1", s.port());
        until(() -> accepted[0] != null);
        s.close();
        return new Ends(client, accepted[0]);
    }

    /** A server in the loop, and a plain socket of the JDK's at the other end. */
    record Raw(Stream stream, Socket socket) {}

    static Raw raw() throws Exception {
        Stream[] accepted = new Stream[1];
        Server s = Streams.startServer(
                (r, w) -> {
                    w.detach();
                    accepted[0] = (Stream) w;
                },
                "127.0.0.1",
                0);
        Socket socket = outside(() -> new Socket(HERE, s.port()));
        socket.setTcpNoDelay(true);
        until(() -> accepted[0] != null);
        s.close();
        return new Raw(accepted[0], socket);
    }

    static void send(Socket to, String text) throws IOException {
        to.getOutputStream().write(bytes(text));
    }

    /** Ends the connection by a reset. */
    static void reset(Socket s) throws IOException {
        s.setSoLinger(true, 0);
        s.close();
    }

    static <T> T outside(Callable<T> work) throws Exception {
        return Asyncio.offload(work);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @FunctionalInterface
    interface Condition {
        boolean holds() throws Exception;
    }

    static void until(Condition c) throws Exception {
        while (!c.holds()) {
            Asyncio.sleepMs(1);
        }
    }

    /** Lets a task get into its wait. */
    static void letRun(Task<?> t) {
        for (int i = 0; i < 3 && !t.done(); i++) {
            Asyncio.yieldNow();
        }
    }

    /** CPU time that the loop's thread uses while the loop has nothing to do, as a share of one core. */
    double loadWhileIdle(long ms) {
        var threads = ManagementFactory.getThreadMXBean();
        long cpu = threads.getThreadCpuTime(carrier);
        long start = System.nanoTime();
        Asyncio.sleepMs(ms);
        return (threads.getThreadCpuTime(carrier) - cpu) / (double) (System.nanoTime() - start);
    }

    /** Data that shows what is missing or doubled. */
    static byte[] pattern(int n) {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++) {
            b[i] = (byte) (i * 31 + (i >>> 8) * 7 + (i >>> 16));
        }
        return b;
    }

    static InetSocketAddress unusedPort() throws IOException {
        try (java.net.ServerSocket s = new java.net.ServerSocket(0, 1, HERE)) {
            return (InetSocketAddress) s.getLocalSocketAddress();
        }
    }
}
