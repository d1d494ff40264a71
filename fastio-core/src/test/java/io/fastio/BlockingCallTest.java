package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Event;
import io.fastio.sync.Guard;
import io.fastio.sync.Lock;
import io.fastio.sync.Semaphore;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** C2 where tasks block by the JDK's means: such calls give the loop away, and a cancel interrupts them. Real time. */
final class BlockingCallTest {
    /** Milliseconds that no test waits for: the JDK call under test is ended long before. */
    private static final long LONG = 1_000_000;

    /** What a task may block in; all of it can be interrupted but for the last two. */
    enum Call {
        SLEEP {
            @Override
            void block() throws Exception {
                Thread.sleep(LONG);
            }
        },
        QUEUE {
            @Override
            void block() throws Exception {
                new LinkedBlockingQueue<String>().take();
            }
        },
        LOCK {
            @Override
            void block() throws Exception {
                heldByAnother().lockInterruptibly();
            }
        },
        FUTURE {
            @Override
            void block() throws Exception {
                new CompletableFuture<String>().get();
            }
        },
        LATCH {
            @Override
            void block() throws Exception {
                new CountDownLatch(1).await();
            }
        },
        OBJECT_WAIT {
            @Override
            void block() throws Exception {
                Object monitor = new Object();
                synchronized (monitor) {
                    while (true) {
                        monitor.wait();
                    }
                }
            }
        },
        JOIN {
            @Override
            void block() throws Exception {
                Thread t = Thread.ofPlatform().daemon().start(() -> {
                    try {
                        Thread.sleep(LONG);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                t.join();
            }
        },
        SOCKET_READ {
            @Override
            void block() throws Exception {
                try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                        Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    s.getInputStream().read();
                }
            }
        },
        ACCEPT {
            @Override
            void block() throws Exception {
                try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                    server.accept().close();
                }
            }
        },
        PIPE_READ {
            @Override
            void block() throws Exception {
                Pipe p = Pipe.open();
                try (Pipe.SourceChannel source = p.source();
                        Pipe.SinkChannel sink = p.sink()) {
                    assertThat(sink.isOpen()).isTrue();
                    source.read(java.nio.ByteBuffer.allocate(1));
                }
            }
        };

        abstract void block() throws Exception;
    }

    private static ReentrantLock heldByAnother() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Thread holder = Thread.ofPlatform().start(lock::lock); // it ends and never unlocks
        holder.join();
        return lock;
    }

    private static void untilBlocked(Task<?> t) {
        while (!t.toString().contains("blocking JDK call")) {
            Asyncio.sleepMs(1);
        }
    }

