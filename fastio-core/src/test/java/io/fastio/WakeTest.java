package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.sync.Event;
import io.fastio.sync.ThreadSafeFlag;
import io.fastio.time.IdleStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Wakes from outside: other threads, native code, signals; idle strategies; broken channels. */
@Timeout(120)
final class WakeTest {
    private final List<String> reports = Collections.synchronizedList(new ArrayList<>());

    private EventLoop.Builder settings() {
        return EventLoop.builder().exceptionHandler(e -> reports.add(e.message()));
    }

    private static void until(java.util.function.BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("gave up waiting").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private static void rest(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Thread> start(int threads, Runnable work) {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(Thread.ofPlatform().daemon().start(work));
        }
        return all;
    }

    // ---- W1

    /** Ten million sets from four threads: the last one is always seen, and a sleep is ended by one wake at most. */
    @Test
    void W1_tenMillionSetsFromFourThreadsLoseNothing() throws Exception {
        try (EventLoop loop = settings().build()) {
            ThreadSafeFlag flag = new ThreadSafeFlag();
            AtomicLong sets = new AtomicLong();
            AtomicLong seen = new AtomicLong();
            AtomicLong steps = new AtomicLong();
            var _ = loop.createTask(() -> {
                while (true) {
                    flag.await();
                    steps.incrementAndGet();
                    seen.set(sets.get());
                }
            });
            loop.start();
            int each = 2_500_000;
            List<Thread> threads = start(4, () -> {
                for (int i = 0; i < each; i++) {
                    sets.getAndIncrement();
                    flag.set();
                }
            });
            for (Thread t : threads) {
                t.join();
            }
            until(() -> seen.get() == 4L * each);
            LoopCounters c = loop.counters();
            assertThat(c.wakes()).isLessThanOrEqualTo(c.sleeps());
            assertThat(c.coalesced()).isGreaterThan(each);
            assertThat(steps.get()).isLessThan(4L * each);
        }
        assertThat(reports).isEmpty();
    }

    /** A busy loop is never woken: what is posted to it costs no system call. */
    @Test
    void W1_aBusyLoopIsNotWoken() throws Exception {
        try (EventLoop loop = settings().build()) {
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger posts = new AtomicInteger();
            loop.run(() -> {
                start(2, () -> {
                    for (int i = 0; i < 10_000; i++) {
                        loop.callSoon(posts::incrementAndGet);
                    }
                });
                while (posts.get() < 20_000) {
                    Asyncio.yieldNow();
                }
                over.set(true);
            });
            assertThat(over).isTrue();
            assertThat(loop.counters().wakes()).isZero();
        }
    }

    /** A million posts while the loop is stuck in a step: none is lost, and one source has one place in the inbox. */
    @Test
    void W1_aMillionPostsToAStuckLoopArriveAndMerge() throws Exception {
        try (EventLoop loop = settings().build()) {
            AtomicInteger calls = new AtomicInteger();
            AtomicInteger acts = new AtomicInteger();
            Signal source = new Signal(loop) {
                @Override
                protected void act() {
                    acts.incrementAndGet();
                }
            };
            loop.run(() -> {
                List<Thread> threads = start(4, () -> {
                    for (int i = 0; i < 250_000; i++) {
                        source.raise();
                        if (i % 10 == 0) {
                            loop.callSoon(calls::incrementAndGet);
                        }
                    }
                });
                stuckUntil(threads);
                assertThat(acts).hasValue(0);
                Asyncio.yieldNow();
                assertThat(acts).hasValue(1);
                while (calls.get() < 100_000) {
                    Asyncio.yieldNow();
                }
            });
            assertThat(loop.counters().coalesced()).isEqualTo(999_999);
        }
    }

    /** A step that never gives the loop away. */
    private static void stuckUntil(List<Thread> threads) {
        for (Thread t : threads) {
            while (t.isAlive()) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void S13_postsThatRaceWithCloseHaveADefinedResult() throws Exception {
        for (int round = 0; round < 100; round++) {
            EventLoop loop = settings().build();
            loop.start();
            AtomicInteger accepted = new AtomicInteger();
            AtomicInteger ran = new AtomicInteger();
            List<Thread> threads = start(2, () -> {
                try {
                    while (true) {
                        loop.callSoon(ran::incrementAndGet);
                        accepted.incrementAndGet();
                        while (accepted.get() - ran.get() > 1000 && !loop.isClosed()) {
                            Thread.onSpinWait();
                        }
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessage("event loop is closed");
                }
            });
            rest(1);
            loop.close();
            for (Thread t : threads) {
                t.join();
            }
            assertThat(ran).hasValue(accepted.get());
        }
    }

    // ---- W2

    @Test
    void W2_batchedSetsShareOneWakePerTick() throws Exception {
        try (EventLoop loop = settings().build()) {
            AtomicInteger sets = new AtomicInteger();
            AtomicInteger seen = new AtomicInteger();
            ThreadSafeFlag flag = new ThreadSafeFlag(Priority.NORMAL, WakePolicy.BATCHED);
            var _ = loop.createTask(() -> {
                while (true) {
                    flag.await();
                    seen.set(sets.get());
                }
            });
            loop.start();
            rest(20);
            long wakesBefore = loop.counters().wakes();
            long begin = System.nanoTime();
            for (int i = 0; i < 1000; i++) {
                sets.incrementAndGet();
                flag.set();
                long next = System.nanoTime() + 50_000;
                while (System.nanoTime() < next) {
                    Thread.onSpinWait();
                }
            }
            until(() -> seen.get() == 1000);
            long ticks = (System.nanoTime() - begin) / 1_000_000 + 2;
            assertThat(loop.counters().wakes() - wakesBefore).isBetween(1L, ticks);
        }
    }

    /** With a tick of a minute: what wakes a loop for something else, or has it go to sleep, brings the batched ones as well. */
    @Test
    void W2_aBatchedSetComesWithOtherWakesAndBeforeASleep() throws Exception {
        try (EventLoop loop = settings().tick(Duration.ofMinutes(1)).build()) {
            loop.run(() -> {
                Event batched = new Event(Priority.NORMAL, WakePolicy.BATCHED);
                for (int i = 0; i < 10; i++) {
                    Task<?> waiter = Asyncio.createTask(() -> batched.await());
                    Asyncio.yieldNow();
                    stuckUntil(start(1, batched::set));
                    stuckUntil(start(1, () -> loop.callSoon(() -> {})));
                    Asyncio.yieldNow();
                    Asyncio.yieldNow();
                    assertThat(waiter.done()).isTrue();
                    batched.clear();

                    Task<?> sleeper = Asyncio.createTask(() -> batched.await());
                    Asyncio.yieldNow();
                    stuckUntil(start(1, batched::set));
                    for (int k = 0; k < 3; k++) {
                        Asyncio.sleepMs(1);
                    }
                    assertThat(sleeper.done()).isTrue();
                    batched.clear();
                }
            });
        }
    }

    /** A loop that never sleeps, and that nobody else wakes. */
    @Test
    void W2_aBatchedSetIsSeenAtTheNextTickOfABusyLoop() throws Exception {
        try (EventLoop loop = settings().tick(Duration.ofMillis(5)).build()) {
            loop.run(() -> {
                Event batched = new Event(Priority.NORMAL, WakePolicy.BATCHED);
                List<Long> late = new ArrayList<>();
                for (int i = 0; i < 9; i++) {
                    Task<?> waiter = Asyncio.createTask(() -> batched.await());
                    Asyncio.yieldNow();
                    stuckUntil(start(1, batched::set));
                    long set = System.nanoTime();
                    while (!waiter.done()) {
                        Asyncio.yieldNow();
                    }
                    late.add(System.nanoTime() - set);
                    batched.clear();
                }
                Collections.sort(late);
                assertThat(late.get(4)).as("the median").isLessThan(TimeUnit.MILLISECONDS.toNanos(30));
            });
        }
    }

    /** A loop with nothing else to do sees it at its tick: not at once, and not much later. */
    @Test
    void W2_aBatchedSetIsSeenAtTheNextTickOfAnIdleLoop() throws Exception {
        try (EventLoop loop = settings().tick(Duration.ofMillis(40)).build()) {
            AtomicLong seenAt = new AtomicLong();
            Event batched = new Event(Priority.NORMAL, WakePolicy.BATCHED);
            var _ = loop.createTask(() -> {
                while (true) {
                    batched.await();
                    batched.clear();
                    seenAt.set(System.nanoTime());
                }
            });
            loop.start();
            List<Long> late = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                rest(5 + 7 * i % 40); // at any moment of a tick
                seenAt.set(0);
                long set = System.nanoTime();
                batched.set();
                until(() -> seenAt.get() != 0);
                late.add(seenAt.get() - set);
            }
            Collections.sort(late);
            assertThat(late.getFirst()).as("the soonest").isLessThan(TimeUnit.MILLISECONDS.toNanos(60));
            assertThat(late.get(4)).as("the median").isLessThan(TimeUnit.MILLISECONDS.toNanos(80));
            assertThat(late.getLast()).as("the latest").isGreaterThan(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    @Test
    void W2_aBatchedPostBeforeTheEndIsServedAndOneAfterItRefused() {
        EventLoop loop = settings().build();
        AtomicInteger acts = new AtomicInteger();
        Signal s = new Signal(loop, WakePolicy.BATCHED) {
            @Override
            protected void act() {
                acts.incrementAndGet();
            }
        };
        assertThat(s.raise()).isTrue();
        loop.close();
        assertThat(acts).hasValue(1);
        assertThat(s.raise()).isFalse();
    }

    /** A sleep that ends for nothing is counted, one that a post ends is a wake. */
    @Test
    void W2_countersTellEmptyTurnsFromWakes() throws Exception {
        try (EventLoop loop = settings().name("woken-for-nothing").build()) {
            AtomicInteger calls = new AtomicInteger();
            loop.start();
            Thread carrier = threadNamed("woken-for-nothing");
            long empty = loop.counters().emptyTurns();
            for (int i = 1; i <= 5; i++) {
                rest(5);
                long wanted = empty + i;
                until(() -> {
                    LockSupport.unpark(carrier);
                    return loop.counters().emptyTurns() >= wanted;
                });
            }
            assertThat(loop.counters().wakes()).isLessThanOrEqualTo(1); // by start()
            rest(20);
            LoopCounters before = loop.counters();
            loop.callSoon(calls::incrementAndGet);
            until(() -> calls.get() == 1);
            rest(20);
            assertThat(loop.counters().wakes()).isEqualTo(before.wakes() + 1);
            assertThat(loop.counters().emptyTurns()).isEqualTo(before.emptyTurns());
        }
    }

    @Test
    void W2_ticksEndWithTheirUsers() throws Exception {
        try (EventLoop loop = settings().build()) {
            AtomicInteger ticks = new AtomicInteger();
            Signal s = new Signal(loop) {
                @Override
                protected void act() {
                    ticks.incrementAndGet();
                }
            };
            loop.start();
            s.everyTick(true);
            s.everyTick(true);
            until(() -> ticks.get() >= 5);
            s.everyTick(false);
            rest(20);
            int after = ticks.get();
            rest(60); // past the time for which the source lingers
            assertThat(ticks).hasValue(after);
            s.everyTick(true);
            until(() -> ticks.get() > after);
        }
    }

    // ---- S10

    @Test
    void S10_strategiesWakeAndMayChangeWhileTheLoopRuns() throws Exception {
        try (EventLoop loop = settings().build()) {
            AtomicInteger seen = new AtomicInteger();
            Event event = new Event();
            var _ = loop.createTask(() -> {
                while (true) {
                    event.await();
                    event.clear();
                    seen.incrementAndGet();
                }
            });
            loop.start();
            for (int round = 0; round < 3; round++) {
                for (IdleStrategy s : List.of(
                        IdleStrategy.SPIN,
                        IdleStrategy.BLOCK,
                        IdleStrategy.backoff(Duration.ofMillis(1)),
                        IdleStrategy.powersave(Duration.ofMillis(5)))) {
                    loop.idleStrategy(s);
                    for (int i = 0; i < 3; i++) {
                        rest(2);
                        int before = seen.get();
                        event.set();
                        until(() -> seen.get() > before);
                    }
                }
            }
        }
    }

    /** A strategy that was chosen while the loop runs is the one it has: seen by its sleeps, and by its processor time. */
    @Test
    void S10_eachStrategyDoesWhatItSays() throws Exception {
        try (EventLoop loop = settings().name("many-strategies").build()) {
            loop.start();
            rest(50);
            long id = threadNamed("many-strategies").threadId();
            for (int round = 0; round < 2; round++) {
                chosen(loop, IdleStrategy.SPIN);
                long cpu = cpuOf(id);
                long sleeps = loop.counters().sleeps();
                rest(200);
                assertThat(cpuOf(id) - cpu).as("SPIN").isGreaterThan(TimeUnit.MILLISECONDS.toNanos(15));
                assertThat(loop.counters().sleeps()).as("SPIN").isEqualTo(sleeps);

                chosen(loop, IdleStrategy.BLOCK);
                rest(20);
                cpu = cpuOf(id);
                rest(100);
                assertThat(cpuOf(id) - cpu).as("BLOCK").isLessThan(TimeUnit.MILLISECONDS.toNanos(5));

                long begun = System.nanoTime();
                chosen(loop, IdleStrategy.backoff(Duration.ofMillis(100)));
                long before = loop.counters().sleeps();
                until(() -> loop.counters().sleeps() > before);
                assertThat(System.nanoTime() - begun)
                        .as("BACKOFF")
                        .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
                cpu = cpuOf(id);
                rest(100);
                assertThat(cpuOf(id) - cpu).as("BACKOFF").isLessThan(TimeUnit.MILLISECONDS.toNanos(5));
            }
        }
    }

    private static void chosen(EventLoop loop, IdleStrategy s) throws Exception {
        loop.idleStrategy(s);
        CountDownLatch seen = new CountDownLatch(1);
        loop.callSoon(seen::countDown);
        seen.await();
    }

    private static long cpuOf(long thread) {
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread);
    }

    @Test
    void S10_aBlockedLoopUsesNoProcessorTime() throws Exception {
        try (EventLoop loop = settings().name("idle-loop").build()) {
            loop.start();
            rest(50);
            long id = threadNamed("idle-loop").threadId();
            long before = ManagementFactory.getThreadMXBean().getThreadCpuTime(id);
            long sleepsBefore = loop.counters().sleeps();
            rest(300);
            assertThat(ManagementFactory.getThreadMXBean().getThreadCpuTime(id) - before)
                    .isLessThan(TimeUnit.MILLISECONDS.toNanos(5));
            assertThat(loop.counters().sleeps() - sleepsBefore).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void S10_powersaveWakesOncePerSlice() throws Exception {
        try (EventLoop loop =
                settings().idle(IdleStrategy.powersave(Duration.ofMillis(20))).build()) {
            AtomicInteger posts = new AtomicInteger();
            loop.start();
            rest(30);
            long before = loop.counters().sleeps();
            long begin = System.nanoTime();
            for (int i = 0; i < 100; i++) {
                loop.callSoon(posts::incrementAndGet);
                rest(1);
            }
            until(() -> posts.get() == 100);
            long slices = (System.nanoTime() - begin) / TimeUnit.MILLISECONDS.toNanos(20) + 3;
            assertThat(loop.counters().sleeps() - before).isLessThanOrEqualTo(slices);
        }
    }

    @Test
    void S10_pollWaitsForItsTimeWhateverTheStrategy() {
        for (IdleStrategy s : List.of(
                IdleStrategy.BLOCK,
                IdleStrategy.SPIN,
                IdleStrategy.backoff(Duration.ofMillis(3)),
                IdleStrategy.powersave(Duration.ofMillis(2)))) {
            try (EventLoop loop = settings().idle(s).build()) {
                Task<?> sleeper = loop.createTask(() -> Asyncio.sleepMs(20));
                loop.poll(Duration.ZERO);
                long begin = System.nanoTime();
                assertThat(loop.poll(Duration.ofMillis(1))).as("%s", s).isFalse();
                assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(1_000_000);
                assertThat(loop.poll(Duration.ofSeconds(20))).as("%s", s).isTrue();
                assertThat(sleeper.done()).isTrue();
                begin = System.nanoTime();
                Thread.ofPlatform().daemon().start(() -> {
                    rest(20);
                    loop.stop();
                });
                assertThat(loop.poll(Duration.ofSeconds(20))).isFalse();
                assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(10));
            }
        }
    }

    /** What comes to a loop that saves power waits for the end of the slice, but for its own settings and its end. */
    @Test
    void S10_aChangeOfTheStrategyAndTheEndDoNotWaitForASlice() throws Exception {
        IdleStrategy slow = IdleStrategy.powersave(Duration.ofMinutes(5));
        try (EventLoop loop = settings().idle(slow).build()) {
            AtomicInteger posts = new AtomicInteger();
            loop.start();
            for (IdleStrategy other : List.of(IdleStrategy.BLOCK, IdleStrategy.SPIN)) {
                rest(50); // within a slice
                loop.callSoon(posts::incrementAndGet);
                rest(50);
                int before = posts.get();
                loop.idleStrategy(other);
                until(() -> posts.get() == before + 1);
                loop.idleStrategy(slow);
            }
            rest(50);
            long begin = System.nanoTime();
            loop.stop();
            loop.close();
            assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(5));
        }
    }

    private static Thread threadNamed(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** F97: an interrupt neither spins the loop nor closes a channel in use. */
    @Test
    void W1_interruptsOfTheLoopThreadDoNoHarm() throws Exception {
        try (EventLoop loop = settings().name("interrupted-loop").build()) {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            AtomicInteger read = new AtomicInteger();
            var _ = loop.createTask(() -> {
                try (Watch w = Watch.of(pipe.source(), null)) {
                    ByteBuffer b = ByteBuffer.allocate(8);
                    while (true) {
                        w.awaitReadable();
                        int n = pipe.source().read(b.clear());
                        if (n > 0) {
                            read.addAndGet(n);
                        } else {
                            w.readWouldBlock();
                        }
                    }
                }
            });
            loop.start();
            pipe.sink().write(ByteBuffer.wrap(new byte[] {0}));
            until(() -> read.get() == 1); // what a first wait has to link takes tens of milliseconds of processor time
            rest(30);
            Thread carrier = threadNamed("interrupted-loop");
            long id = carrier.threadId();
            long cpuBefore = ManagementFactory.getThreadMXBean().getThreadCpuTime(id);
            for (int i = 0; i < 20; i++) {
                carrier.interrupt();
                rest(2);
            }
            rest(100);
            assertThat(ManagementFactory.getThreadMXBean().getThreadCpuTime(id) - cpuBefore)
                    .isLessThan(TimeUnit.MILLISECONDS.toNanos(40));
            pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
            until(() -> read.get() == 2);
            assertThat(pipe.source().isOpen()).isTrue();
            pipe.sink().close();
        }
    }

    // ---- F92

    /** The kernel's end of the poller is gone: nothing is accepted in silence by a loop that cannot go on. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void S13_aLoopWhosePollerFailsIsClosedAndSaysSo() throws Throwable {
        try (EventLoop loop = settings().poller(EventLoop.PollerKind.EPOLL).build()) {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            Task<?> reader = loop.createTask(() -> {
                try (Watch w = Watch.of(pipe.source(), null)) {
                    w.awaitReadable();
                }
            });
            loop.start();
            rest(50); // it waits in the poller now
            int epfd = descriptor(loop, "epfd");
            assertThat((int) libc("dup2", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)
                            .invokeWithArguments(0, epfd))
                    .isEqualTo(epfd); // another file has its number
            loop.callSoon(() -> {});
            until(loop::isClosed);
            until(() -> !reports.isEmpty());
            assertThat(reports).anyMatch(m -> m.contains("cannot go on") && m.contains("EINVAL"));
            until(reader::done);
            assertThatIllegalStateException().isThrownBy(() -> loop.createTask(() -> 1));
            assertThatIllegalStateException().isThrownBy(() -> loop.callSoon(() -> {}));
            pipe.sink().close();
            pipe.source().close();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void W1_aBrokenWakeChannelIsMadeAnewAndReported() throws Throwable {
        try (EventLoop loop = settings().poller(EventLoop.PollerKind.EPOLL).build()) {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            AtomicInteger calls = new AtomicInteger();
            Task<?> reader = loop.createTask(() -> {
                try (Watch w = Watch.of(pipe.source(), null)) {
                    w.awaitReadable();
                }
            });
            loop.start();
            rest(50); // it waits in the poller now
            for (int i = 1; i <= 3; i++) {
                closeWakeChannel(loop);
                int n = i;
                loop.callSoon(calls::incrementAndGet);
                until(() -> calls.get() == n && reports.size() == n);
                rest(20);
            }
            assertThat(reports).allMatch(m -> m.contains("wake channel"));
            pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
            assertThat(reader.get(20, TimeUnit.SECONDS)).isNull();
        }
    }

    private static void closeWakeChannel(EventLoop loop) throws Throwable {
        assertThat((int) libc("close", ValueLayout.JAVA_INT).invokeWithArguments(descriptor(loop, "wakeFd")))
                .isZero();
    }

    private static int descriptor(EventLoop loop, String which) throws Exception {
        Object poller = loop.poller();
        Method fd = poller.getClass().getDeclaredMethod(which);
        fd.setAccessible(true);
        return (int) fd.invoke(poller);
    }

    private static MethodHandle libc(String function, ValueLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(function), FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }

    // ---- native code and signals

    /** A thread of the C library calls back into Java and sets a flag. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void W1_aNativeUpcallWakesATask(@TempDir Path folder) throws Throwable {
        Path source = folder.resolve("source.c");
        Files.writeString(source, """
                #include <pthread.h>
                #include <unistd.h>
                static void (*callback)(void);
                static int times;
                static void *run(void *unused) {
                    for (int i = 0; i < times; i++) { usleep(500); callback(); }
                    return 0;
                }
                int start(void (*f)(void), int n) {
                    pthread_t t;
                    callback = f; times = n;
                    if (pthread_create(&t, 0, run, 0)) return 1;
                    return pthread_detach(t);
                }
                """);
        Path library = folder.resolve("libsource.so");
        Process gcc;
        try {
            gcc = new ProcessBuilder("gcc", "-shared", "-fPIC", "-pthread", "-o", library.toString(), source.toString())
                    .inheritIO()
                    .start();
        } catch (java.io.IOException e) {
            Assumptions.abort("no gcc: " + e.getMessage());
            return;
        }
        assertThat(gcc.waitFor()).isZero();
        int times = 100;
        AtomicInteger upcalls = new AtomicInteger();
        ThreadSafeFlag flag = new ThreadSafeFlag();
        Linker linker = Linker.nativeLinker();
        MemorySegment callback = linker.upcallStub(
                MethodHandles.lookup()
                        .findVirtual(Interrupt.class, "happened", MethodType.methodType(void.class))
                        .bindTo(new Interrupt(upcalls, flag)),
                FunctionDescriptor.ofVoid(),
                Arena.global());
        int started = (int) linker.downcallHandle(
                        SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow("start"),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                .invokeWithArguments(callback, times);
        assertThat(started).isZero();
        try (EventLoop loop = settings().build()) {
            loop.run(() -> Asyncio.waitFor(
                    () -> {
                        while (upcalls.get() < times) {
                            flag.await();
                        }
                    },
                    Duration.ofSeconds(60)));
        }
    }

    record Interrupt(AtomicInteger upcalls, ThreadSafeFlag flag) {
        void happened() {
            upcalls.incrementAndGet();
            flag.set();
        }
    }

    /** A POSIX signal, by way of the JVM's own dispatcher. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void W1_aPosixSignalWakesATask() throws Exception {
        Class<?> signalClass = Class.forName("sun.misc.Signal");
        Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
        ThreadSafeFlag flag = new ThreadSafeFlag(Priority.URGENT);
        Object usr2 = signalClass.getConstructor(String.class).newInstance("USR2");
        Object handler = Proxy.newProxyInstance(
                handlerClass.getClassLoader(), new Class<?>[] {handlerClass}, (self, method, args) -> {
                    flag.set();
                    return null;
                });
        Object before =
                signalClass.getMethod("handle", signalClass, handlerClass).invoke(null, usr2, handler);
        try (EventLoop loop = settings().build()) {
            loop.run(() -> {
                for (int i = 0; i < 20; i++) {
                    Process kill = new ProcessBuilder(
                                    "kill",
                                    "-USR2",
                                    Long.toString(ProcessHandle.current().pid()))
                            .start();
                    assertThat(flag.awaitWithin(Duration.ofSeconds(30))).isTrue();
                    assertThat(kill.waitFor()).isZero();
                }
            });
        } finally {
            signalClass.getMethod("handle", signalClass, handlerClass).invoke(null, usr2, before);
        }
    }

    // ---- start, poll

    @Test
    void S13_aLoopRunsOnOneThreadAtATime() throws Exception {
        try (EventLoop loop = settings().build()) {
            CountDownLatch runs = new CountDownLatch(1);
            loop.start();
            loop.callSoon(runs::countDown);
            runs.await();
            assertThatIllegalStateException().isThrownBy(loop::start);
            assertThatIllegalStateException().isThrownBy(() -> loop.poll(Duration.ZERO));
        }
    }
}
