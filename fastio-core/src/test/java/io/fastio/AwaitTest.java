package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Event;
import io.fastio.sync.Lock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Waiting for tasks from tasks, other loops and threads; S12, V1, and threads that libraries start inside tasks. */
final class AwaitTest {
    private static <T> T within(Future<T> f) throws Exception {
        return f.get(30, TimeUnit.SECONDS);
    }

    // ---- S12

    @Test
    void S12_aCycleOfAwaitsIsAnErrorThatPrintsTheCycle() throws Exception {
        TestLoop.run(t -> {
            AtomicReference<Task<Object>> a = new AtomicReference<>();
            Task<Object> c = Asyncio.createTask("c", () -> a.get().await());
            Task<Object> b = Asyncio.createTask("b", c::await);
            a.set(Asyncio.createTask("a", b::await));
            Throwable e = TestLoop.thrownBy(a.get()::await);
            assertThat(e).isInstanceOf(IllegalStateException.class).hasMessageContaining("await each other");
            assertThat(e.getMessage()).contains("a -> ").contains("b -> ").contains("c -> ");
            Throwable self = TestLoop.thrownBy(() -> Asyncio.currentTask().await());
            assertThat(self).hasMessageContaining("main -> main");
            Throwable get = TestLoop.thrownBy(() -> Asyncio.currentTask().get());
            assertThat(get).hasMessageContaining("main -> main");
        });
    }

    @Test
    void S12_aCircleOverTwoLoopsIsToldToWhoeverClosesIt() throws Exception {
        try (EventLoop here = EventLoop.builder().name("here").build();
                EventLoop there = EventLoop.builder().name("there").build()) {
            here.start();
            there.start();
            AtomicReference<Task<Object>> first = new AtomicReference<>();
            CountDownLatch begun = new CountDownLatch(1);
            Task<Object> c = there.createTask("c", () -> {
                begun.await();
                Throwable e = TestLoop.thrownBy(() -> first.get().await());
                Throwable get = TestLoop.thrownBy(() -> first.get().get());
                return List.of(String.valueOf(e), String.valueOf(get));
            });
            Task<Object> b = here.createTask("b", c::await); // awaits of one loop and of two in one circle
            first.set(here.createTask("a", b::await));
            while (!(first.get().toString().contains("awaiting b")
                    && b.toString().contains("awaiting c"))) {
                Thread.sleep(1); // two loops, in real time
            }
            begun.countDown();
            String circle =
                    "java.lang.IllegalStateException: tasks await each other: c -> a (on here) -> b (on here) -> c";
            assertThat(within(first.get())).isEqualTo(List.of(circle, circle));
        }
    }

    @Test
    void S12_ofTwoThatCloseACircleAtTheSameTimeOneIsToldAtLeast() throws Exception {
        try (EventLoop here = EventLoop.create();
                EventLoop there = EventLoop.create()) {
            here.start();
            there.start();
            for (int i = 0; i < 500; i++) {
                CyclicBarrier start = new CyclicBarrier(2);
                CompletableFuture<Task<String>> a = new CompletableFuture<>();
                CompletableFuture<Task<String>> b = new CompletableFuture<>();
                a.complete(here.createTask(() -> meetAndAwait(start, b)));
                b.complete(there.createTask(() -> meetAndAwait(start, a)));
                List<String> ends = List.of(within(a.join()), within(b.join()));
                assertThat(ends).contains("told").allMatch(e -> e.equals("told") || e.equals("awaited told"));
            }
        }
    }

    private static String meetAndAwait(CyclicBarrier start, CompletableFuture<Task<String>> other) throws Exception {
        Task<String> t = other.join();
        start.await();
        try {
            return "awaited " + t.await();
        } catch (IllegalStateException circle) {
            return "told";
        }
    }

    @Test
    void S12_anAwaitThatIsOverAlreadyIsNoPartOfACircle() throws Exception {
        TestLoop.run(t -> {
            AtomicReference<Task<Object>> b = new AtomicReference<>();
            Task<Object> a = Asyncio.createTask("a", () -> {
                Asyncio.sleepMs(10);
                b.get().cancel(); // it awaits us, but no longer than until its next step
                return TestLoop.thrownBy(() -> b.get().await());
            });
            b.set(Asyncio.createTask("b", a::await));
            Task<Object> c = Asyncio.createTask("c", a::await); // so that the cancel of b does not pass on to a
            assertThat(c.await()).isInstanceOf(CancelledError.class);
        });
    }

