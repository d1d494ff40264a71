package io.fastio.benchmarks.subject;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What one operation costs beside very many timers or streams that have nothing to do. */
final class FastioGrowth {
    private static final String LOOPBACK = "127.0.0.1";
    private static final long HOUR_NANOS = 3_600_000_000_000L;
    private static final int CALLS_PER_LOOK = 200;

    /** Connections that one listener's queue holds; they take one descriptor each as long as nobody accepts them. */
    private static final int QUEUE = 2_000;

    private static final int MESSAGE_BYTES = 100;

    private FastioGrowth() {}

    private interface Operation {
        void run() throws Exception;
    }

    /** {@code timers} timers are set, and one after the other is cancelled and set anew: {@code ns} for the two. */
    static Reading timers(int timers, long millis) throws Exception {
        return Asyncio.run(() -> {
            EventLoop loop = Asyncio.runningLoop();
            SplittableRandom random = new SplittableRandom(11);
            Handle[] handles = new Handle[timers];
            for (int i = 0; i < timers; i++) {
                handles[i] = loop.handle(Priority.NORMAL, () -> {});
                handles[i].callLaterNanos(HOUR_NANOS + random.nextLong(HOUR_NANOS));
            }
            Reading reading = repeated(millis, () -> {
                Handle handle = handles[random.nextInt(timers)];
                handle.cancel();
                handle.callLaterNanos(HOUR_NANOS + random.nextLong(HOUR_NANOS));
            });
            for (Handle handle : handles) {
                handle.cancel();
            }
            return reading;
        });
    }

    /** {@code streams} priority streams are read by a task each, and one of them gets answers: {@code ns} a round trip. */
    static Reading streams(int streams, long millis) throws Exception {
        return Asyncio.run(() -> {
            List<AutoCloseable> open = new ArrayList<>();
            try (Server server = Streams.startServer(
                            (reader, writer) -> {
                                byte[] message = new byte[MESSAGE_BYTES];
                                for (int n = reader.readInto(message); n >= 0; n = reader.readInto(message)) {
                                    writer.write(message, 0, n);
                                }
                            },
                            LOOPBACK,
                            0);
                    Stream busy = Streams.openConnection(LOOPBACK, server.port())) {
                busy.priority(true);
                try {
                    silent(streams - 1, open);
                    byte[] message = new byte[MESSAGE_BYTES];
                    return repeated(millis, () -> {
                        busy.write(message);
                        for (int n = 0; n < message.length; ) {
                            n += busy.readInto(message, n, message.length - n);
                        }
                    });
                } finally {
                    for (AutoCloseable each : open.reversed()) {
                        each.close();
                    }
                }
            }
        });
    }

    private static void silent(int streams, List<AutoCloseable> open) throws Exception {
        int port = 0;
        for (int i = 0; i < streams; i++) {
            if (i % QUEUE == 0) {
                ServerSocketChannel listener = ServerSocketChannel.open();
                open.add(listener);
                listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), QUEUE + 1);
                port = listener.socket().getLocalPort();
            }
            Stream stream = Streams.openConnection(LOOPBACK, port);
            stream.priority(true);
            open.add(stream);
            var reading = Asyncio.createTask(() -> stream.read(1));
            open.add(reading::cancel);
        }
        Asyncio.sleepMs(20); // now each of them waits for its stream
    }

    private static Reading repeated(long millis, Operation operation) throws Exception {
        for (int i = 0; i < CALLS_PER_LOOK; i++) {
            operation.run();
        }
        long start = System.nanoTime();
        long calls = 0;
        long now;
        do {
            for (int i = 0; i < CALLS_PER_LOOK; i++) {
                operation.run();
            }
            calls += CALLS_PER_LOOK;
            now = System.nanoTime();
        } while (now - start < millis * 1_000_000);
        return Reading.of("ns", (now - start) / (double) calls);
    }
}
