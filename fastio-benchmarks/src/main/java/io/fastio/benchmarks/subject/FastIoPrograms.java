package io.fastio.benchmarks.subject;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.device.MillisTimer;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import io.fastio.device.SimulatedChip;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** MicroPython fast_io's demonstrations, written anew for fastio with the same parameters. */
final class FastIoPrograms {
    private static final int MINUTE_MS = 60_000;
    private static final int HOGS = 10;
    private static final long HOG_NANOS = 1_000_000;
    private static final int TIMEOUT_MS = 50;

    private FastIoPrograms() {}

    static Reading run(String name) throws Exception {
        return Reading.of(
                switch (name) {
                    case "overdue" -> overdue();
                    case "call_lp" -> callLp();
                    case "priority_test" -> priorityTest();
                    case "ms_timer" -> msTimer();
                    case "pin_cb" -> pinCb();
                    case "fast_can" -> fastCan();
                    case "iorw_can" -> iorwCan();
                    case "iorw_to" -> iorwTo();
                    default -> throw new IllegalArgumentException("no such program: " + name);
                });
    }

    private static double millisSince(long start) {
        return (System.nanoTime() - start) / 1e6;
    }

    /** A task that is always ready keeps a LOW one out, for a second at most if so limited. */
    private static Map<String, Double> overdue() throws Exception {
        double[] limited = lowRuns(Duration.ofSeconds(1), 3_300);
        double[] unlimited = lowRuns(Duration.ZERO, 1_000);
        return Map.of("interval", limited[0], "runs_without_limit", unlimited[1]);
    }

    /** Mean interval in ms between runs of a LOW task, and their number. */
    private static double[] lowRuns(Duration maxOverdue, long millis) throws Exception {
        try (EventLoop loop = EventLoop.builder().maxOverdue(maxOverdue).build()) {
            return loop.run(() -> {
                int[] runs = {0};
                long[] last = {0};
                long start = System.nanoTime();
                Task<?> low = Asyncio.createTask(() -> {
                    while (true) {
                        Asyncio.afterMs(0);
                        runs[0]++;
                        last[0] = System.nanoTime();
                    }
                });
                while (millisSince(start) < millis) {
                    Hogs.block(HOG_NANOS);
                    Asyncio.yieldNow();
                }
                low.cancel();
                double interval = runs[0] == 0 ? Double.NaN : (last[0] - start) / 1e6 / runs[0];
                return new double[] {interval, runs[0]};
            });
        }
    }

    private static Map<String, Double> callLp() throws Exception {
        return Asyncio.run(() -> {
            int[] ran = {0};
            for (int i = 0; i < HOGS; i++) {
                var _ = Asyncio.runningLoop().callAfter(Duration.ofMillis(i), () -> ran[0]++);
            }
            long start = System.nanoTime();
            while (millisSince(start) < 300) {
                Hogs.block(HOG_NANOS);
                Asyncio.yieldNow();
            }
            double meanwhile = ran[0];
            long idle = System.nanoTime();
            while (ran[0] < HOGS) {
                Asyncio.sleepMs(1);
            }
            return Map.of("ran_while_busy", meanwhile, "all_ran_after", millisSince(idle));
        });
    }

    /** Its hogs keep LOW tasks from running at all; a cancel and a time-out still end one. */
    private static Map<String, Double> priorityTest() throws Exception {
        return Asyncio.run(() -> {
            boolean[] running = {true};
            for (int i = 0; i < HOGS; i++) {
                var _ = Asyncio.createTask(() -> {
                    while (running[0]) {
                        Hogs.block(HOG_NANOS);
                        Asyncio.yieldNow();
                    }
                });
            }
            double[] ended = {0};
            Task<?> low = Asyncio.createTask(() -> {
                try {
                    Asyncio.afterMs(MINUTE_MS);
                } finally {
                    ended[0] = System.nanoTime();
                }
            });
            Asyncio.sleepMs(20);
            // Whoever awaits it has to wait for its own turn, too, which is no part of the cancel.
            double start = System.nanoTime();
            double _ = cancel(low);
            double cancel = (ended[0] - start) / 1e6;
            double late = timeoutLate(() -> Asyncio.afterMs(MINUTE_MS));
            running[0] = false;
            return Map.of("cancel", cancel, "timeout_late", late);
        });
    }

    /** As in the timing benchmark, but of NORMAL tasks: it is the wait on the device that is urgent. */
    private static Map<String, Double> msTimer() throws Exception {
        MillisTimer timer = new MillisTimer();
        Samples device = timers(() -> timer.await(Hogs.TIMER_MILLIS));
        Samples sleep = timers(() -> Asyncio.sleepMs(Hogs.TIMER_MILLIS));
        return Map.of("median", device.median(), "max", device.max(), "sleep_median", sleep.median());
    }

