package io.fastio.benchmarks.micro;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Event;
import io.fastio.sync.Lock;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * One operation each, many of them in one task of a loop that is kept, so that starting the task does not count. None of
 * them has to wait.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InnerCosts {
    private static final int TIMES = 10_000;
    /** Few enough live at once that the collector's work is that of a running program. */
    private static final int SPAWNS = 1_000;

    private EventLoop loop = EventLoop.create();

    /** A new loop for each trial. */
    @Setup(Level.Trial)
    public void open() {
        loop = EventLoop.create();
    }

    /** Ends the loop. */
    @TearDown(Level.Trial)
    public void close() {
        loop.close();
    }

    private void inTask(Action operation) throws Exception {
        loop.run(() -> {
            for (int i = 0; i < TIMES; i++) {
                operation.run();
            }
        });
    }

    /** A checkpoint with nothing due. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void checkpoint() throws Exception {
        inTask(Asyncio::checkpoint);
    }

    /** A yield with nobody else ready. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void yieldAlone() throws Exception {
        inTask(Asyncio::yieldNow);
    }

    /** An event that is set and cleared with nobody waiting. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void eventSetClear() throws Exception {
        Event event = new Event();
        inTask(() -> {
            event.set();
            event.clear();
        });
    }

    /** A lock that is free. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void lockAcquireRelease() throws Exception {
        Lock lock = new Lock();
        inTask(() -> {
            lock.acquire();
            lock.release();
        });
    }

    /** A queue with room and then with an item. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void queuePutGet() throws Exception {
        AsyncQueue<String> queue = new AsyncQueue<>();
        inTask(() -> {
            queue.putNowait("item");
            var _ = queue.getNowait();
        });
    }

    /** A timer of an hour, armed and cancelled. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void timerArmCancel() throws Exception {
        Handle handle = loop.handle(Priority.NORMAL, () -> {});
        inTask(() -> {
            handle.callLaterNanos(3_600_000_000_000L);
            handle.cancel();
        });
    }

    /** A task that returns at once, created and awaited. */
    @Benchmark
    @OperationsPerInvocation(SPAWNS)
    public void createAwait() throws Exception {
        loop.run(() -> {
            for (int i = 0; i < SPAWNS; i++) {
                Task<Integer> task = Asyncio.createTask(() -> 1);
                task.await();
            }
        });
    }

    /** A time limit around something that does not wait. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void waitForNothing() throws Exception {
        inTask(() -> Asyncio.waitForMs(() -> 1, 1_000));
    }
}
