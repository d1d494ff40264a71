package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** S11, S13, S15: how runs begin and end, and wrong use. */
final class EndsTest {
    private static <T> T within(Future<T> f) throws Exception {
        return f.get(30, TimeUnit.SECONDS);
    }

    // ---- S11

    @Test
    void S11_leftOverTasksAreCancelledAndCleanUp() throws Exception {
        TestLoop t = TestLoop.open();
        int value = t.loop.run(() -> {
            Asyncio.createTask(() -> {
                try {
                    Asyncio.sleepMs(1_000_000);
                } finally {
                    Asyncio.sleepMs(50);
                    t.log("cleaned up");
                }
            });
            Asyncio.yieldNow();
            return 5;
        });
        assertThat(value).isEqualTo(5);
        assertThat(t.trace()).isEmpty();
        t.loop.close();
        t.loop.close();
        assertThat(t.trace()).containsExactly("cleaned up");
        assertThat(t.errors()).isEmpty();
        assertThat(t.loop.isClosed()).isTrue();
    }

    @Test
    void S11_asyncioRunDoesTheSame() throws Exception {
        List<String> log = new CopyOnWriteArrayList<>();
        int value = Asyncio.run(() -> {
            Asyncio.createTask(() -> {
                try {
                    Asyncio.sleepMs(1_000_000);
                } finally {
                    Asyncio.sleepMs(5);
                    log.add("cleaned up");
                }
            });
            Asyncio.yieldNow();
            return 5;
        });
        assertThat(value).isEqualTo(5);
        assertThat(log).containsExactly("cleaned up");
    }