    @Test
    void S12_underVirtualTimeADeadlockOfMainShowsTheTaskTree() throws Exception {
        TestLoop t = TestLoop.open();
        Throwable e = TestLoop.thrownBy(() -> t.loop.run(() -> {
            Task<Void> never = Asyncio.createTask("never", () -> Asyncio.sleepMs(Long.MAX_VALUE));
            Asyncio.createTask("waits too", never::await);
            Asyncio.createTask("takes", () -> new AsyncQueue<String>(1).get());
            Asyncio.createTask("locks", () -> {
                Lock lock = new Lock();
                Asyncio.createTask("holds", () -> {
                    lock.acquire();
                    new Event().await();
                });
                Asyncio.yieldNow();
                lock.acquire();
            });
            Wait.suspend((x, woken) -> true, null, Wait.FOREVER);
        }));
        assertThat(e)
                .isInstanceOf(DeadlockError.class)
                .hasMessageContaining("main: waiting")
                .hasMessageContaining("never: sleeping")
                .hasMessageContaining("waits too: awaiting never")
                .hasMessageContaining("takes: waiting (AsyncQueue)")
                .hasMessageContaining("locks: waiting (Lock)")
                .hasMessageContaining("holds: waiting (Event)");
        t.loop.close();
        assertThat(t.errors()).isEmpty();
    }

    @Test
    void F124_aBackgroundTaskThatSleepsForEverDoesNotKeepTheLoopFromEnding() throws Exception {
        TestLoop t = TestLoop.open(b -> b.shutdownTimeout(Duration.ofMillis(100)));
        t.loop.run(() -> {
            Asyncio.createTask(() -> {
                while (true) {
                    Asyncio.sleepMs(1);
                }
            });
            Asyncio.sleepMs(1_000);
        });
        t.loop.close();
        assertThat(t.ms()).isEqualTo(1_000);
        assertThat(t.errors()).isEmpty();
    }

    // ---- V1

    @Test
    void V1_thirtyDaysOfTimersInAMoment() throws Exception {
        TestLoop.run(t -> {
            int[] ticks = new int[1];
            Asyncio.createTask(() -> {
                while (true) {
                    Asyncio.sleep(Duration.ofMinutes(1));
                    ticks[0]++;
                }
            });
            Asyncio.sleep(Duration.ofDays(30).plusSeconds(1));
            assertThat(ticks[0]).isEqualTo(30 * 24 * 60);
        });
    }

    @Test
    void V1_offloadedWorkHoldsTheClock() throws Exception {
        TestLoop.run(t -> {
            Task<Long> offloaded = Asyncio.createTask(() -> {
                Asyncio.offload(() -> {
                    Thread.sleep(50); // real time on purpose: the virtual clock must not move meanwhile
                    return null;
                });
                return t.loop.time();
            });
            Asyncio.sleepMs(1_000);
            assertThat(offloaded.await()).isZero();
        });
    }

    @Test
    void V1_aTaskInAJdkCallHoldsTheClock() throws Exception {
        TestLoop.run(t -> {
            Task<Long> blocked = Asyncio.createTask(() -> {
                Thread.sleep(50); // real time on purpose: the virtual clock must not move meanwhile
                return t.loop.time();
            });
            Asyncio.sleepMs(1_000);
            assertThat(blocked.await()).isZero();
        });
    }