    private static void assertCancelled(Task<?> t) {
        assertThat(TestLoop.thrownBy(t::await)).isInstanceOf(CancelledError.class);
        assertThat(t.cancelled()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void C2_givesTheLoopAwayAndIsEndedByACancel(Call call) throws Exception {
        Asyncio.run(() -> {
            for (Priority p : Priority.values()) {
                Task<Void> victim = Asyncio.createTask(TaskOptions.of(p), call::block);
                untilBlocked(victim); // so the loop is ours meanwhile
                victim.cancel();
                assertCancelled(victim);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void C2_aCancelThatCameBeforeTheCallEndsItToo(Call call) throws Exception {
        Asyncio.run(() -> {
            Task<Void> self = Asyncio.createTask(() -> {
                Asyncio.currentTask().cancel();
                call.block();
            });
            assertCancelled(self);
        });
    }

    @ParameterizedTest
    @EnumSource
    void T2_aTimeoutEndsIt(Call call) throws Exception {
        Asyncio.run(() -> {
            assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(call::block, Duration.ofMillis(20))))
                    .isInstanceOf(TimeoutException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            Thread.sleep(1); // throws if an interrupt was left behind
            Asyncio.sleepMs(1);
        });
    }

    @ParameterizedTest
    @EnumSource
    void C8_aCancelScopeEndsIt(Call call) throws Exception {
        Asyncio.run(() -> {
            Object value = Asyncio.cancelScope(s -> {
                s.deadline(Duration.ofMillis(20));
                call.block();
                return "not reached";
            });
            assertThat(value).isNull();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            Thread.sleep(1); // throws if an interrupt was left behind
        });
    }

    @ParameterizedTest
    @EnumSource
    void G2_theEndOfAGroupEndsItInBodyAndChildren(Call call) throws Exception {
        Asyncio.run(() -> {
            Object value = Asyncio.taskGroup(g -> {
                g.createTask(call::block);
                g.createTask(() -> {
                    Asyncio.sleepMs(20);
                    g.cancel();
                });
                call.block();
                return "not reached";
            });
            assertThat(value).isNull();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(TestLoop.thrownBy(() -> Asyncio.taskGroup(g -> {
                        g.createTask(() -> {
                            Asyncio.sleepMs(20);
                            throw new IllegalArgumentException("child");
                        });
                        call.block();
                        return null;
                    })))
                    .hasMessage("child")
                    .hasNoSuppressedExceptions();
            Thread.sleep(1); // throws if an interrupt was left behind
        });
    }

    @Test
    void C2_contendedSynchronizedGivesTheLoopAwayAndIsNotEndedByTheInterrupt() throws Exception {
        Asyncio.run(() -> {
            Object monitor = new Object();
            Task<Void> holder = Asyncio.createTask(() -> {
                synchronized (monitor) {
                    Asyncio.sleepMs(50);
                }
            });
            Asyncio.yieldNow();
            AtomicReference<String> got = new AtomicReference<>();
            Task<Void> victim = Asyncio.createTask(() -> {
                synchronized (monitor) {
                    got.set("monitor");
                }
                Asyncio.yieldNow();
                got.set("not reached");
            });
            untilBlocked(victim);
            victim.cancel();
            assertCancelled(victim);
            assertThat(got).hasValue("monitor");
            holder.await();
        });
    }

    @Test
    void C2_aLockThatCannotBeInterruptedDoesNotSpinTheLoop() throws Exception {
        Asyncio.run(() -> {
            ReentrantLock lock = new ReentrantLock();
            Task<Void> holder = Asyncio.createTask(() -> {
                lock.lock();
                try {
                    Asyncio.sleepMs(400);
                } finally {
                    lock.unlock();
                }
            });
            Asyncio.yieldNow();
            Task<Void> victim = Asyncio.createTask(() -> Asyncio.cancelScope(s -> {
                s.cancel();
                lock.lock();
                try {
                    Asyncio.yieldNow();
                } finally {
                    lock.unlock();
                }
                return null;
            }));
            untilBlocked(victim);
            Thread carrier = Asyncio.runningLoop().carrier();
            var threads = java.lang.management.ManagementFactory.getThreadMXBean();
            long before = threads.getThreadCpuTime(carrier.threadId());
            victim.await();
            assertThat(threads.getThreadCpuTime(carrier.threadId()) - before).isLessThan(150_000_000);
            holder.await();
        });
    }

    @Test
    void C2_ifTheBodyCatchesTheInterruptTheCancelComesAtTheNextWait() throws Exception {
        Asyncio.run(() -> {
            AtomicReference<String> reached = new AtomicReference<>();
            Task<Void> victim = Asyncio.createTask(() -> {
                try {
                    Thread.sleep(LONG);
                } catch (InterruptedException e) {
                    reached.set("caught");
                }
                Thread.sleep(5); // one cancel ends one call
                reached.set("slept");
                Asyncio.yieldNow();
                reached.set("not reached");
            });
            untilBlocked(victim);
            victim.cancel();
            assertCancelled(victim);
            assertThat(reached).hasValue("slept");
        });
    }

    @Test
    void C4_ifTheBodyCatchesTheInterruptAndReturnsItHasSwallowedTheCancel() throws Exception {
        Asyncio.run(() -> {
            Task<String> victim = Asyncio.createTask(() -> {
                try {
                    Thread.sleep(LONG);
                } catch (InterruptedException e) {
                    return "ended normally";
                }
                return "";
            });
            untilBlocked(victim);
            victim.cancel();
            assertThat(victim.await()).isEqualTo("ended normally");
        });
    }

    @Test
    void T2_aTimeoutIsThrownAlsoIfTheBodyCaughtTheInterruptAndReturned() throws Exception {
        Asyncio.run(() -> assertThat(TestLoop.thrownBy(() -> Asyncio.waitFor(
                        () -> {
                            try {
                                Thread.sleep(LONG);
                            } catch (InterruptedException e) {
                                return "swallowed";
                            }
                            return "";
                        },
                        Duration.ofMillis(20))))
                .isInstanceOf(TimeoutException.class));
    }

    @Test
    void T4_anExternalCancelLeavesWaitForAlsoIfTheBodyCaughtTheInterruptAndReturned() throws Exception {
        Asyncio.run(() -> {
            AtomicReference<String> reached = new AtomicReference<>("");
            Task<Void> victim = Asyncio.createTask(() -> {
                Asyncio.waitFor(
                        () -> {
                            try {
                                Thread.sleep(LONG);
                            } catch (InterruptedException e) {
                                reached.set("swallowed");
                            }
                        },
                        Duration.ofSeconds(100));
                reached.set("not reached");
            });
            untilBlocked(victim);
            victim.cancel();
            assertCancelled(victim);
            assertThat(reached).hasValue("swallowed");
        });
    }

    @Test
    void C6_anExternalCancelWinsOverATimeoutThatInterruptedFirst() throws Exception {
        Asyncio.run(() -> {
            Task<Void> victim = Asyncio.createTask(() -> Asyncio.waitFor(
                    () -> {
                        try {
                            Thread.sleep(LONG);
                        } catch (InterruptedException e) {
                            Asyncio.currentTask().cancel();
                            throw e;
                        }
                    },
                    Duration.ofMillis(10)));
            assertThat(TestLoop.thrownBy(victim::await)).isInstanceOfAny(CancelledError.class, TimeoutException.class);
            Task<Void> both =
                    Asyncio.createTask(() -> Asyncio.waitFor(() -> Thread.sleep(LONG), Duration.ofMillis(300)));
            untilBlocked(both);
            long until = System.nanoTime() + 300_000_000;
            while (System.nanoTime() < until) {
                Thread.onSpinWait(); // the timeout falls due in this step
            }
            both.cancel();
            assertCancelled(both);
        });
    }

    @Test
    void C2_noInterruptIsLeftForWhatComesNext() throws Exception {
        Asyncio.run(() -> {
            Object monitor = new Object();
            Task<Void> holder = Asyncio.createTask(() -> {
                synchronized (monitor) {
                    Asyncio.sleepMs(40);
                }
            });
            Asyncio.yieldNow();
            // The timeout interrupts a call that does not end by it; the next operation need not suspend (C3).
            Task<Boolean> victim = Asyncio.createTask(() -> Asyncio.waitFor(
                    () -> {
                        synchronized (monitor) {
                            Thread.onSpinWait();
                        }
                        Wait.begin();
                        return Thread.currentThread().isInterrupted();
                    },
                    Duration.ofMillis(10)));
            Throwable e = TestLoop.thrownBy(() -> assertThat(victim.await()).isFalse());
            assertThat(e).isInstanceOf(TimeoutException.class);
            holder.await();
        });
    }

    @Test
    void C2_whatTheInterruptedCallThrewIsKept() throws Exception {
        Asyncio.run(() -> {
            Task<Void> victim = Asyncio.createTask(() -> {
                try {
                    Thread.sleep(LONG);
                } catch (InterruptedException e) {
                    throw new IllegalStateException("wrapped", e);
                }
            });
            untilBlocked(victim);
            victim.cancel();
            Throwable e = TestLoop.thrownBy(victim::await);
            assertThat(e).isInstanceOf(CancelledError.class);
            assertThat(e.getCause().getSuppressed()).singleElement().asString().contains("wrapped");
        });
    }

    @Test
    void C2_aLowTaskInAJdkCallIsCancelledAsNormal() throws Exception {
        Asyncio.run(() -> {
            Task<Void> victim = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> Thread.sleep(LONG));
            untilBlocked(victim);
            victim.cancel();
            for (int i = 0; i < 1_000 && !victim.done(); i++) {
                Asyncio.yieldNow(); // never idle: a LOW step would not run
            }
            assertThat(victim.cancelled()).isTrue();
        });
    }

    @Test
    void C2_aLowTaskWhoseJdkCallIsOverIsCancelledAsNormal() throws Exception {
        Asyncio.run(() -> {
            LinkedBlockingQueue<String> q = new LinkedBlockingQueue<>();
            Task<Void> victim = Asyncio.createTask(TaskOptions.of(Priority.LOW), () -> {
                q.take();
                Asyncio.yieldNow();
            });
            untilBlocked(victim);
            q.put("its call is over, but it is LOW");
            TestLoop.yields(3);
            assertThat(victim.done()).isFalse();
            victim.cancel();
            TestLoop.yields(3);
            assertThat(victim.cancelled()).isTrue();
        });
    }

    @Test
    void S13_aPinnedWaitIsAClearError() throws Exception {
        Asyncio.run(() -> {
            Throwable e = TestLoop.thrownBy(Pinned::touch);
            assertThat(e).isInstanceOf(ExceptionInInitializerError.class);
            assertThat(e.getCause())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("class initialiser")
                    .hasMessageContaining("main");
            Asyncio.sleepMs(1); // the task itself is none the worse
            assertThat(Asyncio.runningLoop().timerCount()).isZero();
        });
    }

    private static final class Pinned {
        static final long NOW;

        static {
            Asyncio.sleepMs(1);
            NOW = System.nanoTime();
        }

        static void touch() {
            assertThat(NOW).isNotZero();
        }
    }

    /** A lock, or a class being loaded, holds a task up between its bookkeeping and its wait, and the wake comes then. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void W1_aWakeIsNotLostThoughTheJdkHoldsTheTaskUpOnItsWayIntoTheWait(boolean cancelToo) throws Exception {
        Asyncio.run(() -> {
            CompletableFuture<Void> goesOn = new CompletableFuture<>();
            WaitList waiters = new WaitList();
            List<Boolean> passedOn = new ArrayList<>();
            Task<Wait.Reason> waiter = Asyncio.createTask(() -> {
                Task<?> me = Wait.begin();
                waiters.add(me);
                goesOn.join(); // of the JDK
                return Wait.suspend((task, woken) -> passedOn.add(woken), null, Wait.FOREVER);
            });
            Asyncio.sleepMs(5);
            assertThat(Wait.resume(waiters.poll())).isTrue();
            assertThat(Wait.resume(waiter)).as("once").isFalse();
            if (cancelToo) {
                waiter.cancel();
            }
            goesOn.complete(null);
            if (cancelToo) {
                assertCancelled(waiter);
                assertThat(passedOn).as("C6").containsExactly(true);
            } else {
                assertThat(waiter.await()).isEqualTo(Wait.Reason.WOKEN);
            }
        });
    }

    /** And it comes when the JDK lets the task go on already, in the same step. */
    @Test
    void W1_aWakeIsNotLostThoughTheJdkHasJustLetTheTaskGoOn() throws Exception {
        Asyncio.run(() -> {
            WaitList waiters = new WaitList();
            Task<Wait.Reason> waiter = Asyncio.createTask(() -> {
                waiters.add(Wait.begin());
                Thread.yield();
                return Wait.suspend((task, woken) -> true, null, Wait.FOREVER);
            });
            Task<Boolean> waker = Asyncio.createTask(() -> Wait.resume(waiters.poll()));
            assertThat(waker.await()).isTrue();
            assertThat(Asyncio.waitFor(waiter::await, Duration.ofSeconds(5))).isEqualTo(Wait.Reason.WOKEN);
        });
    }

    /** What came of a wait that was never begun ends no later one. */
    @Test
    void W1_aWakeOfAWaitThatWasNotBegunEndsNoLaterOne() throws Exception {
        Asyncio.run(() -> {
            CompletableFuture<Void> go = new CompletableFuture<>();
            Task<Boolean> task = Asyncio.createTask(() -> {
                Wait.begin();
                go.get(); // of the JDK
                return new Event().awaitWithin(Duration.ofMillis(5));
            });
            Asyncio.sleepMs(5);
            assertThat(Wait.resume(task)).isTrue();
            go.complete(null);
            assertThat(task.await()).isFalse();
        });
    }

    /** The pool's own locks may hold a task up between handing its work over and waiting for it; the work may be done by then. */
    @Test
    void W1_noEndOfOffloadedWorkIsLost() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            int[] done = new int[1];
            loop.run(() -> Asyncio.waitFor(
                    () -> Asyncio.taskGroup(group -> {
                        for (int i = 0; i < 8; i++) {
                            group.createTask(() -> {
                                for (int n = 0; n < 5_000; n++) {
                                    int one = Asyncio.offload(() -> 1); // others count meanwhile
                                    done[0] += one;
                                }
                            });
                        }
                        return null;
                    }),
                    Duration.ofSeconds(60)));
            assertThat(done[0]).isEqualTo(40_000);
        }
    }

    /** JDK locks that threads contend for, between and within waits of every kind, timeouts and pooled work. */
    @Test
    @Tag("slow")
    void W1_nothingIsLostWhereJdkLocksHoldTasksUpAnywhere() throws Exception {
        ReentrantLock contended = new ReentrantLock();
        AtomicBoolean over = new AtomicBoolean();
        for (int i = 0; i < 2; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                while (!over.get()) {
                    touch(contended);
                    LockSupport.parkNanos(20_000);
                }
            });
        }
        int workers = 20;
        int rounds = 2_000;
        AsyncQueue<Integer> queue = new AsyncQueue<>(8);
        Semaphore three = new Semaphore(3);
        Lock lock = new Lock();
        int[] taken = new int[1];
        int[] inside = new int[1];
        int[] gaveUp = new int[1];
        Callable<Integer> mixed = () -> Asyncio.taskGroup(group -> {
            for (int i = 0; i < workers; i++) {
                Random random = new Random(i);
                group.createTask(() -> {
                    for (int n = 0; n < rounds; n++) {
                        touch(contended);
                        queue.put(1);
                        if (random.nextInt(10) == 0) {
                            assertThat(Asyncio.offload(() -> 7)).isEqualTo(7);
                        }
                        three.acquire();
                        try {
                            assertThat(++inside[0]).isLessThanOrEqualTo(3);
                            if (random.nextBoolean()) {
                                Asyncio.yieldNow();
                            }
                            touch(contended);
                        } finally {
                            inside[0]--;
                            three.release();
                        }
                        try {
                            Asyncio.waitFor(
                                    () -> {
                                        try (Guard held = lock.hold()) {
                                            if (random.nextInt(20) == 0) {
                                                Asyncio.sleepMs(1);
                                            }
                                            touch(contended);
                                        }
                                    },
                                    Duration.ofMillis(random.nextInt(3)));
                        } catch (TimeoutException e) {
                            gaveUp[0]++; // others held it for as long
                        }
                    }
                });
                group.createTask(() -> {
                    for (int n = 0; n < rounds; n++) {
                        int one = queue.get();
                        touch(contended);
                        taken[0] += one;
                    }
                });
            }
            return workers;
        });
        try {
            Asyncio.run(() -> Asyncio.waitFor(mixed, Duration.ofSeconds(60)));
        } finally {
            over.set(true);
        }
        assertThat(taken[0]).isEqualTo(workers * rounds);
        assertThat(inside[0]).isZero();
        assertThat(gaveUp[0]).isBetween(1, workers * rounds - 1);
        assertThat(lock.locked()).isFalse();
    }