    @Test
    void S11_whatStillHangsIsNamedAndEndsCancelled() throws Exception {
        TestLoop t = TestLoop.open(b -> b.shutdownTimeout(Duration.ofMillis(100)));
        AtomicReference<Task<Void>> hanging = new AtomicReference<>();
        t.loop.run(() -> {
            hanging.set(Asyncio.createTask("for ever", () -> {
                while (true) {
                    try {
                        Asyncio.sleepMs(10);
                    } catch (Throwable e) {
                        t.log(e.getClass().getSimpleName());
                    }
                }
            }));
            Asyncio.yieldNow();
        });
        AtomicBoolean called = new AtomicBoolean();
        hanging.get().addDoneCallback(x -> called.set(true));
        t.loop.close();
        assertThat(t.trace()).containsExactly("CancelledError");
        assertThat(t.errors())
                .singleElement()
                .satisfies(e -> assertThat(e.message()).contains("for ever").contains("PT0.1S"));
        assertThat(hanging.get().cancelled()).isTrue();
        assertThat(called).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void S11_closingIsBoundedInRealTimeToo(EventLoop.PollerKind poller) throws Exception {
        for (boolean virtual : new boolean[] {true, false}) {
            List<LoopError> errors = new CopyOnWriteArrayList<>();
            EventLoop.Builder b = EventLoop.builder()
                    .poller(poller)
                    .exceptionHandler(errors::add)
                    .shutdownTimeout(Duration.ofMillis(200));
            EventLoop loop =
                    virtual ? b.clock(io.fastio.time.LoopClock.virtual()).build() : b.build();
            CountDownLatch never = new CountDownLatch(1);
            loop.run(() -> {
                Asyncio.createTask("deaf", () -> {
                    while (true) {
                        try {
                            never.await();
                        } catch (InterruptedException e) {
                            Thread.onSpinWait();
                        }
                    }
                });
                Asyncio.yieldNow();
            });
            long start = System.nanoTime();
            loop.close();
            assertThat(System.nanoTime() - start).isBetween(190_000_000L, 5_000_000_000L);
            assertThat(errors)
                    .singleElement()
                    .satisfies(e -> assertThat(e.message()).contains("deaf"));
        }
    }

    @Test
    void S11_aKeptLoopGoesOnAtTheNextRun() throws Exception {
        TestLoop t = TestLoop.open();
        AtomicReference<Task<String>> kept = new AtomicReference<>();
        t.loop.run(() -> {
            kept.set(Asyncio.createTask(() -> {
                t.log("begun");
                Asyncio.sleepMs(10);
                t.log("gone on at " + t.ms());
                return "value";
            }));
            Asyncio.createTask(() -> t.log("ready, but main ends first"));
            Asyncio.yieldNow();
        });
        assertThat(kept.get().done()).isFalse();
        t.loop.run(() -> Asyncio.sleepMs(5));
        assertThat(kept.get().done()).isFalse();
        assertThat(t.loop.run(() -> kept.get().await())).isEqualTo("value");
        assertThat(t.trace()).containsExactly("begun", "ready, but main ends first", "gone on at 10");
        t.loop.close();
    }

    @Test
    void S11_mainsExceptionIsTheVeryOne() throws Exception {
        java.io.IOException mine = new java.io.IOException("mine");
        EventLoop loop = EventLoop.create();
        assertThat(TestLoop.thrownBy(() -> loop.run(() -> {
                    throw mine;
                })))
                .isSameAs(mine);
        assertThat(TestLoop.thrownBy(() -> loop.run(() -> {
                    Asyncio.currentTask().cancel();
                    Asyncio.yieldNow();
                })))
                .isInstanceOf(CancelledError.class);
        loop.close();
    }

    @Test
    void F103_nestedRunsAreAClearError() throws Exception {
        EventLoop other = EventLoop.create();
        TestLoop.run(t -> {
            List<Action> nested = List.of(
                    () -> Asyncio.run(() -> 5),
                    () -> t.loop.run(() -> 5),
                    () -> other.run(() -> 5),
                    other::runForever,
                    () -> other.poll(Duration.ZERO));
            for (Action a : nested) {
                assertThat(TestLoop.thrownBy(a))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("running event loop");
            }
            t.loop.callSoon(() -> t.log(TestLoop.thrownBy(() -> Asyncio.run(() -> 5))));
            Asyncio.yieldNow();
            assertThat(t.trace()).singleElement().asString().contains("running event loop");
            assertThat(TestLoop.thrownBy(t.loop::close)).isInstanceOf(IllegalStateException.class);
        });
        other.close();
    }

    @Test
    void runOnAVirtualThreadTakesAPlatformThread() throws Exception {
        AtomicReference<Object> got = new AtomicReference<>();
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        got.set(Asyncio.run(() -> {
                            Asyncio.sleepMs(5);
                            return Asyncio.runningLoop().carrier().isVirtual();
                        }));
                    } catch (Throwable e) {
                        got.set(e);
                    }
                })
                .join();
        assertThat(got).hasValue(false);
    }

    @Test
    void runOnAnInterruptedVirtualThreadRunsToItsEnd() throws Exception {
        AtomicReference<Object> got = new AtomicReference<>();
        CountDownLatch running = new CountDownLatch(1);
        Thread v = Thread.ofVirtual().start(() -> {
            try {
                got.set(Asyncio.run(() -> {
                    running.countDown();
                    Asyncio.sleepMs(50);
                    return "value";
                }));
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
            } catch (Throwable e) {
                got.set(e);
            }
        });
        running.await();
        v.interrupt();
        v.join();
        assertThat(got).hasValue("value");
    }

    @Test
    void F97_anInterruptOfTheLoopThreadIsNoCancelAndDoesNotSpin() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        Thread carrier = within(loop.createTask(() -> Asyncio.runningLoop().carrier()));
        carrier.interrupt();
        assertThat(within(loop.createTask(() -> {
                    Asyncio.sleepMs(20);
                    return Thread.currentThread().isInterrupted();
                })))
                .isFalse();
        var threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long before = threads.getThreadCpuTime(carrier.threadId());
        carrier.interrupt();
        Thread.sleep(200);
        assertThat(threads.getThreadCpuTime(carrier.threadId()) - before).isLessThan(100_000_000);
        loop.close();
    }

    // ---- S15

    @Test
    void S15_stopReturnsAfterTheRoundInProgressAndWhatIsReadyStaysReady() throws Exception {
        TestLoop t = TestLoop.open();
        for (int i = 0; i < 3; i++) {
            int n = i;
            t.loop.createTask(() -> {
                t.log("a" + n);
                if (n == 0) {
                    t.loop.stop();
                    t.loop.stop();
                }
                Asyncio.yieldNow();
                t.log("b" + n);
            });
        }
        t.loop.runForever();
        assertThat(t.trace()).containsExactly("a0", "a1", "a2");
        t.loop.callSoon(t.loop::stop);
        t.loop.runForever();
        assertThat(t.trace()).containsExactly("b0", "b1", "b2");
        t.loop.close();
    }

    @Test
    void S15_stopBeforeARunEndsItAfterOneRound() throws Exception {
        TestLoop t = TestLoop.open();
        t.loop.callLater(Duration.ofMillis(5), () -> t.log("due timer"));
        t.loop.createTask(() -> {
            t.log("normal 1");
            Asyncio.yieldNow();
            t.log("normal 2");
        });
        t.loop.createTask(TaskOptions.of(Priority.URGENT), () -> t.log("urgent"));
        t.hog(10);
        t.loop.stop();
        t.loop.stop();
        t.loop.runForever();
        assertThat(t.trace())
                .containsExactly("urgent", "normal 1", "due timer"); // S2: it was ready before that was due
        t.loop.stop();
        t.loop.runForever();
        assertThat(t.trace()).containsExactly("normal 2");
        t.loop.stop();
        t.loop.runForever(); // nothing is ready: does not wait
        assertThat(TestLoop.thrownBy(() -> {
                    t.loop.stop();
                    t.loop.run(() -> Asyncio.sleepMs(1_000));
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("stopped");
        t.loop.close();
    }

    @Test
    void S15_stopBeforeARunWithOnlyUrgentOrLowWork() throws Exception {
        for (Priority p : List.of(Priority.URGENT, Priority.LOW)) {
            TestLoop t = TestLoop.open();
            t.loop.createTask(TaskOptions.of(p), () -> {
                t.log(1);
                Asyncio.yieldNow();
                t.log(2);
            });
            t.loop.stop();
            t.loop.runForever();
            assertThat(t.trace()).containsExactly("1");
            t.loop.close();
        }
    }

    @Test
    void S15_stopFromAnotherThreadWakesASleepingLoop() throws Exception {
        EventLoop loop = EventLoop.create();
        Thread stopper = Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            loop.stop();
        });
        loop.runForever();
        stopper.join();
        loop.close();
    }

    // ---- start, poll

    @Test
    void startRunsOnAThreadOfItsOwnUntilClosed() throws Exception {
        EventLoop loop = EventLoop.builder().name("mine").build();
        loop.start();
        assertThat(TestLoop.thrownBy(loop::start)).isInstanceOf(IllegalStateException.class);
        assertThat(within(loop.createTask(() -> Asyncio.runningLoop().carrier().getName())))
                .isEqualTo("mine");
        assertThat(TestLoop.thrownBy(() -> loop.run(() -> 5))).isInstanceOf(IllegalStateException.class);
        Task<Void> left = loop.createTask(() -> Asyncio.sleepMs(Long.MAX_VALUE));
        loop.close();
        assertThat(left.cancelled()).isTrue();
        assertThat(TestLoop.thrownBy(loop::start)).hasMessage("event loop is closed");
    }

    @Test
    void startAgainAfterStop() throws Exception {
        EventLoop loop = EventLoop.create();
        for (int i = 0; i < 3; i++) {
            while (TestLoop.thrownBy(loop::start) != null) {
                Thread.onSpinWait(); // the thread of the last run is about to end
            }
            assertThat(within(loop.createTask(() -> 5))).isEqualTo(5);
            loop.stop();
        }
        loop.close();
    }

    @Test
    void pollRunsOneRoundWithoutWaiting() throws Exception {
        EventLoop loop = EventLoop.create();
        List<String> log = new ArrayList<>();
        assertThat(loop.poll(Duration.ZERO)).isFalse();
        for (int i = 0; i < 3; i++) {
            int n = i;
            loop.createTask(() -> {
                log.add("a" + n);
                Asyncio.yieldNow();
                log.add("b" + n);
            });
        }
        assertThat(loop.poll(Duration.ZERO)).isTrue();
        assertThat(log).startsWith("a0", "a1", "a2");
        while (loop.poll(Duration.ZERO)) {
            Thread.onSpinWait();
        }
        assertThat(log).containsExactly("a0", "a1", "a2", "b0", "b1", "b2");
        loop.close();
    }

    @Test
    void pollWaitsForAtMostItsTimeAndServesTimersAndPosts() throws Exception {
        EventLoop loop = EventLoop.create();
        long start = System.nanoTime();
        assertThat(loop.poll(Duration.ofMillis(30))).isFalse();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(29_000_000);
        Task<Integer> task = loop.createTask(() -> {
            Asyncio.sleepMs(20);
            return 5;
        });
        while (!task.done()) {
            loop.poll(Duration.ofMillis(5));
        }
        Thread poster = Thread.ofPlatform().start(() -> loop.callSoon(() -> {}));
        assertThat(loop.poll(Duration.ofSeconds(60))).isTrue();
        poster.join();
        loop.close();
    }

    /** The budget of a frame: the step in progress, and the round it is in, is all that may exceed it. */
    @Test
    void pollEndsWhenItsTimeIsOverHoweverMuchIsReady() throws Exception {
        TestLoop t = TestLoop.open();
        int[] steps = new int[3];
        for (int i = 0; i < steps.length; i++) {
            int n = i;
            t.loop.createTask(() -> {
                while (true) {
                    t.hog(1);
                    steps[n]++;
                    Asyncio.yieldNow();
                }
            });
        }
        for (int frame = 1; frame <= 10; frame++) {
            long start = t.loop.time();
            assertThat(t.loop.poll(Duration.ofMillis(5))).isTrue();
            assertThat(t.loop.time() - start).isBetween(5_000_000L, 7_999_999L);
            assertThat(steps).as("all had their turn").doesNotContain(frame - 1);
        }
        t.loop.close();
    }

    /** Callbacks follow one another without a turn of the loop's thread, but where somebody waits for it. */
    @ParameterizedTest
    @EnumSource
    void pollAndCloseEndThoughCallbacksScheduleThemselvesForEver(Priority priority) {
        TestLoop t = TestLoop.open(b -> b.shutdownTimeout(Duration.ofMillis(50)));
        int[] runs = new int[1];
        Handle[] endless = new Handle[1];
        endless[0] = t.loop.handle(priority, () -> {
            t.hog(1);
            runs[0]++;
            if (!t.loop.isClosed()) {
                endless[0].callSoon();
            }
        });
        endless[0].callSoon();
        for (int frame = 1; frame <= 10; frame++) {
            assertThat(t.loop.poll(Duration.ofMillis(5))).isTrue();
            assertThat(runs[0]).isBetween(5 * frame, 6 * frame);
        }
        t.loop.close();
        assertThat(runs[0]).isLessThan(200);
    }

    @Test
    void pollOfALoopOnVirtualTimeDoesNotWaitForOffloadedWork() throws Exception {
        TestLoop t = TestLoop.open();
        CountDownLatch release = new CountDownLatch(1);
        Task<Void> task = t.loop.createTask(() -> Asyncio.offload(() -> {
            release.await();
            return null;
        }));
        while (t.loop.poll(Duration.ZERO)) {
            Thread.onSpinWait();
        }
        assertThat(task.done()).isFalse();
        release.countDown();
        while (!task.done()) {
            t.loop.poll(Duration.ZERO);
        }
        t.loop.close();
    }

    // ---- S13

    @Test
    void S13_waitsOutsideATaskAreErrors() throws Exception {
        List<Action> waits = List.of(
                () -> Asyncio.sleepMs(1),
                Asyncio::yieldNow,
                () -> Asyncio.afterMs(1),
                Asyncio::checkpoint,
                Wait::begin,
                () -> Asyncio.gather(() -> 1),
                () -> Asyncio.taskGroup(g -> 1),
                () -> Asyncio.cancelScope(s -> 1),
                () -> Asyncio.waitForMs(() -> 1, 1),
                () -> Asyncio.shield(() -> 1),
                () -> Asyncio.offload(() -> 1),
                Asyncio::currentTask);
        for (Action wait : waits) {
            assertThat(TestLoop.thrownBy(wait))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no running event loop");
        }
        assertThat(TestLoop.thrownBy(Asyncio::runningLoop)).hasMessage("no running event loop");
        assertThat(TestLoop.thrownBy(Asyncio::allTasks)).hasMessage("no running event loop");
        assertThat(TestLoop.thrownBy(() -> Asyncio.createTask(() -> 1))).hasMessage("no running event loop");
        assertThat(Asyncio.hasRunningLoop()).isFalse();
        TestLoop.run(t -> {
            Task<Integer> done = Asyncio.createTask(() -> 5);
            done.await();
            t.loop.callSoon(() -> {
                for (Action wait : waits) {
                    t.log(TestLoop.thrownBy(wait));
                }
                t.log(TestLoop.thrownBy(done::await));
                assertThat(Asyncio.hasRunningLoop()).isTrue();
                Asyncio.createTask(() -> t.log("a callback may make tasks"));
            });
            TestLoop.yields(2);
            List<String> trace = t.trace();
            assertThat(trace).last().isEqualTo("a callback may make tasks");
            assertThat(trace.subList(0, trace.size() - 1))
                    .hasSize(waits.size() + 1)
                    .allMatch(s -> s.contains("no running task"));
        });
    }

    @Test
    void S13_whatATaskDoesWithoutWaitingIsToldApartFromWaits() throws Exception {
        TestLoop.run(t -> {
            CancelScope[] scope = new CancelScope[1];
            Task<?> owner = Asyncio.createTask(
                    "owner",
                    () -> Asyncio.cancelScope(s -> {
                        scope[0] = s;
                        Asyncio.sleepMs(10);
                        return true;
                    }));
            Asyncio.yieldNow();
            List<Action> changes = List.of(
                    () -> scope[0].deadline(Duration.ofMillis(1)),
                    () -> scope[0].deadlineAt(1),
                    () -> scope[0].shield(true));
            t.loop.callSoon(() -> {
                for (Action change : changes) {
                    assertThat(TestLoop.thrownBy(change))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("only owner, whose scope it is, may change it, not a callback");
                }
                String why = "; a callback, or a thread of a library, is none";
                assertThat(TestLoop.thrownBy(Asyncio::checkpoint))
                        .hasMessage("no running task: checkpoint() is for tasks" + why);
                assertThat(TestLoop.thrownBy(Asyncio::currentTask))
                        .hasMessage("no running task: currentTask() is for tasks" + why);
                assertThat(TestLoop.thrownBy(Asyncio::yieldNow))
                        .hasMessage("no running task: waits need a task of their own" + why);
                t.log("told");
            });
            for (Action change : changes) {
                assertThat(TestLoop.thrownBy(change)).hasMessageEndingWith("may change it, not main");
            }
            owner.await();
            assertThat(t.ms()).isEqualTo(10);
            assertThat(t.trace()).containsExactly("told");
            assertThat(TestLoop.thrownBy(changes.getFirst())).hasMessage("the scope has been left");
        });
    }

    @Test
    void S13_aThreadFactoryRefusesNull() throws Exception {
        TestLoop.run(t -> {
            assertThat(TestLoop.thrownBy(
                            () -> t.loop.threadFactory(Priority.NORMAL).newThread(null)))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("body");
            assertThat(Asyncio.allTasks()).hasSize(1);
        });
    }

    @Test
    void S13_aClosedLoopIsAnError() throws Exception {
        EventLoop loop = EventLoop.create();
        Handle h = loop.handle(Priority.NORMAL, () -> {});
        loop.close();
        List<Action> calls = List.of(
                () -> loop.createTask(() -> 5),
                () -> loop.callSoon(() -> {}),
                () -> loop.callLater(Duration.ofSeconds(1), () -> {}),
                () -> loop.callAt(0, () -> {}),
                () -> loop.execute(() -> {}),
                () -> loop.run(() -> 5),
                loop::runForever,
                loop::start,
                () -> loop.poll(Duration.ZERO),
                h::callSoon,
                () -> loop.threadFactory(Priority.NORMAL).newThread(() -> {}),
                () -> loop.executor(Priority.NORMAL).execute(() -> {}));
        for (Action call : calls) {
            assertThat(TestLoop.thrownBy(call))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("event loop is closed");
        }
        assertThat(h.cancel()).isFalse();
        loop.stop();
        loop.close();
    }

    @Test
    void S13_whatWasAcceptedBeforeTheCloseRuns() throws Exception {
        TestLoop t = TestLoop.open();
        t.loop.callSoon(() -> t.log("callback"));
        Task<Void> task = t.loop.createTask(() -> t.log("task"));
        t.loop.close();
        assertThat(t.trace()).containsExactly("callback");
        assertThat(task.cancelled()).isTrue();
        assertThat(TestLoop.thrownBy(task::get)).isInstanceOf(java.util.concurrent.CancellationException.class);
    }

    @Test
    void S13_tasksMadeByCleanupAreCancelled() throws Exception {
        TestLoop t = TestLoop.open();
        AtomicReference<Task<Void>> late = new AtomicReference<>();
        t.loop.run(() -> {
            Asyncio.createTask(() -> {
                try {
                    Asyncio.sleepMs(1_000);
                } finally {
                    late.set(Asyncio.createTask(() -> t.log("not reached")));
                    t.log(TestLoop.thrownBy(late.get()::await).getClass().getSimpleName());
                }
            });
            Asyncio.yieldNow();
        });
        t.loop.close();
        assertThat(t.trace()).containsExactly("CancelledError");
        assertThat(late.get().cancelled()).isTrue();
    }

    @Test
    void S13_F94_postsThatRaceWithCloseHaveADefinedResult() throws Exception {
        int values = 0;
        for (int round = 0; round < 20; round++) {
            EventLoop loop = EventLoop.create();
            loop.start();
            Queue<Task<Integer>> tasks = new ConcurrentLinkedQueue<>();
            AtomicInteger accepted = new AtomicInteger();
            AtomicInteger called = new AtomicInteger();
            AtomicInteger refused = new AtomicInteger();
            Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
            CountDownLatch going = new CountDownLatch(4);
            List<Thread> hammers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                boolean callbacks = i % 2 == 0;
                hammers.add(Thread.ofPlatform().start(() -> {
                    for (int n = 0; ; n++) {
                        try {
                            if (callbacks) {
                                loop.callSoon(called::incrementAndGet);
                                accepted.incrementAndGet();
                            } else {
                                tasks.add(loop.createTask(() -> 5));
                            }
                        } catch (IllegalStateException e) {
                            refused.incrementAndGet();
                            if (!"event loop is closed".equals(e.getMessage())) {
                                wrong.add(e);
                            }
                            return;
                        } catch (Throwable e) {
                            wrong.add(e);
                            return;
                        }
                        if (n == 50) {
                            going.countDown();
                        }
                        if (n % 50 == 0) {
                            LockSupport.parkNanos(50_000); // or they outrun the loop for ever
                        }
                    }
                }));
            }
            going.await();
            loop.close();
            for (Thread h : hammers) {
                h.join();
            }
            assertThat(wrong).isEmpty();
            assertThat(refused).hasValue(4);
            assertThat(called).hasValue(accepted.get());
            for (Task<Integer> task : tasks) {
                assertThat(task.done()).isTrue();
                if (!task.cancelled()) {
                    assertThat(task.resultNow()).isEqualTo(5);
                    values++;
                }
            }
        }
        assertThat(values).isPositive();
    }

    @Test
    void closeFromSeveralThreadsAtOnce() throws Exception {
        for (int round = 0; round < 20; round++) {
            EventLoop loop = EventLoop.create();
            if (round % 2 == 0) {
                loop.start();
            }
            AtomicInteger cleanups = new AtomicInteger();
            loop.createTask(() -> {
                try {
                    Asyncio.sleepMs(1_000_000);
                } finally {
                    Asyncio.sleepMs(1);
                    cleanups.incrementAndGet();
                }
            });
            Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
            List<Thread> closers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Thread.Builder b = i == 2 ? Thread.ofVirtual() : Thread.ofPlatform();
                closers.add(b.start(() -> {
                    try {
                        loop.close();
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            for (Thread c : closers) {
                c.join();
            }
            assertThat(wrong).isEmpty();
            assertThat(loop.isClosed()).isTrue();
            assertThat(cleanups.get()).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void S13_aStartedLoopIsRunByNobodyElseEvenBeforeItsThreadHasBegun() throws Exception {
        for (int i = 0; i < 100; i++) {
            try (EventLoop loop = EventLoop.create()) {
                loop.start();
                assertThatThrownBy(() -> loop.run(() -> 1))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("runs already");
                assertThatThrownBy(() -> loop.poll(Duration.ZERO))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("runs already");
                assertThat(loop.createTask(() -> 42).get(10, TimeUnit.SECONDS)).isEqualTo(42);
            }
        }
    }

    @Test
    void S13_createTaskCallSoonCallLaterAreForAnyThread() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        CountDownLatch all = new CountDownLatch(4 * 3 * 1_000);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int n = 0; n < 1_000; n++) {
                    loop.createTask(() -> all.countDown());
                    loop.callSoon(all::countDown);
                    loop.callLater(Duration.ofNanos(n * 1_000L), all::countDown);
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }
        assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
        loop.close();
    }

    @Test
    void aHandleCancelledFromOutsideAfterItWasScheduledDoesNotRun() throws Exception {
        TestLoop t = TestLoop.open();
        Handle later = t.loop.callLater(Duration.ofMillis(10), () -> t.log("cancelled later"));
        Handle soon = t.loop.callSoon(() -> t.log("cancelled soon"));
        assertThat(later.cancel()).isTrue();
        assertThat(soon.cancel()).isTrue();
        Handle again = t.loop.callSoon(() -> t.log("scheduled again"));
        again.cancel();
        again.callSoon();
        Handle inside = t.loop.handle(Priority.NORMAL, () -> t.log("cancelled inside"));
        t.loop.run(() -> {
            Thread outside = Thread.ofPlatform().start(inside::callSoon);
            while (outside.isAlive()) {
                Thread.onSpinWait(); // and keep the loop
            }
            assertThat(inside.cancel()).isTrue(); // it is still in the inbox
            Asyncio.sleepMs(100);
        });
        assertThat(t.trace()).containsExactly("scheduled again");
        t.loop.close();
    }

    // ---- drop-in for existing code

    @Test
    void aThreadFactoryMakesTasks() throws Exception {
        EventLoop loop = EventLoop.create();
        List<String> log = new CopyOnWriteArrayList<>();
        Thread fromOutside = loop.threadFactory(Priority.URGENT).newThread(() -> {
            log.add(Asyncio.currentTask().priority() + " "
                    + Thread.currentThread().isVirtual());
            Asyncio.sleepMs(1);
            log.add("slept");
        });
        loop.start();
        fromOutside.start();
        fromOutside.join();
        assertThat(log).containsExactly("URGENT true", "slept");
        within(loop.createTask(() -> {
            Thread inside = loop.threadFactory(Priority.NORMAL).newThread(() -> Asyncio.sleepMs(1_000_000));
            inside.start();
            assertThat(Asyncio.allTasks()).hasSize(2);
            return null;
        }));
        loop.close(); // the one inside is cancelled with the others
    }

    @Test
    void anExecutorRunsItsWorkOnTheLoop() throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        try (ExecutorService executor = loop.executor(Priority.NORMAL)) {
            List<Future<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                all.add(executor.submit(() -> {
                    Asyncio.sleepMs(1);
                    return Asyncio.runningLoop() == loop;
                }));
            }
            for (Future<Boolean> f : all) {
                assertThat(within(f)).isTrue();
            }
        }
        loop.close();
    }
}
