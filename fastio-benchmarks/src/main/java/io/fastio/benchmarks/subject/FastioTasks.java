package io.fastio.benchmarks.subject;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Fastio;
import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.WakePolicy;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.sync.ThreadSafeFlag;
import io.fastio.time.IdleStrategy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** fastio itself: the loop runs on the child's main thread. */
final class FastioTasks
        implements Subject.Rate,
                Subject.Callbacks,
                Subject.TimerCallbacks,
                Subject.Timing,
                Subject.Wake,
                Subject.Sleepers,
                Subject.Memory,
                Subject.Echo,
                Subject.Http,
                Subject.SpinWake,
                Subject.Special {

    private static final Duration TICK = Duration.ofMillis(1);
    private static final long LATENCY_STEP_NANOS = 2_000_000;
    private static final int LIVE_BYTES = 50_000_000;
    private static final int ARRAY_BYTES = 1_000;
    private static final int ARRAYS_PER_STEP = 20;

    @Override
    public String config() {
        return "version " + Fastio.version() + ", one loop on the main thread, default options";
    }

    @Override
    public Reading rate(int tasks, long millis) throws Exception {
        Lap lap = new Lap(tasks, millis, Lap.bytesOf(Thread.currentThread()));
        Asyncio.run(() -> ring(lap, tasks));
        return lap.reading();
    }

    private static void ring(Lap lap, int tasks) throws Exception {
        List<Task<?>> ring = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            boolean first = i == 0;
            ring.add(Asyncio.createTask(() -> {
                while (first ? lap.more() : lap.running()) {
                    Asyncio.yieldNow();
                }
            }));
        }
        awaitAll(ring);
    }

    /** The same with everything there and nothing of it busy: a priority stream that is read, and a LOW task. */
    private static Reading rateWithFeatures(int tasks, long millis) throws Exception {
        Lap lap = new Lap(tasks, millis, Lap.bytesOf(Thread.currentThread()));
        Asyncio.run(() -> {
            try (Server server = Streams.startServer((reader, writer) -> reader.read(1), "127.0.0.1", 0);
                    Stream silent = Streams.openConnection("127.0.0.1", server.port())) {
                silent.priority(true);
                Task<?> reading = Asyncio.createTask(() -> silent.read(1));
                Task<?> low = Asyncio.createTask(() -> {
                    while (true) {
                        Asyncio.afterMs(0);
                    }
                });
                ring(lap, tasks);
                reading.cancel();
                low.cancel();
            }
        });
        return lap.reading();
    }

    static void awaitAll(List<Task<?>> tasks) throws Exception {
        for (Task<?> task : tasks) {
            task.await();
        }
    }

    @Override
    public Reading callbacks(long millis) throws Exception {
        return callbacks(millis, Handle::callSoon);
    }

    @Override
    public Reading timerCallbacks(long millis) throws Exception {
        return callbacks(millis, handle -> handle.callLaterNanos(1));
    }

    private interface Arm {
        void again(Handle handle);
    }

    private static Reading callbacks(long millis, Arm arm) throws Exception {
        Lap lap = new Lap(1, millis, Lap.bytesOf(Thread.currentThread()));
        try (EventLoop loop = EventLoop.create()) {
            Handle[] handle = new Handle[1];
            handle[0] = loop.handle(Priority.NORMAL, () -> {
                if (lap.more()) {
                    arm.again(handle[0]);
                } else {
                    loop.stop();
                }
            });
            handle[0].callSoon();
            loop.runForever();
        }
        return lap.reading();
    }

    @Override
    public Reading timing(long millis) throws Exception {
        return timing(millis, Priority.NORMAL, false);
    }

    private static Reading timing(long millis, Priority timers, boolean checkpoints) throws Exception {
        Hogs hogs = new Hogs(millis);
        Asyncio.run(() -> {
            List<Task<?>> all = new ArrayList<>();
            for (int i = 0; i < Hogs.TIMERS; i++) {
                all.add(Asyncio.createTask(TaskOptions.of(timers), () -> {
                    while (hogs.running()) {
                        long start = System.nanoTime();
                        Asyncio.sleepMs(Hogs.TIMER_MILLIS);
                        hogs.fired(start);
                    }
                }));
            }
            for (int i = 0; i < Hogs.COUNT; i++) {
                all.add(Asyncio.createTask(() -> hog(hogs, checkpoints)));
            }
            awaitAll(all);
        });
        return hogs.reading();
    }

    /** Adds the ten hogs of the timer programs. */
    static void startHogs(Hogs hogs, List<Task<?>> all) {
        for (int i = 0; i < Hogs.COUNT; i++) {
            all.add(Asyncio.createTask(() -> hog(hogs, false)));
        }
    }

    private static void hog(Hogs hogs, boolean checkpoints) {
        while (hogs.running()) {
            block(Hogs.STEP_NANOS, checkpoints);
            Asyncio.yieldNow();
        }
    }

    static void block(long nanos, boolean checkpoints) {
        if (!checkpoints) {
            Hogs.block(nanos);
            return;
        }
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() - until < 0) {
            Asyncio.checkpoint();
        }
    }

    @Override
    public Reading wake(int count) throws Exception {
        return wake(count, IdleStrategy.BLOCK);
    }

    @Override
    public Reading spinWake(int count) throws Exception {
        return wake(count, IdleStrategy.SPIN);
    }

    private static Reading wake(int count, IdleStrategy idle) throws Exception {
        return wake(count, idle, WakePolicy.AT_ONCE);
    }

    private static Reading wake(int count, IdleStrategy idle, WakePolicy policy) throws Exception {
        Alarm alarm = new Alarm(count);
        ThreadSafeFlag flag = new ThreadSafeFlag(Priority.NORMAL, policy);
        Thread waker = Thread.ofPlatform().daemon().start(() -> alarm.ring(flag::set));
        try (EventLoop loop = EventLoop.builder().idle(idle).tick(TICK).build()) {
            loop.run(() -> {
                do {
                    flag.await();
                } while (alarm.awake());
            });
        }
        waker.join();
        return alarm.reading();
    }

    /** The same while a stream is watched, so that the loop sleeps in its poller. */
    private static Reading wakeWatching(int count) throws Exception {
        Alarm alarm = new Alarm(count);
        ThreadSafeFlag flag = new ThreadSafeFlag();
        Thread waker = Thread.ofPlatform().daemon().start(() -> alarm.ring(flag::set));
        Asyncio.run(() -> {
            try (Server server = Streams.startServer((reader, writer) -> reader.read(1), "127.0.0.1", 0)) {
                assert server.port() > 0;
                do {
                    flag.await();
                } while (alarm.awake());
            }
        });
        waker.join();
        return alarm.reading();
    }

    @Override
    public Reading sleepers(int tasks) throws Exception {
        Naps naps = new Naps();
        Asyncio.run(() -> {
            List<Task<?>> all = new ArrayList<>(tasks);
            Action body = () -> {
                for (int n = 0; n < Naps.PER_TASK; n++) {
                    int millis = naps.nextMillis();
                    long start = System.nanoTime();
                    Asyncio.sleepMs(millis);
                    naps.slept(start, millis);
                }
            };
            for (int i = 0; i < tasks; i++) {
                all.add(Asyncio.createTask(body));
            }
            awaitAll(all);
        });
        return naps.reading();
    }

    @Override
    public Reading memory(int tasks) throws Exception {
        double bytes = Asyncio.run(() -> {
            List<Task<?>> all = new ArrayList<>(tasks);
            long before = Heap.liveBytes();
            for (int i = 0; i < tasks; i++) {
                all.add(Asyncio.createTask(() -> Asyncio.sleepMs(3_600_000)));
            }
            // When this wait ends, each of them has had its first step.
            Asyncio.sleepMs(1);
            double used = Heap.liveBytes() - before;
            all.forEach(Task::cancel);
            return used;
        });
        return Reading.of("bytes", bytes / tasks);
    }

    @Override
    public Service echo(int hogs, long hogMicros) throws Exception {
        return FastioServers.echo(hogs, hogMicros, false, false);
    }

    @Override
    public Service urgentEcho(int hogs, long hogMicros, boolean checkpoints) throws Exception {
        return FastioServers.echo(hogs, hogMicros, true, checkpoints);
    }

    @Override
    public Service http() throws Exception {
        return FastioServers.http();
    }

    @Override
    public Reading special(String name, String[] arguments) throws Exception {
        return switch (name) {
            case "timing_urgent" -> timing(Long.parseLong(arguments[0]), Priority.URGENT, false);
            case "timing_checkpoint" -> timing(Long.parseLong(arguments[0]), Priority.URGENT, true);
            case "latency" ->
                latency(Integer.parseInt(arguments[0]), Priority.valueOf(arguments[1]), Long.parseLong(arguments[2]));
            case "turns" -> FastioSync.turns(arguments[0], Long.parseLong(arguments[1]));
            case "herd" -> FastioSync.herd(Integer.parseInt(arguments[0]));
            case "cancels" -> FastioSync.cancels(Integer.parseInt(arguments[0]));
            case "scopes" -> FastioSync.scopes(Integer.parseInt(arguments[0]));
            case "rate_features" -> rateWithFeatures(Integer.parseInt(arguments[0]), Long.parseLong(arguments[1]));
            case "idle" -> FastioIdle.idle(arguments[0], Long.parseLong(arguments[1]));
            case "idle_woken" -> FastioIdle.woken(arguments[0], Integer.parseInt(arguments[1]));
            case "background" -> FastioBackground.measure(Integer.parseInt(arguments[0]));
            case "background_stream" -> FastioBackground.stream(Integer.parseInt(arguments[0]));
            case "garbage" -> garbage(Long.parseLong(arguments[0]));
            case "growth_timers" -> FastioGrowth.timers(Integer.parseInt(arguments[0]), Long.parseLong(arguments[1]));
            case "growth_streams" -> FastioGrowth.streams(Integer.parseInt(arguments[0]), Long.parseLong(arguments[1]));
            case "program" -> FastIoPrograms.run(arguments[0]);
            case "operation" -> FastioOperations.measure(arguments[0], Long.parseLong(arguments[1]));
            case "tls" -> TlsRate.measure(Integer.parseInt(arguments[0]));
            case "wake_watching" -> wakeWatching(Integer.parseInt(arguments[0]));
            case "wake_tick" -> wake(Integer.parseInt(arguments[0]), IdleStrategy.BLOCK, WakePolicy.BATCHED);
            default -> throw new IllegalArgumentException("no such program: " + name);
        };
    }

    /** How late timers of 1 ms are beside a LOW task that makes garbage of which the last 50 MB are alive. */
    private static Reading garbage(long millis) throws Exception {
        Histogram late = new Histogram(60_000_000_000L, 3);
        long[] made = new long[1];
        Asyncio.run(() -> {
            long end = System.nanoTime() + millis * 1_000_000;
            byte[][] alive = new byte[LIVE_BYTES / ARRAY_BYTES][];
            Task<?> maker = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                for (int i = 0; ; i = (i + 1) % alive.length) {
                    alive[i] = new byte[ARRAY_BYTES];
                    made[0] += ARRAY_BYTES;
                    if (i % ARRAYS_PER_STEP == 0) {
                        Asyncio.yieldNow();
                    }
                }
            });
            while (System.nanoTime() - end < 0) {
                long due = System.nanoTime() + 1_000_000;
                Asyncio.sleepNanos(1_000_000);
                late.recordValue(Math.max(0, System.nanoTime() - due));
            }
            maker.cancel();
        });
        return Reading.of(Map.of(
                "p50_us", late.getValueAtPercentile(50) / 1e3,
                "p99_us", late.getValueAtPercentile(99) / 1e3,
                "max_us", late.getMaxValue() / 1e3,
                "mb_per_s", made[0] / 1e3 / millis));
    }

    /** How long one yield of a NORMAL task takes beside {@code tasks} hogs of 2 ms in the given class, in µs. */
    private static Reading latency(int tasks, Priority hogs, long millis) throws Exception {
        Histogram nanos = new Histogram(60_000_000_000L, 3);
        Asyncio.run(() -> {
            long end = System.nanoTime() + millis * 1_000_000;
            for (int i = 0; i < tasks; i++) {
                var _ = Asyncio.createTask(() -> {
                    while (System.nanoTime() - end < 0) {
                        Hogs.block(LATENCY_STEP_NANOS);
                        if (hogs == Priority.LOW) {
                            Asyncio.afterMs(0);
                        } else {
                            Asyncio.yieldNow();
                        }
                    }
                });
            }
            // The pause lets hogs of class LOW have their turn, too; what is measured is the yield after it.
            while (System.nanoTime() - end < 0) {
                Asyncio.sleepMs(1);
                long start = System.nanoTime();
                Asyncio.yieldNow();
                nanos.recordValue(System.nanoTime() - start);
            }
        });
        return new Reading(
                Map.of(
                        "median_us", nanos.getValueAtPercentile(50) / 1e3,
                        "max_us", nanos.getMaxValue() / 1e3,
                        "n", (double) nanos.getTotalCount()),
                Samples.none());
    }
}
