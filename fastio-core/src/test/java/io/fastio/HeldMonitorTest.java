package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.carrier.HeldMonitors;
import io.fastio.context.AsyncContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * S13: a thread that holds a monitor does not carry a loop, which would end the JVM. In JVMs of their own, since a failure is
 * a crash; with and without the right to read memory, on which it depends how a monitor is found.
 */
final class HeldMonitorTest {
    private static final String NO_CORE = "-XX:-CreateCoredumpOnCrash";
    private static final String REFUSED =
            "run(), runForever() and poll() of a loop must not be called by a thread that holds a monitor (synchronized)";

    /** What the child JVMs do; the first argument says which. */
    static final class Programs {
        private static final Object MONITOR = new Object();
        private static final ReentrantLock LOCK = new ReentrantLock();
        private static final int ROUNDS = 100;

        private Programs() {}

        /** Ways to hold a monitor, or none, while {@code r} runs. */
        private static <T> T hold(String how, Callable<T> r) throws Exception {
            return switch (how) {
                case "block" -> {
                    synchronized (MONITOR) {
                        yield r.call();
                    }
                }
                case "method" -> method(r);
                case "above" -> {
                    synchronized (MONITOR) {
                        yield deep(40, r);
                    }
                }
                case "nested" -> {
                    synchronized (MONITOR) {
                        yield method(r);
                    }
                }
                case "waited" -> {
                    synchronized (MONITOR) {
                        for (long end = System.nanoTime() + 1_000_000; System.nanoTime() < end; ) {
                            MONITOR.wait(1);
                        }
                        yield r.call();
                    }
                }
                case "lock" -> {
                    LOCK.lock();
                    try {
                        yield r.call();
                    } finally {
                        LOCK.unlock();
                    }
                }
                case "none" -> r.call();
                default -> throw new IllegalArgumentException(how);
            };
        }

        private static synchronized <T> T method(Callable<T> r) throws Exception {
            return r.call();
        }

        private static <T> T deep(int n, Callable<T> r) throws Exception {
            return n == 0 ? r.call() : deep(n - 1, r);
        }

        /** Tasks that leave their carrier with monitors of their own, and are away when the call of the host ends. */
        private static int work() throws Exception {
            List<Task<Integer>> tasks = new ArrayList<>();
            for (int k = 0; k < 3; k++) {
                int steps = k + 1;
                tasks.add(Asyncio.createTask(() -> {
                    Object own = new Object();
                    int n = 0;
                    for (int i = 0; i < steps; i++) {
                        synchronized (own) {
                            Asyncio.sleepMs(1);
                            n += deep(5, () -> {
                                Asyncio.yieldNow();
                                return 1;
                            });
                        }
                    }
                    return n;
                }));
            }
            int n = 0;
            for (Task<Integer> task : tasks) {
                n += task.await();
            }
            return n;
        }

        private static String once(String how, String what) throws Exception {
            switch (what) {
                case "asyncio" -> hold(how, () -> Asyncio.run(Programs::work));
                case "run" -> {
                    try (EventLoop loop = EventLoop.create()) {
                        hold(how, () -> loop.run(Programs::work));
                    }
                }
                case "forever" -> {
                    try (EventLoop loop = EventLoop.create()) {
                        var task = loop.createTask(Programs::work);
                        task.addDoneCallback(t -> loop.stop());
                        hold(how, () -> {
                            loop.runForever();
                            return true;
                        });
                        return "value " + task.resultNow();
                    }
                }
                case "poll" -> {
                    try (EventLoop loop = EventLoop.create()) {
                        var task = loop.createTask(Programs::work);
                        while (!task.done()) {
                            hold(how, () -> loop.poll(Duration.ZERO));
                        }
                        return "value " + task.resultNow();
                    }
                }
                case "context" -> {
                    try (AsyncContext context = AsyncContext.polled()) {
                        var task = context.loop().createTask(Programs::work);
                        while (!task.done()) {
                            hold(how, () -> context.poll(Duration.ZERO));
                        }
                        return "value " + task.resultNow();
                    }
                }
                case "close" -> {
                    int[] cleaned = new int[1];
                    EventLoop loop = EventLoop.create();
                    for (int i = 0; i < 3; i++) {
                        loop.createTask(() -> {
                            try {
                                Asyncio.sleepMs(1_000_000);
                            } finally {
                                Asyncio.sleepMs(0);
                                cleaned[0]++;
                            }
                        });
                    }
                    onOtherThread(() -> loop.poll(Duration.ZERO));
                    hold(how, () -> {
                        loop.close();
                        return true;
                    });
                    return "cleaned " + cleaned[0];
                }
                default -> throw new IllegalArgumentException(what);
            }
            return "worked";
        }

