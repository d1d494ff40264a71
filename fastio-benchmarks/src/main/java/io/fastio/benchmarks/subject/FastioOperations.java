package io.fastio.benchmarks.subject;

import com.sun.management.ThreadMXBean;
import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Event;
import io.fastio.sync.Lock;
import io.fastio.sync.Semaphore;
import io.fastio.sync.ThreadSafeFlag;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;

/**
 * Single operations of fastio, measured in the steady state on a loop on the calling thread. Those that need two tasks go
 * there and back, which takes two switches.
 */
final class FastioOperations {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int PER_LOOK = 500;
    private static final int BATCHES = 5;
    private static final int REQUEST_BYTES = 100;

    private FastioOperations() {}

    /**
     * Nanoseconds and bytes of the loop's thread per operation. The bytes are the difference between a batch and one twice
     * as long, so that what is allocated once per batch (by leaving a compiled loop, say) drops out.
     */
    static Reading measure(String name, long millis) throws Exception {
        long carrier = Thread.currentThread().threadId();
        return Asyncio.run(() -> {
            Action operation = operation(name);
            long warm = repeat(operation, millis * 500_000);
            int batch = (int) Math.max(PER_LOOK, warm * 2 / (3 * BATCHES));
            double[] bytes = new double[BATCHES];
            long start = System.nanoTime();
            for (int i = 0; i < BATCHES; i++) {
                long before = THREADS.getThreadAllocatedBytes(carrier);
                times(operation, batch);
                long between = THREADS.getThreadAllocatedBytes(carrier);
                times(operation, 2 * batch);
                long after = THREADS.getThreadAllocatedBytes(carrier);
                bytes[i] = Math.max(0, (double) (after - between) - (between - before)) / batch;
            }
            double nanos = System.nanoTime() - start;
            return Reading.of(Map.of(
                    "ns",
                    nanos / (3.0 * batch * BATCHES),
                    "bytes",
                    Samples.of(bytes).median()));
        });
    }

    private static long repeat(Action operation, long nanos) throws Exception {
        long end = System.nanoTime() + nanos;
        long count = 0;
        do {
            times(operation, PER_LOOK);
            count += PER_LOOK;
        } while (System.nanoTime() - end < 0);
        return count;
    }

    private static void times(Action operation, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            operation.run();
        }
    }

    private static Action operation(String name) throws IOException {
        return switch (name) {
            case "yield" -> Asyncio::yieldNow;
            case "sleep" -> () -> Asyncio.sleepNanos(1_000);
            case "after" -> () -> Asyncio.afterMs(0);
            case "wait" -> new PingPong();
            case "event" -> event();
            case "flag" -> flag();
            case "lock" -> lock();
            case "semaphore" -> semaphore();
            case "queue" -> queue();
            case "readInto" -> stream();
            default -> throw new IllegalArgumentException("no such operation: " + name);
        };
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void forever(Step step) {
        var _ = Asyncio.createTask(() -> {
            while (true) {
                step.run();
            }
        });
    }

    private static Action event() {
        Event ping = new Event();
        Event pong = new Event();
        forever(() -> {
            ping.await();
            ping.clear();
            pong.set();
        });
        return () -> {
            ping.set();
            pong.await();
            pong.clear();
        };
    }

    private static Action flag() {
        ThreadSafeFlag ping = new ThreadSafeFlag();
        ThreadSafeFlag pong = new ThreadSafeFlag();
        forever(() -> {
            ping.await();
            pong.set();
        });
        return () -> {
            ping.set();
            pong.await();
        };
    }

    /** Each holds the lock while the other waits for it: a release hands it over. */
    private static Action lock() {
        Lock lock = new Lock();
        lock.acquire();
        var _ = Asyncio.createTask(() -> {
            lock.acquire();
            while (true) {
                lock.release();
                lock.acquire();
            }
        });
        // Now it waits for the lock.
        Asyncio.yieldNow();
        return () -> {
            lock.release();
            lock.acquire();
        };
    }

    private static Action semaphore() {
        Semaphore ping = new Semaphore(0);
        Semaphore pong = new Semaphore(0);
        forever(() -> {
            ping.acquire();
            pong.release();
        });
        return () -> {
            ping.release();
            pong.acquire();
        };
    }

    private static Action queue() {
        AsyncQueue<String> ping = new AsyncQueue<>(1);
        AsyncQueue<String> pong = new AsyncQueue<>(1);
        forever(() -> pong.put(ping.get()));
        return () -> {
            ping.put("item");
            var _ = pong.get();
        };
    }

    /** 100 bytes there and back over TCP, both ends on this loop: two reads and two writes. */
    private static Action stream() throws IOException {
        Server server = Streams.startServer(
                (reader, writer) -> {
                    byte[] buffer = new byte[REQUEST_BYTES];
                    for (int n = reader.readInto(buffer); n >= 0; n = reader.readInto(buffer)) {
                        writer.write(buffer, 0, n);
                    }
                },
                "127.0.0.1",
                0);
        Stream stream = Streams.openConnection("127.0.0.1", server.port());
        byte[] buffer = new byte[REQUEST_BYTES];
        return () -> {
            stream.write(buffer);
            for (int n = 0; n < REQUEST_BYTES; ) {
                n += stream.readInto(buffer, n, REQUEST_BYTES - n);
            }
        };
    }

    /** A wait by the extension point, ended by another task: what every lock, event and queue is made of. */
    private static final class PingPong implements Action {
        private Task<?> waiting = Asyncio.createTask(() -> {
            while (true) {
                change();
            }
        });

        @Override
        public void run() {
            change();
        }

        private void change() {
            Task<?> other = waiting;
            waiting = Wait.begin();
            // Before its first step the partner is in no wait: it comes by itself.
            boolean _ = Wait.resume(other);
            Wait.suspend((task, woken) -> true, null, Wait.FOREVER);
        }
    }
}
