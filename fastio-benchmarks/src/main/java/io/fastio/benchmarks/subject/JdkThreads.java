package io.fastio.benchmarks.subject;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** The JDK's virtual threads on the JDK's scheduler, which the parent holds to one carrier. */
@SuppressWarnings("ThreadPriorityCheck") // the scheduler is what is measured here
final class JdkThreads
        implements Subject.Rate,
                Subject.Timing,
                Subject.Wake,
                Subject.Sleepers,
                Subject.Memory,
                Subject.Echo,
                Subject.Http {
    @Override
    public String config() {
        return "JDK " + Runtime.version() + " virtual threads, jdk.virtualThreadScheduler.parallelism="
                + System.getProperty("jdk.virtualThreadScheduler.parallelism") + ", blocking java.net sockets";
    }

    @Override
    public Reading rate(int tasks, long millis) throws InterruptedException {
        Lap lap = new Lap(tasks, millis, Lap.bytesOfAll());
        CountDownLatch done = new CountDownLatch(tasks);
        // Started by a virtual thread: what comes from outside waits until the carrier's own queue is empty, which it
        // never is as long as anybody yields.
        Thread.ofVirtual().start(() -> {
            for (int i = 0; i < tasks; i++) {
                boolean first = i == 0;
                Thread.ofVirtual().start(() -> {
                    while (first ? lap.more() : lap.running()) {
                        Thread.yield();
                    }
                    done.countDown();
                });
            }
        });
        done.await();
        return lap.reading();
    }

    @Override
    public Reading timing(long millis) throws InterruptedException {
        Hogs hogs = new Hogs(millis);
        Thread main = Thread.ofVirtual().start(() -> {
            for (int i = 0; i < Hogs.TIMERS; i++) {
                Thread.ofVirtual().start(() -> {
                    while (hogs.running()) {
                        long start = System.nanoTime();
                        sleep(Hogs.TIMER_MILLIS);
                        hogs.fired(start);
                    }
                });
            }
            startHogs(Hogs.COUNT, Hogs.STEP_NANOS, hogs::running);
        });
        main.join();
        while (hogs.running()) {
            Thread.sleep(10);
        }
        return hogs.reading();
    }

    /** As everywhere here, the main program is a task itself: what it starts goes into its carrier's own queue. */
    private static void startHogs(int count, long nanos, BooleanSupplier running) {
        for (int i = 0; i < count; i++) {
            Thread.ofVirtual().start(() -> {
                while (running.getAsBoolean()) {
                    Hogs.block(nanos);
                    Thread.yield();
                }
            });
        }
    }

    @Override
    public Reading wake(int count) throws InterruptedException {
        Alarm alarm = new Alarm(count);
        Semaphore flag = new Semaphore(0);
        Thread sleeper = Thread.ofVirtual().start(() -> {
            do {
                flag.acquireUninterruptibly();
            } while (alarm.awake());
        });
        alarm.ring(flag::release);
        sleeper.join();
        return alarm.reading();
    }

    @Override
    public Reading sleepers(int tasks) throws InterruptedException {
        Naps naps = new Naps();
        CountDownLatch done = new CountDownLatch(tasks);
        for (int i = 0; i < tasks; i++) {
            Thread.ofVirtual().start(() -> {
                for (int n = 0; n < Naps.PER_TASK; n++) {
                    int millis = naps.nextMillis();
                    long start = System.nanoTime();
                    sleep(millis);
                    naps.slept(start, millis);
                }
                done.countDown();
            });
        }
        done.await();
        return naps.reading();
    }

    @Override
    public Reading memory(int tasks) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(tasks);
        List<Thread> threads = new ArrayList<>(tasks);
        long before = Heap.liveBytes();
        for (int i = 0; i < tasks; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                started.countDown();
                try {
                    Thread.sleep(3_600_000);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        started.await();
        Thread.sleep(500);
        double bytes = Heap.liveBytes() - before;
        for (Thread thread : threads) {
            thread.interrupt();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return Reading.of("bytes", bytes / tasks);
    }

    @Override
    public Service echo(int hogs, long hogMicros) throws IOException {
        ServerSocket listener = new ServerSocket(0, 4_096, InetAddress.getLoopbackAddress());
        AtomicBoolean running = new AtomicBoolean(true);
        Thread.ofVirtual().start(() -> {
            while (running.get()) {
                try {
                    Socket socket = listener.accept();
                    socket.setTcpNoDelay(true);
                    Thread.ofVirtual().start(() -> serve(socket));
                } catch (IOException e) {
                    if (running.get()) {
                        e.printStackTrace();
                    }
                }
            }
        });
        Thread.ofVirtual().start(() -> startHogs(hogs, hogMicros * 1_000, running::get));
        return new Service(listener.getLocalPort(), () -> {
            running.set(false);
            listener.close();
        });
    }

    private static void serve(Socket socket) {
        byte[] buffer = new byte[4_096];
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
        } catch (IOException e) {
            System.err.println("echo connection ended: " + e.getMessage());
        }
    }

    @Override
    public Service http() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4_096);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        byte[] body = "hello\n".getBytes(StandardCharsets.US_ASCII);
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        });
        server.start();
        return new Service(server.getAddress().getPort(), () -> server.stop(0));
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