        /** As a loop that was used without a monitor before. */
        private static <T> T onOtherThread(Callable<T> work) throws Exception {
            var f = new java.util.concurrent.FutureTask<>(work);
            Thread.ofPlatform().start(f);
            return f.get();
        }

        private static void repeat(String how, String what) throws Exception {
            Map<String, Integer> seen = new TreeMap<>();
            for (int i = 0; i < ROUNDS; i++) {
                String outcome;
                try {
                    outcome = once(how, what);
                } catch (IllegalStateException e) {
                    outcome = String.valueOf(e.getMessage());
                }
                seen.merge(outcome, 1, Integer::sum);
            }
            seen.forEach((outcome, n) -> System.out.println(how + " " + what + ": " + n + " x " + outcome));
        }

        /** Monitors of tasks are their own affair, also when they use another loop. */
        private static void inTask() throws Exception {
            for (int i = 0; i < ROUNDS; i++) {
                Asyncio.run(() -> {
                    try (EventLoop other = EventLoop.create()) {
                        other.start();
                        hold("nested", () -> {
                            Asyncio.yieldNow();
                            return Asyncio.createTask(Programs::work).await()
                                    + other.createTask(Programs::work).await();
                        });
                    }
                });
            }
            System.out.println("worked");
        }

        public static void main(String[] args) throws Exception {
            System.out.println(HeldMonitors.isCheap() ? "reads the lock stack" : "asks the frames");
            switch (args[0]) {
                case "in-task" -> inTask();
                default -> {
                    for (String how : args[0].split(",", -1)) {
                        for (String what : args[1].split(",", -1)) {
                            repeat(how, what);
                        }
                    }
                }
            }
        }
    }

    private static List<String> flags(boolean native_) {
        List<String> flags = new ArrayList<>(ChildJvm.FLAGS);
        if (!native_) {
            flags.remove("--enable-native-access=ALL-UNNAMED");
        }
        flags.add(NO_CORE);
        flags.add("-XX:ErrorFile=/dev/null");
        return flags;
    }

    private static String outputOf(boolean native_, String... args) throws Exception {
        try (ChildJvm jvm = new ChildJvm(flags(native_), Programs.class, args)) {
            int code = jvm.exitCode();
            assertThat(jvm.output()).contains(native_ ? "reads the lock stack" : "asks the frames");
            assertThat(code).as(jvm.output()).isZero();
            return jvm.output();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void S13_aThreadWithAMonitorDoesNotCarryALoop(boolean native_) throws Exception {
        String output = outputOf(native_, "block,method,above,nested", "run,poll,context,forever");
        for (String how : List.of("block", "method", "above", "nested")) {
            for (String what : List.of("run", "poll", "context", "forever")) {
                assertThat(output).contains(how + " " + what + ": 100 x " + REFUSED);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void S13_aRunThatLeavesNoTaskAndACloseWorkUnderAMonitor(boolean native_) throws Exception {
        String output = outputOf(native_, "block,method,above,nested,waited", "asyncio,close");
        for (String how : List.of("block", "method", "above", "nested", "waited")) {
            assertThat(output).contains(how + " asyncio: 100 x worked").contains(how + " close: 100 x cleaned 3");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void S13_whatHoldsNoMonitorOfItsCarrierWorks(boolean native_) throws Exception {
        String output = outputOf(native_, "lock,none", "run,poll,context,forever");
        for (String how : List.of("lock", "none")) {
            assertThat(output).contains(how + " run: 100 x worked");
            for (String what : List.of("poll", "context", "forever")) {
                assertThat(output).contains(how + " " + what + ": 100 x value 6");
            }
        }
        assertThat(outputOf(native_, "in-task")).contains("worked");
    }

    @Test
    void S13_aMonitorThatOthersWaitedForDoesNoHarm() throws Exception {
        assertThat(outputOf(true, "waited", "run,poll,forever"))
                .contains("waited run: 100 x worked")
                .contains("waited poll: 100 x value 6")
                .contains("waited forever: 100 x value 6");
    }
}