    private static void touch(ReentrantLock lock) {
        lock.lock();
        try {
            Thread.onSpinWait();
        } finally {
            lock.unlock();
        }
    }

    @Test
    void C2_offloadedWorkIsInterrupted() throws Exception {
        Asyncio.run(() -> {
            CountDownLatch begun = new CountDownLatch(1);
            CompletableFuture<Throwable> ended = new CompletableFuture<>();
            Task<Void> victim = Asyncio.createTask(() -> Asyncio.offload(() -> {
                begun.countDown();
                try {
                    Thread.sleep(LONG);
                } catch (InterruptedException e) {
                    ended.complete(e);
                }
                return null;
            }));
            while (begun.getCount() > 0) {
                Asyncio.sleepMs(1);
            }
            victim.cancel();
            assertCancelled(victim);
            assertThat(ended.get()).isInstanceOf(InterruptedException.class);
            assertThat(Asyncio.offload(() -> Thread.currentThread().isInterrupted()))
                    .isFalse();
        });
    }

    @Test
    void C2_offloadedWorkThatIgnoresTheInterruptIsAbandonedAndReported() throws Exception {
        LinkedBlockingQueue<LoopError> errors = new LinkedBlockingQueue<>();
        EventLoop loop = EventLoop.builder().exceptionHandler(errors::add).build();
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        loop.run(() -> {
            Task<Void> victim = Asyncio.createTask(
                    "stubborn",
                    () -> Asyncio.offload(() -> {
                        begun.countDown();
                        while (true) {
                            try {
                                release.await();
                                return null;
                            } catch (InterruptedException e) {
                                assertThat(Thread.currentThread().isInterrupted())
                                        .isFalse();
                            }
                        }
                    }));
            Asyncio.yieldNow();
            begun.await();
            long start = System.nanoTime();
            victim.cancel();
            assertCancelled(victim);
            assertThat(System.nanoTime() - start).isLessThan(900_000_000);
            assertThat(errors.take().message()).contains("stubborn").contains("fastio-offload");
        });
        loop.close();
        release.countDown();
        assertThat(errors).isEmpty();
    }

    @Test
    void F100_offloadedWorkThatRunsAtTheEndIsReportedAndDoesNotHoldTheLoopUp() throws Exception {
        LinkedBlockingQueue<LoopError> errors = new LinkedBlockingQueue<>();
        EventLoop loop = EventLoop.builder().exceptionHandler(errors::add).build();
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        loop.run(() -> {
            Asyncio.createTask(
                    "stubborn",
                    () -> Asyncio.offload(() -> {
                        begun.countDown();
                        while (release.getCount() > 0) {
                            Thread.onSpinWait();
                        }
                        return null;
                    }));
            Asyncio.yieldNow();
            begun.await();
        });
        long start = System.nanoTime();
        loop.close();
        assertThat(System.nanoTime() - start).isLessThan(5_000_000_000L);
        release.countDown();
        assertThat(errors)
                .singleElement()
                .satisfies(e -> assertThat(e.message()).contains("stubborn"));
    }
}
