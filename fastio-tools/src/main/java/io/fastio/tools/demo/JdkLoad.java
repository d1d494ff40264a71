package io.fastio.tools.demo;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The load on the JDK's own virtual threads, in a JVM of its own, started with one carrier: the code that one writes
 * without fastio. Prints {@code port N}; told to go, it starts the hogs, prints {@code measuring} when that begins and
 * {@code done} with the steps of the least important thread, and {@code timers} with their nanoseconds when it is over.
 *
 * <p>Arguments: milliseconds that a hog works at a time, milliseconds of the lead-in, milliseconds of the measurement.
 */
final class JdkLoad {
    private final Samples timers = new Samples();
    private final AtomicLong lowSteps = new AtomicLong();
    private volatile boolean measuring;

    public static void main(String[] args) throws Exception {
        new JdkLoad()
                .run(
                        Duration.ofMillis(Long.parseLong(args[0])),
                        new Window(
                                Duration.ofMillis(Long.parseLong(args[1])),
                                Duration.ofMillis(Long.parseLong(args[2]))));
        // The hogs may not let anything else run, an orderly shutdown included.
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private void run(Duration hogging, Window window) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(() -> accept(server));
        System.out.println(ChildJvm.answer("port", server.getLocalPort()));
        System.in.read();

        Thread.ofVirtual().start(() -> startAll(hogging)).join();
        Thread.sleep(window.leadIn());
        long lowBefore = lowSteps.get();
        measuring = true;
        System.out.println(ChildJvm.answer("measuring"));
        Thread.sleep(window.measured());
        measuring = false;
        System.out.println(ChildJvm.answer("done", lowSteps.get() - lowBefore));
        synchronized (timers) {
            System.out.println(ChildJvm.answer("timers", timers.toArray()));
        }
    }

    /** Starts them from the carrier: a thread that yields would keep those started from elsewhere from ever beginning. */
    private void startAll(Duration hogging) {
        for (int i = 0; i < Load.TIMERS; i++) {
            Thread.ofVirtual().start(this::timer);
        }
        Thread.ofVirtual().start(this::low);
        for (int i = 0; i < Load.HOGS; i++) {
            Thread.ofVirtual().start(() -> hog(hogging));
        }
    }

    private static void accept(ServerSocket server) {
        try {
            Socket socket = server.accept();
            socket.setTcpNoDelay(true);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            BufferedWriter out =
                    new BufferedWriter(new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.write(line + "\n");
                out.flush();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void timer() {
        while (true) {
            long start = System.nanoTime();
            try {
                Thread.sleep(Load.TIMER_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
            if (measuring) {
                synchronized (timers) {
                    timers.add(System.nanoTime() - start);
                }
            }
        }
    }

    private void low() {
        while (true) {
            lowSteps.incrementAndGet();
            Thread.yield();
        }
    }

    private static void hog(Duration hogging) {
        Gaps gaps = new Gaps();
        while (true) {
            Load.hog(hogging, gaps);
            Thread.yield();
        }
    }
}