    @Test
    void V1_abandonedWorkDoesNotHoldTheClock() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        TestLoop t = TestLoop.open();
        t.loop.run(() -> {
            Task<Void> victim = Asyncio.createTask(() -> Asyncio.offload(() -> {
                while (release.getCount() > 0) {
                    Thread.onSpinWait();
                }
                return null;
            }));
            Asyncio.yieldNow();
            victim.cancel();
            Asyncio.sleep(Duration.ofDays(1));
            release.countDown();
        });
        assertThat(t.loop.time()).isEqualTo(Duration.ofDays(1).toNanos());
        t.loop.close();
    }

    @Test
    void V2_theSameProgramGivesTheSameTrace() throws Exception {
        List<List<String>> traces = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            TestLoop.run(t -> {
                java.util.Random random = new java.util.Random(42);
                for (int i = 0; i < 20; i++) {
                    int n = i;
                    t.loop.createTask(TaskOptions.of(Priority.values()[random.nextInt(3)]), () -> {
                        for (int k = 0; k < 20; k++) {
                            t.log(n + " " + t.loop.time());
                            t.hog(random.nextInt(3));
                            Asyncio.sleepNanos(random.nextInt(3_000_000) - 1_000_000);
                        }
                    });
                }
                Asyncio.sleepMs(500);
                traces.add(t.trace());
            });
        }
        assertThat(traces.get(0)).hasSizeGreaterThan(100).isEqualTo(traces.get(1));
    }

    // ---- across loops

    private record Pair(EventLoop a, EventLoop b, Queue<LoopError> errors) implements AutoCloseable {
        static Pair start() {
            Queue<LoopError> errors = new ConcurrentLinkedQueue<>();
            Pair p = new Pair(
                    EventLoop.builder().exceptionHandler(errors::add).build(),
                    EventLoop.builder().exceptionHandler(errors::add).build(),
                    errors);
            p.a.start();
            p.b.start();
            return p;
        }

        @Override
        public void close() {
            a.close();
            b.close();
        }
    }

    @Test
    void awaitingATaskOfAnotherLoop() throws Exception {
        try (Pair p = Pair.start()) {
            for (int i = 0; i < 500; i++) {
                int n = i;
                Task<Integer> there = p.b.createTask(() -> {
                    if (n % 3 == 0) {
                        Asyncio.yieldNow();
                    }
                    return n;
                });
                assertThat(within(p.a.createTask(there::await))).isEqualTo(n);
                assertThat(within(p.a.createTask(() -> there.get()))).isEqualTo(n);
            }
        }
    }

    @Test
    void G3_aFailureAwaitedFromAnotherLoopIsNotReported() throws Exception {
        try (Pair p = Pair.start()) {
            for (int i = 0; i < 10; i++) {
                java.util.concurrent.CountDownLatch begun = new java.util.concurrent.CountDownLatch(1);
                Task<Void> there = p.b.createTask(() -> {
                    while (begun.getCount() > 0) { // else it may fail before anybody awaits it, and is reported rightly
                        Asyncio.sleepMs(1);
                    }
                    Asyncio.sleepMs(20);
                    throw new IOException("there");
                });
                Task<Throwable> here = p.a.createTask(() -> {
                    begun.countDown();
                    return TestLoop.thrownBy(there::await);
                });
                assertThat(within(here)).hasMessage("there");
            }
            assertThat(p.errors).isEmpty();
        }
    }

    @Test
    void W1_whoBeginsToAwaitATaskInTheLastStepOfItsLoopIsTold() throws Exception {
        try (EventLoop kept = EventLoop.create();
                EventLoop there = EventLoop.create()) {
            there.start();
            Task<String> awaiting = kept.run(() -> {
                Task<?> main = Asyncio.currentTask();
                Task<String> t = there.createTask(() -> "got " + main.await());
                while (!t.toString().contains("awaiting main")) {
                    Thread.onSpinWait(); // in one step, which is the last
                }
                return t;
            });
            assertThat(within(awaiting)).startsWith("got Task[");
        }
    }

    @Test
    void C5_aCancelPassesOnToATaskOfAnotherLoopIfNobodyElseWaits() throws Exception {
        try (Pair p = Pair.start()) {
            Task<Void> there = p.b.createTask(() -> Asyncio.sleepMs(Long.MAX_VALUE));
            Task<Void> here = p.a.createTask(there::await);
            Task<Void> canceller = p.a.createTask(() -> {
                Asyncio.sleepMs(5);
                here.cancel();
            });
            within(canceller);
            assertThat(TestLoop.thrownBy(() -> within(there))).isInstanceOf(CancellationException.class);
            assertThat(TestLoop.thrownBy(() -> within(here))).isInstanceOf(CancellationException.class);
        }
    }

    @Test
    void C5_aTaskOfAnotherLoopThatWaitsCountsToo() throws Exception {
        try (Pair p = Pair.start()) {
            Task<Integer> shared = p.b.createTask(() -> {
                Asyncio.sleepMs(100);
                return 5;
            });
            Task<Integer> visitor = p.a.createTask(shared::await);
            Task<Integer> local = p.b.createTask(shared::await);
            within(p.b.createTask(() -> {
                Asyncio.sleepMs(20);
                local.cancel();
            }));
            assertThat(within(visitor)).isEqualTo(5);
            assertThat(TestLoop.thrownBy(() -> within(local))).isInstanceOf(CancellationException.class);
            assertThat(shared.resultNow()).isEqualTo(5);
        }
    }

    @Test
    void C5_aShieldHoldsAcrossLoopsAndATimeoutOfGetToo() throws Exception {
        try (Pair p = Pair.start()) {
            Task<Integer> there = p.b.createTask(() -> {
                Asyncio.sleepMs(200);
                return 5;
            });
            assertThat(within(p.a.createTask(
                            () -> TestLoop.thrownBy(() -> Asyncio.waitForMs(() -> Asyncio.shield(there), 5)))))
                    .isInstanceOf(TimeoutException.class);
            assertThat(within(p.a.createTask(() -> TestLoop.thrownBy(() -> there.get(5, TimeUnit.MILLISECONDS)))))
                    .isInstanceOf(TimeoutException.class);
            assertThat(within(there)).isEqualTo(5);
        }
    }

    @Test
    void S13_theOtherLoopClosesWhileItsTaskIsAwaited() throws Exception {
        try (Pair p = Pair.start()) {
            Task<Void> there = p.b.createTask(() -> Asyncio.sleepMs(Long.MAX_VALUE));
            Task<Void> here = p.a.createTask(there::await);
            within(p.a.createTask(() -> Asyncio.sleepMs(5)));
            p.b.close();
            assertThat(TestLoop.thrownBy(() -> within(here))).isInstanceOf(CancellationException.class);
        }
    }

    @Test
    void C7_manyCrossLoopAwaitsAndCancelsAtOnce() throws Exception {
        try (Pair p = Pair.start()) {
            for (int round = 0; round < 200; round++) {
                Task<Integer> there = p.b.createTask(() -> {
                    Asyncio.yieldNow();
                    return 5;
                });
                Task<Integer> here = p.a.createTask(there::await);
                Thread canceller = Thread.ofPlatform().start(here::cancel);
                Throwable e = TestLoop.thrownBy(() -> within(here));
                assertThat(e == null || e instanceof CancellationException).isTrue();
                assertThat(TestLoop.thrownBy(() -> within(there)))
                        .satisfiesAnyOf(
                                x -> assertThat(x).isNull(),
                                x -> assertThat(x).isInstanceOf(CancellationException.class));
                canceller.join();
            }
        }
    }

    // ---- get() from threads

    @Test
    void getFromForeignThreadsRacesWithTheEnd() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        for (int i = 0; i < 300; i++) {
            int n = i;
            Task<Integer> task = loop.createTask(() -> n);
            List<Thread> getters = new ArrayList<>();
            Queue<Object> got = new ConcurrentLinkedQueue<>();
            for (int g = 0; g < 3; g++) {
                getters.add((g == 0 ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> {
                    try {
                        got.add(task.get(30, TimeUnit.SECONDS));
                    } catch (Throwable e) {
                        got.add(e);
                    }
                }));
            }
            for (Thread g : getters) {
                g.join();
            }
            assertThat(got).containsExactly(n, n, n);
        }
        loop.close();
    }

    @Test
    void getTellsHowItEnded() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        Task<Integer> failing = loop.createTask(() -> {
            throw new IOException("mine");
        });
        assertThat(TestLoop.thrownBy(() -> within(failing)))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IOException.class);
        assertThat(failing.state()).isEqualTo(Future.State.FAILED);
        assertThat(failing.exceptionNow()).hasMessage("mine");
        Task<Void> sleeping = loop.createTask(() -> Asyncio.sleepMs(Long.MAX_VALUE));
        assertThat(TestLoop.thrownBy(() -> sleeping.get(10, TimeUnit.MILLISECONDS)))
                .isInstanceOf(TimeoutException.class);
        assertThat(TestLoop.thrownBy(sleeping::resultNow)).isInstanceOf(IllegalStateException.class);
        assertThat(TestLoop.thrownBy(sleeping::exception)).isInstanceOf(IllegalStateException.class);
        assertThat(sleeping.cancel(true)).isTrue();
        assertThat(TestLoop.thrownBy(sleeping::get)).isInstanceOf(CancellationException.class);
        assertThat(sleeping.isCancelled() && sleeping.isDone()).isTrue();
        loop.close();
    }

    @Test
    void getInATaskGivesTheLoopAway() throws Exception {
        TestLoop.run(t -> {
            Task<Integer> task = Asyncio.createTask(() -> {
                Asyncio.sleepMs(10);
                return 5;
            });
            assertThat(TestLoop.thrownBy(() -> task.get(5, TimeUnit.MILLISECONDS)))
                    .isInstanceOf(TimeoutException.class);
            assertThat(task.get()).isEqualTo(5);
            assertThat(t.ms()).isEqualTo(10);
        });
    }

    // ---- threads that libraries start inside tasks

    @Test
    void S13_libraryThreadsRunOnTheLoopInTheClassOfTheParent() throws Exception {
        Asyncio.run(() -> {
            EventLoop loop = Asyncio.runningLoop();
            for (Priority p : Priority.values()) {
                Task<List<String>> parent = loop.createTask(TaskOptions.of(p), () -> {
                    List<String> log = new CopyOnWriteArrayList<>();
                    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                        Future<Integer> f = executor.submit(() -> {
                            log.add(String.valueOf(Asyncio.runningLoop() == loop));
                            Thread.sleep(5); // it may block by the JDK's means
                            log.add(String.valueOf(TestLoop.thrownBy(() -> Asyncio.sleepMs(1))));
                            Task<Integer> made = Asyncio.createTask(() -> 5); // and make tasks
                            return made.get();
                        });
                        log.add(String.valueOf(f.get()));
                    }
                    return log;
                });
                List<String> log = parent.await();
                assertThat(log).hasSize(3);
                assertThat(log.get(0)).isEqualTo("true");
                assertThat(log.get(1)).contains("no running task");
                assertThat(log.get(2)).isEqualTo("5");
            }
        });
    }

    @Test
    void S4_aLibraryThreadOfALowTaskIsLow() throws Exception {
        TestLoop.run(t -> {
            Task<Void> low = t.loop.createTask(TaskOptions.of(Priority.LOW), () -> {
                Thread inside = Thread.ofVirtual().start(() -> t.log("library"));
                inside.join();
            });
            Asyncio.afterMs(0);
            TestLoop.yields(5);
            assertThat(t.trace()).isEmpty();
            low.await();
            assertThat(t.trace()).containsExactly("library");
        });
    }

    @Test
    void anHttpClientWorksInsideTasks() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", x -> {
            byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.start();
        try {
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            Asyncio.run(() -> {
                try (HttpClient client = HttpClient.newHttpClient()) {
                    List<String> bodies = Asyncio.gather(List.of(1, 2, 3).stream()
                            .map(i -> (java.util.concurrent.Callable<String>) () -> client.send(
                                            HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                                    .body())
                            .toList());
                    assertThat(bodies).containsExactly("hello", "hello", "hello");
                    String async = client.sendAsync(
                                    HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                            .get()
                            .body();
                    assertThat(async).isEqualTo("hello");
                }
            });
        } finally {
            server.stop(0);
        }
    }

    @Test
    void twoLoopsOnTwoThreadsDoNotMix() throws Exception {
        try (Pair p = Pair.start()) {
            Task<Boolean> a = p.a.createTask(() -> {
                Asyncio.sleepMs(1);
                return Asyncio.runningLoop() == p.a;
            });
            Task<Boolean> b = p.b.createTask(() -> Asyncio.runningLoop() == p.b);
            assertThat(within(a) && within(b)).isTrue();
        }
    }
}