    private static Samples timers(Action wait) throws Exception {
        Hogs hogs = new Hogs(1_500);
        Asyncio.run(() -> {
            List<Task<?>> all = new ArrayList<>();
            for (int i = 0; i < Hogs.TIMERS; i++) {
                all.add(Asyncio.createTask(() -> {
                    while (hogs.running()) {
                        long start = System.nanoTime();
                        wait.run();
                        hogs.fired(start);
                    }
                }));
            }
            FastioTasks.startHogs(hogs, all);
            FastioTasks.awaitAll(all);
        });
        return hogs.reading().samples();
    }

    private static Map<String, Double> pinCb() throws Exception {
        Hogs hogs = new Hogs(1_500);
        int[] changes = {0};
        int[] seen = {0};
        Asyncio.run(() -> {
            SimulatedChip chip = new SimulatedChip(1);
            AtomicLong changed = new AtomicLong();
            List<Task<?>> all = new ArrayList<>();
            FastioTasks.startHogs(hogs, all);
            try (Pin pin = Pin.of(chip, 0);
                    PinChange _ = new PinChange(pin, edge -> {
                        seen[0]++;
                        hogs.fired(changed.getAndSet(0));
                    })) {
                Thread outside = Thread.ofPlatform().start(() -> changePin(chip, changed, changes));
                FastioTasks.awaitAll(all);
                outside.interrupt();
                Asyncio.offload(() -> {
                    outside.join();
                    return true;
                });
            }
        });
        Samples late = hogs.reading().samples();
        // One may still be on its way at the end.
        double missed = Math.max(0, changes[0] - 1 - seen[0]);
        return Map.of("median", late.median(), "max", late.max(), "missed", missed);
    }

    /** Changes the pin every 37 ms, which is no multiple of a hog's step, once the last change has been seen. */
    private static void changePin(SimulatedChip chip, AtomicLong changed, int[] changes) {
        boolean high = false;
        while (!Thread.interrupted()) {
            LockSupport.parkNanos(37_000_000);
            if (changed.compareAndSet(0, System.nanoTime())) {
                high = !high;
                changes[0]++;
                chip.drive(0, high);
            }
        }
    }

    private static Map<String, Double> fastCan() throws Exception {
        return Asyncio.run(() -> {
            int before = Asyncio.allTasks().size();
            Task<?> paused = Asyncio.createTask(() -> Asyncio.sleepMs(MINUTE_MS));
            Asyncio.sleepMs(5);
            double cancel = cancel(paused);
            return Map.of(
                    "cancel", cancel, "left_behind", (double) Asyncio.allTasks().size() - before);
        });
    }

    /** Milliseconds from the cancel until whoever awaits the task knows that it has ended. */
    private static double cancel(Task<?> task) throws Exception {
        long start = System.nanoTime();
        task.cancel();
        try {
            task.await();
        } catch (CancelledError e) {
            if (task.cancelled()) {
                return millisSince(start);
            }
            throw e;
        }
        throw new IllegalStateException(task.name() + " was not cancelled");
    }

    private static double timeoutLate(Action body) throws Exception {
        long start = System.nanoTime();
        try {
            Asyncio.waitForMs(body, TIMEOUT_MS);
        } catch (TimeoutException e) {
            return millisSince(start) - TIMEOUT_MS;
        }
        throw new IllegalStateException("the time-out did not come");
    }

    private interface Conversation {
        /** {@code echo} sends back what it gets, one byte late: the first byte brings nothing. */
        Map<String, Double> with(Stream echo) throws Exception;
    }

    private static Map<String, Double> connected(Conversation conversation) throws Exception {
        return Asyncio.run(() -> {
            Server server = Streams.startServer(
                    (reader, writer) -> {
                        byte[] first = reader.readExactly(1);
                        for (byte[] more = reader.read(100); more.length > 0; more = reader.read(100)) {
                            writer.write(first);
                            writer.write(more);
                        }
                    },
                    "127.0.0.1",
                    0);
            try (server;
                    Stream stream = Streams.openConnection("127.0.0.1", server.port())) {
                return conversation.with(stream);
            }
        });
    }

    private static Map<String, Double> iorwCan() throws Exception {
        return connected(stream -> {
            Task<?> reading = Asyncio.createTask(() -> stream.read(100));
            Asyncio.sleepMs(5);
            stream.write(new byte[1]);
            double cancel = cancel(reading);
            return Map.of("cancel", cancel, "lost_bytes", lost(stream));
        });
    }

    private static Map<String, Double> iorwTo() throws Exception {
        return connected(stream -> {
            stream.write(new byte[1]);
            double late = timeoutLate(() -> stream.read(100));
            return Map.of("timeout_late", late, "lost_bytes", lost(stream));
        });
    }

    /** Bytes that are missing when the conversation goes on after the end of a read. */
    private static double lost(Stream stream) throws IOException {
        stream.write(new byte[9]);
        return 10 - stream.readExactly(10).length;
    }
}
