package io.fastio.benchmarks.subject;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.fastio.EventLoop;
import io.fastio.sync.ThreadSafeFlag;
import io.fastio.time.IdleStrategy;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** What an idle loop costs, by its strategy: processor time of the whole process, in percent of one core. */
final class FastioIdle {
    private static final Duration BACKOFF = Duration.ofNanos(100_000);
    private static final Duration SLICE = Duration.ofMillis(20);
    private static final long WAKE_NANOS = 1_000_000;
    private static final long LOST_NANOS = 2_000_000_000;

    /** The compiler's threads and what else a start leaves behind shall be done when the clock starts. */
    private static final long SETTLE_NANOS = 300_000_000;

    /** A settled JVM that has compiled the path of a wake: at one wake a millisecond it would not in the time there is. */
    private static final int WARM_UP_WAKES = 20_000;

    private static final MethodHandle CLOCK = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("clock"), FunctionDescriptor.of(JAVA_LONG));

    private FastioIdle() {}

    private static IdleStrategy strategy(String name) {
        return switch (name) {
            case "BLOCK" -> IdleStrategy.BLOCK;
            case "SPIN" -> IdleStrategy.SPIN;
            case "BACKOFF" -> IdleStrategy.backoff(BACKOFF);
            case "POWERSAVE" -> IdleStrategy.powersave(SLICE);
            default -> throw new IllegalArgumentException("no such strategy: " + name);
        };
    }

    /** {@code cpu} of a loop that has nothing to do for {@code millis} ms; of no loop at all if the strategy is NONE. */
    static Reading idle(String name, long millis) throws Exception {
        if (name.equals("NONE")) {
            return Reading.of("cpu", cpu(millis * 1_000_000));
        }
        try (EventLoop loop = EventLoop.builder().idle(strategy(name)).build()) {
            loop.start();
            CountDownLatch running = new CountDownLatch(1);
            loop.callSoon(running::countDown);
            running.await();
            return Reading.of("cpu", cpu(millis * 1_000_000));
        }
    }

    private static double cpu(long nanos) {
        LockSupport.parkNanos(SETTLE_NANOS);
        return percent(() -> {
            long until = System.nanoTime() + nanos;
            for (long left = nanos; left > 0; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        });
    }

    /**
     * {@code cpu} while this thread sets a flag every millisecond that a task waits for, and a sample in µs for each: from
     * the set until the task runs. NONE: the same thread, and nobody to wake.
     */
    static Reading woken(String name, int count) throws Exception {
        double[] micros = new double[count];
        if (name.equals("NONE")) {
            return Reading.of("cpu", percent(() -> {
                for (int i = 0; i < count; i++) {
                    LockSupport.parkNanos(WAKE_NANOS);
                }
            }));
        }
        Sleeper sleeper = new Sleeper();
        try (EventLoop loop = EventLoop.builder().idle(IdleStrategy.BLOCK).build()) {
            loop.start();
            var task = loop.createTask(sleeper::sleep);
            for (int i = 0; i < WARM_UP_WAKES; i++) {
                sleeper.wake();
                sleeper.expect();
            }
            loop.idleStrategy(strategy(name));
            LockSupport.parkNanos(SETTLE_NANOS);
            double cpu = percent(() -> {
                for (int i = 0; i < count; i++) {
                    LockSupport.parkNanos(WAKE_NANOS);
                    // A strategy that lets wakes wait still gets each; what it took is read before the next one.
                    while (!sleeper.isAwake()) {
                        LockSupport.parkNanos(WAKE_NANOS);
                    }
                    if (i > 0) {
                        micros[i - 1] = sleeper.micros();
                    }
                    sleeper.wake();
                }
            });
            sleeper.expect();
            micros[count - 1] = sleeper.micros();
            task.cancel();
            return new Reading(Map.of("cpu", cpu), Samples.of(micros));
        }
    }

    /** A task that waits over and over, and the thread that wakes it, which goes first. */
    private static final class Sleeper {
        private final ThreadSafeFlag flag = new ThreadSafeFlag();
        private volatile long woken;
        private volatile long awakeAt;
        private long sent;
        private long sentAt;

        void sleep() {
            for (long n = 1; ; n++) {
                flag.await();
                awakeAt = System.nanoTime();
                woken = n;
            }
        }

        void wake() {
            sent++;
            sentAt = System.nanoTime();
            flag.set();
        }

        boolean isAwake() {
            return woken == sent;
        }

        void expect() {
            for (long limit = System.nanoTime() + LOST_NANOS; !isAwake(); Thread.onSpinWait()) {
                if (System.nanoTime() - limit > 0) {
                    throw new IllegalStateException("wake " + sent + " was lost");
                }
            }
        }

        double micros() {
            return (awakeAt - sentAt) / 1_000.0;
        }
    }

    /** What the process uses while {@code work} runs. */
    private static double percent(Runnable work) {
        long start = System.nanoTime();
        long before = cpuMicros();
        work.run();
        return 100_000.0 * (cpuMicros() - before) / (System.nanoTime() - start);
    }

    /** Of all threads of the process. The JDK's own way to ask counts in ticks of 10 ms. */
    private static long cpuMicros() {
        try {
            return (long) CLOCK.invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException("clock() failed", e);
        }
    }
}
