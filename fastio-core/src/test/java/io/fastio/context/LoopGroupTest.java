package io.fastio.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.ChildJvm;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.ThreadSettings;
import io.fastio.poll.LoopThread;
import io.fastio.poll.ThreadTuning;
import io.fastio.sync.Event;
import io.fastio.sync.QueueClosedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(60)
final class LoopGroupTest {
    @Test
    void runsOnTheLoopThatWasNamed() throws Exception {
        try (LoopGroup group = LoopGroup.start(3)) {
            assertThat(group.size()).isEqualTo(3);
            for (EventLoop loop : group) {
                assertThat(LoopGroup.runOn(loop, Asyncio::runningLoop)).isSameAs(loop);
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> LoopGroup.runOn(loop, () -> {
                            throw new IOException("mine");
                        }))
                        .withMessage("mine");
            }
            assertThat(group.runOnAll(() -> Asyncio.runningLoop().name()))
                    .containsExactly("fastio-loop-0", "fastio-loop-1", "fastio-loop-2");
            assertThatIllegalStateException()
                    .isThrownBy(() -> group.runOnAll(() -> {
                        throw new IllegalStateException("all of them");
                    }));
            assertThat(group.next()).isSameAs(group.get(0));
            assertThat(group.next()).isSameAs(group.get(1));
        }
        try (LoopGroup group = LoopGroup.perCore()) {
            assertThat(group.size()).isEqualTo(Runtime.getRuntime().availableProcessors());
        }
        assertThatIllegalArgumentException().isThrownBy(() -> LoopGroup.start(0));
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("gave up waiting").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void C2_whoeverNoLongerWaitsForAllLoopsCancelsTheBodies() throws Exception {
        try (LoopGroup group = LoopGroup.start(3)) {
            AtomicInteger begun = new AtomicInteger();
            AtomicInteger cancelled = new AtomicInteger();
            Callable<Integer> body = () -> {
                begun.incrementAndGet();
                try {
                    Asyncio.sleepMs(60_000);
                } finally {
                    cancelled.incrementAndGet();
                }
                return 1;
            };
            Thread me = Thread.currentThread();
            Thread.ofPlatform().daemon().start(() -> {
                while (begun.get() < 3) {
                    Thread.onSpinWait();
                }
                me.interrupt();
            });
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> group.runOnAll(body));
            until(() -> cancelled.get() == 3);
            Task<?> caller = group.get(0).createTask(() -> group.runOnAll(body));
            until(() -> begun.get() == 6);
            caller.cancel();
            until(() -> cancelled.get() == 6 && caller.done());
            assertThat(caller.cancelled()).isTrue();
            group.get(2).close();
            assertThatIllegalStateException().isThrownBy(() -> group.runOnAll(body));
            until(() -> cancelled.get() == begun.get());
        }
    }

    @Test
    void S13_aGroupIsNotHalfClosedFromWithin() throws Exception {
        try (LoopGroup group = LoopGroup.start(3)) {
            LoopGroup.runOn(group.get(1), () -> {
                assertThatIllegalStateException().isThrownBy(group::close).withMessageContaining("from within");
                return null;
            });
            assertThat(group.runOnAll(() -> 1)).containsExactly(1, 1, 1);
        }
    }

    @Test
    void fromTaskToLoopAndBackWithoutStoppingTheOwnLoop() throws Exception {
        try (LoopGroup group = LoopGroup.start(2)) {
            EventLoop a = group.get(0);
            EventLoop b = group.get(1);
            LoopGroup.runOn(a, () -> {
                AtomicInteger own = new AtomicInteger();
                Task<?> ticker = Asyncio.createTask(() -> {
                    while (true) {
                        own.incrementAndGet();
                        Asyncio.sleepMs(1);
                    }
                });
                assertThat(LoopGroup.runOn(b, () -> {
                            while (own.get() < 10) { // only a loop that goes on gets there
                                Asyncio.sleepMs(1);
                            }
                            return LoopGroup.runOn(a, () -> "nested");
                        }))
                        .isEqualTo("nested");
                ticker.cancel();
                return own.get();
            });
        }
    }

    @Test
    void C2_aCancelOfTheCallerCancelsTheBody() throws Exception {
        try (LoopGroup group = LoopGroup.start(2)) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch cancelled = new CountDownLatch(1);
            Task<?> caller = group.get(0)
                    .createTask(() -> LoopGroup.runOn(group.get(1), () -> {
                        begun.countDown();
                        try {
                            Asyncio.sleepMs(60_000);
                            return 1;
                        } catch (CancelledError e) {
                            cancelled.countDown();
                            throw e;
                        }
                    }));
            begun.await();
            caller.cancel();
            assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** What belongs to one loop cannot be waited for on another: an error at once, not a lost wake. */
    @Test
    void S13_waitingForAnotherLoopsObjectIsAnError() throws Exception {
        try (LoopGroup group = LoopGroup.start(2)) {
            Event event = new Event();
            Task<?> owner = group.get(0).createTask(() -> event.await());
            while (LoopGroup.runOn(group.get(0), () -> Asyncio.allTasks().size()) > 2) {
                Thread.sleep(1);
            }
            Thread.sleep(20);
            assertThatIllegalStateException()
                    .isThrownBy(() -> LoopGroup.runOn(group.get(1), () -> {
                        event.await();
                        return true;
                    }));
            event.set();
            assertThat(owner.get(20, TimeUnit.SECONDS)).isNull();
        }
    }

    /** The preemption that one loop cannot give: the urgent loop answers while the other one computes. */
    @Test
    void twoLoopsOfDifferentUrgency() throws Exception {
        List<String> reports = Collections.synchronizedList(new ArrayList<>());
        try (LoopGroup group = LoopGroup.start(2, (settings, number) -> {
            settings.exceptionHandler(e -> reports.add(e.message()));
            if (number == 1) {
                settings.name("urgent").thread(t -> t.cpu(0).realtime(50).timerSlack(1));
            }
        })) {
            CountDownLatch go = new CountDownLatch(1);
            AtomicInteger answered = new AtomicInteger();
            Task<Boolean> computation = group.get(0).createTask(() -> {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                go.countDown();
                while (answered.get() == 0 && System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                return answered.get() == 1;
            });
            go.await();
            assertThat(LoopGroup.runOn(group.get(1), answered::incrementAndGet)).isEqualTo(1);
            assertThat(computation.get()).isTrue();
        }
        assertThat(reports).hasSizeLessThanOrEqualTo(1).allMatch(m -> m.contains("realtime(50)"));
    }

    /** On its processor and with its timer slack while it carries the loop; afterwards the thread is as it was. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void S10_aThreadIsTunedForAsLongAsItCarriesTheLoop() throws Exception {
        String before = processors();
        int last = Integer.parseInt(before.substring(before.lastIndexOf(before.contains("-") ? '-' : ',') + 1));
        long slack = LoopThread.timerSlack();
        try (EventLoop loop =
                EventLoop.builder().thread(t -> t.cpu(last).timerSlack(7)).build()) {
            assertThat(loop.run(LoopGroupTest::processors)).isEqualTo(Integer.toString(last));
            assertThat(loop.run(LoopThread::timerSlack)).isEqualTo(7);
            try (EventLoop other = EventLoop.create()) {
                assertThat(other.run(LoopThread::timerSlack))
                        .as("of its own accord")
                        .isEqualTo(1);
            }
            assertThat(processors()).isEqualTo(before);
            assertThat(LoopThread.timerSlack()).isEqualTo(slack);
        }
    }

    /** A process that may use one processor only, and that not the first: its loop is pinned to that one, and nothing is refused. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void S10_aLoopPerCoreKeepsToTheCoresOfItsProcess() throws Exception {
        int[] mine = ThreadSettings.processors();
        assertThat(mine).hasSize(Runtime.getRuntime().availableProcessors());
        String last = Integer.toString(mine[mine.length - 1]);
        List<String> command = new ArrayList<>(List.of("taskset", "-c", last));
        command.addAll(ChildJvm.command(ChildJvm.FLAGS, PerCore.class));
        Process p;
        try {
            p = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            Assumptions.abort("no taskset: " + e.getMessage());
            return;
        }
        try {
            assertThat(p.inputReader().lines().toList()).containsExactly("[" + last + "]");
            assertThat(p.waitFor()).isZero();
        } finally {
            p.destroyForcibly();
        }
    }

    static final class PerCore {
        private PerCore() {}

        public static void main(String[] arguments) throws Exception {
            try (LoopGroup group = LoopGroup.perCore()) {
                IO.println(group.runOnAll(LoopGroupTest::processors)); // a refusal would be logged, to the same place
            }
        }
    }

    /** A short time slice of its own accord, 0.1 s after the first loop of the JVM began; afterwards the thread's own. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void S10_aLoopsThreadTakesShortTurnsForAsLongAsItCarriesTheLoop() throws Exception {
        long before = ThreadTuning.timeSlice();
        assumeThat(before).as("the kernel tells time slices (6.12 and newer)").isPositive();
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                while (ThreadTuning.timeSlice() == before && System.nanoTime() < end) {
                    Asyncio.sleepMs(1);
                }
            });
            assertThat(loop.run(ThreadTuning::timeSlice)).isEqualTo(100_000);
            assertThat(ThreadTuning.timeSlice()).isEqualTo(before);
        }
        try (EventLoop loop =
                EventLoop.builder().thread(t -> t.timeSlice(7_000_000)).build()) {
            assertThat(loop.run(ThreadTuning::timeSlice)).isEqualTo(7_000_000);
        }
        try (EventLoop loop = EventLoop.builder().thread(t -> t.timeSlice(0)).build()) {
            assertThat(loop.run(ThreadTuning::timeSlice)).isEqualTo(before);
        }
    }

    /** Those that the calling thread, or the one that carries the calling task, may run on: 0-1, or 3. */
    private static String processors() throws IOException {
        String name = "Cpus_allowed_list:";
        return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .orElseThrow()
                .substring(name.length())
                .strip();
    }

    @Test
    void S10_whatTheSystemRefusesIsReportedOnceAndTheLoopRuns() throws Exception {
        List<String> reports = Collections.synchronizedList(new ArrayList<>());
        try (EventLoop loop = EventLoop.builder()
                .exceptionHandler(e -> reports.add(e.message()))
                .thread(t -> t.cpu(1023)) // there is no such processor
                .build()) {
            assertThat(loop.run(() -> 1)).isEqualTo(1);
            assertThat(loop.run(() -> {
                        Asyncio.sleepMs(1);
                        return 2;
                    }))
                    .isEqualTo(2);
        }
        assertThat(reports).singleElement().asString().contains("1023");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EventLoop.builder().thread(t -> t.cpu(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EventLoop.builder().thread(t -> t.realtime(100)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EventLoop.builder().thread(t -> t.timerSlack(0)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EventLoop.builder().thread(t -> t.timeSlice(99_999)));
    }

    /** Where the system allows it, the thread is real-time while it carries the loop; else that is told, once, and all goes on. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void S10_realTimeIsHadOrItsRefusalToldOnce() throws Exception {
        RealTime here = RealTime.asked();
        boolean allowed = here.reports.isEmpty();
        assertThat(here.policies).containsExactly(allowed ? "1 50" : "0 0", allowed ? "1 50" : "0 0", "0 0");
        assertThat(here.reports).hasSize(allowed ? 0 : 1);

        List<String> command = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"));
        }
        command.addAll(List.of("prlimit", "--rtprio=0:0"));
        command.addAll(ChildJvm.command(ChildJvm.FLAGS, RealTime.class));
        Process refused;
        try {
            refused = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            Assumptions.abort("no way to give up the right: " + e.getMessage());
            return;
        }
        try {
            List<String> said = refused.inputReader().lines().toList();
            assertThat(said).hasSize(4);
            assertThat(said.subList(0, 3)).containsOnly("0 0");
            assertThat(said.getLast()).contains("realtime(50)", "permitted");
            assertThat(refused.waitFor()).isZero();
        } finally {
            refused.destroyForcibly();
        }
    }

    /** Asks for it in two runs of a loop: policy and priority in each and behind them, and what was reported. */
    static final class RealTime {
        final List<String> policies = new ArrayList<>();
        final List<String> reports = new ArrayList<>();

        static RealTime asked() throws Exception {
            RealTime r = new RealTime();
            try (EventLoop loop = EventLoop.builder()
                    .exceptionHandler(e -> r.reports.add(e.message()))
                    .thread(t -> t.realtime(50))
                    .build()) {
                for (int i = 0; i < 2; i++) {
                    r.policies.add(loop.run(() -> {
                        Asyncio.sleepMs(2);
                        return policy();
                    }));
                }
            }
            r.policies.add(policy());
            return r;
        }

        /** Of the calling thread, or the one that carries the calling task: 0 for SCHED_OTHER, 1 for SCHED_FIFO. */
        private static String policy() throws IOException {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" "); // the first is the 3rd of proc(5)
            return fields[41 - 3] + " " + fields[40 - 3];
        }

        public static void main(String[] arguments) throws Exception {
            RealTime r = asked();
            r.policies.forEach(IO::println);
            r.reports.forEach(IO::println);
        }
    }

    /** As posts do: what was accepted before the close has run, or is told cancelled; then there is an error, and never silence. */
    @Test
    void S13_runOnThatRacesWithTheCloseHasADefinedResult() throws Exception {
        AtomicInteger ends = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        for (int round = 0; round < 50; round++) {
            EventLoop loop = EventLoop.create();
            loop.start();
            List<Thread> threads = new ArrayList<>();
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            for (int i = 0; i < 3; i++) {
                threads.add(Thread.ofPlatform().daemon().start(() -> {
                    try {
                        while (true) {
                            int before = ran.get();
                            int value = LoopGroup.runOn(loop, ran::incrementAndGet);
                            if (value <= before) {
                                wrong.set(new AssertionError("not run: " + value));
                            }
                        }
                    } catch (CancellationException e) {
                        ends.incrementAndGet();
                    } catch (IllegalStateException e) {
                        if (String.valueOf(e.getMessage()).equals("event loop is closed")) {
                            ends.incrementAndGet();
                        }
                    } catch (Exception e) {
                        wrong.set(e);
                    }
                }));
            }
            Thread.sleep(1);
            loop.close();
            for (Thread t : threads) {
                t.join(20_000);
                assertThat(t.isAlive()).isFalse();
            }
            assertThat(wrong.get()).isNull();
        }
        assertThat(ran).hasPositiveValue();
        assertThat(ends).hasValue(50 * 3);
    }

    @Test
    void channelsLoseNothingBetweenLoopsAndThreads() throws Exception {
        try (LoopGroup group = LoopGroup.start(2)) {
            Channel<Integer> channel = new Channel<>(4);
            int each = 20_000;
            AtomicInteger open = new AtomicInteger(3);
            Runnable done = () -> {
                if (open.decrementAndGet() == 0) {
                    channel.close();
                }
            };
            for (EventLoop loop : group) {
                var _ = loop.createTask(() -> {
                    for (int i = 0; i < each; i++) {
                        channel.send(i);
                    }
                    done.run();
                });
            }
            Thread.ofPlatform().daemon().start(() -> {
                for (int i = 0; i < each; i++) {
                    channel.send(i);
                }
                done.run();
            });
            AtomicLong sum = new AtomicLong();
            AtomicInteger count = new AtomicInteger();
            List<Task<?>> receivers = new ArrayList<>();
            for (EventLoop loop : group) {
                receivers.add(loop.createTask(() -> {
                    for (int i : channel) {
                        sum.addAndGet(i);
                        count.incrementAndGet();
                    }
                }));
            }
            for (int i : channel) {
                sum.addAndGet(i);
                count.incrementAndGet();
            }
            for (Task<?> t : receivers) {
                t.get(30, TimeUnit.SECONDS);
            }
            assertThat(count).hasValue(3 * each);
            assertThat(sum).hasValue(3L * each * (each - 1) / 2);
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(() -> channel.send(1));
            assertThatExceptionOfType(QueueClosedException.class).isThrownBy(channel::receive);
        }
    }

    @Test
    void C6_aCancelledReceiverTakesNothingAndPassesItsWakeOn() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> {
                Channel<String> channel = new Channel<>(1);
                Task<String> first = Asyncio.createTask(channel::receive);
                Task<String> second = Asyncio.createTask(channel::receive);
                Asyncio.yieldNow();
                Asyncio.yieldNow();
                channel.send("item");
                first.cancel();
                assertThat(Asyncio.waitFor(second::await, Duration.ofSeconds(20)))
                        .isEqualTo("item");
                assertThat(channel.poll(Duration.ofMillis(1))).isNull();
                channel.send("in");
                assertThat(channel.offer("no room", Duration.ofMillis(1))).isFalse();
                Task<?> sender = Asyncio.createTask(() -> channel.send("cancelled"));
                Asyncio.yieldNow();
                sender.cancel();
                assertThat(channel.receive()).isEqualTo("in");
                assertThat(channel.poll(Duration.ofMillis(1))).isNull();
                assertThat(channel.size()).isZero();
                channel.close();
            });
        }
    }

    @Test
    void aServerPerLoopSharesOnePort() throws Exception {
        try (LoopGroup group = LoopGroup.start(2)) {
            List<AtomicInteger> served = List.of(new AtomicInteger(), new AtomicInteger());
            int port = 0;
            for (int i = 0; i < 2; i++) {
                int number = i;
                int wanted = port;
                port = LoopGroup.runOn(
                        group.get(i),
                        () -> io.fastio.stream.Streams.startServer(
                                        (reader, writer) -> {
                                            served.get(number).incrementAndGet();
                                            writer.write(reader.readLine()
                                                    .getBytes(java.nio.charset.StandardCharsets.UTF_8));
                                        },
                                        "127.0.0.1",
                                        wanted,
                                        io.fastio.stream.ServerOptions.defaults()
                                                .reusePort(true))
                                .port());
            }
            int at = port;
            for (int i = 0; i < 40; i++) {
                try (java.net.Socket s = new java.net.Socket(java.net.InetAddress.getLoopbackAddress(), at)) {
                    s.getOutputStream().write("hello\n".getBytes(java.nio.charset.StandardCharsets.UTF_8));
                    assertThat(s.getInputStream().readAllBytes()).hasSize(5);
                }
            }
            assertThat(served.get(0).get() + served.get(1).get()).isEqualTo(40);
            assertThat(served).allMatch(n -> n.get() > 0); // by chance alone: once in 500 billion
        }
    }
}
