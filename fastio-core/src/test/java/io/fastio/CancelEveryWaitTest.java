package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.stream.Server;
import io.fastio.stream.Streams;
import io.fastio.sync.Barrier;
import io.fastio.sync.Condition;
import io.fastio.sync.Event;
import io.fastio.sync.Lock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * C2 for every kind of wait that hands nothing over: (what) x (when it is cancelled) x (swallowed or not) x (class of the
 * waiter). Waits that do are those of {@code CancelMatrixTest}; an attempt to connect is in {@code ConnectTest}.
 */
@Timeout(60)
final class CancelEveryWaitTest {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final int SOON_MS = 30;
    private static final int MUCH = 4 << 20;

    /** {@code satisfy} ends {@code await} as it should end; {@code tidy} is called at the end, whatever happened. */
    record Kind(String name, Callable<Case> make) {
        @Override
        public String toString() {
            return name;
        }
    }

    record Case(Action await, Action satisfy, Action tidy) {
        Case(Action await, Action satisfy) {
            this(await, satisfy, () -> {});
        }
    }

    enum Moment {
        BEFORE,
        JUST_BEFORE,
        JUST_AFTER,
        AFTER
    }

    private static Case byEvent(EventWait wait) {
        Event event = new Event();
        return new Case(() -> wait.on(event), event::set);
    }

    @FunctionalInterface
    private interface EventWait {
        void on(Event event) throws Exception;
    }

    private static final List<Kind> KINDS = List.of(
            new Kind("sleep", () -> new Case(() -> Asyncio.sleepMs(SOON_MS), () -> {})),
            new Kind("after", () -> new Case(() -> Asyncio.afterMs(SOON_MS), () -> {})),
            new Kind("event", () -> byEvent(Event::await)),
            new Kind("await", () -> byEvent(e -> Asyncio.createTask(e::await).await())),
            new Kind("Task.get", () -> byEvent(e -> Asyncio.createTask(e::await).get())),
            new Kind(
                    "gather",
                    () -> byEvent(e -> Asyncio.gather(
                            () -> {
                                e.await();
                                return 1;
                            },
                            () -> 2))),
            new Kind("group", () -> byEvent(e -> Asyncio.taskGroup(g -> g.createTask(e::await)))),
            new Kind(
                    "wait",
                    () -> byEvent(
                            e -> Asyncio.wait(List.of(Asyncio.createTask(e::await)), ReturnWhen.ALL_COMPLETED, null))),
            new Kind("condition", () -> {
                Condition condition = new Condition(new Lock());
                boolean[] met = new boolean[1];
                return new Case(
                        () -> {
                            condition.lock().acquire();
                            try {
                                condition.awaitFor(() -> met[0]);
                            } finally {
                                condition.lock().release();
                            }
                        },
                        () -> {
                            condition.lock().acquire();
                            met[0] = true;
                            condition.signalAll();
                            condition.lock().release();
                        },
                        () -> assertThat(condition.lock().locked()).isFalse());
            }),
            new Kind("barrier", () -> {
                Barrier barrier = new Barrier(2);
                List<Task<?>> others = new ArrayList<>();
                return new Case(
                        () -> assertThat(barrier.await()).isBetween(0, 1),
                        () -> others.add(Asyncio.createTask(
                                () -> assertThat(barrier.await()).isBetween(0, 1))),
                        () -> others.forEach(Task::cancel));
            }),
            new Kind("drain", () -> {
                Streams.Pipe pipe = Streams.pipe();
                pipe.sink().waterMarks(1_000, 2_000);
                pipe.sink().write(new byte[MUCH]);
                return new Case(
                        () -> pipe.sink().drain(),
                        () -> assertThat(pipe.source().readExactly(MUCH)).hasSize(MUCH),
                        () -> {
                            pipe.sink().abort();
                            pipe.source().abort();
                        });
            }),
            new Kind("end of a server", () -> {
                Server server = Streams.startServer((reader, writer) -> reader.read(1), "127.0.0.1", 0);
                return new Case(server::waitClosed, server::close, server::close);
            }),
            new Kind("serving", () -> {
                Server server = Streams.startServer((reader, writer) -> reader.read(1), "127.0.0.1", 0);
                return new Case(server::serveForever, server::close, server::close);
            }),
            new Kind("Thread.sleep", () -> new Case(() -> Thread.sleep(SOON_MS), () -> {})),
            new Kind("Future.get", () -> {
                CompletableFuture<Integer> future = new CompletableFuture<>();
                return new Case(() -> assertThat(future.get()).isEqualTo(1), () -> future.complete(1));
            }),
            new Kind("lockInterruptibly", () -> {
                ReentrantLock lock = new ReentrantLock();
                CountDownLatch held = new CountDownLatch(1);
                CountDownLatch release = new CountDownLatch(1);
                Thread holder = Thread.ofPlatform().start(() -> {
                    lock.lock();
                    try {
                        held.countDown();
                        release.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    } finally {
                        lock.unlock();
                    }
                });
                held.await();
                return new Case(
                        () -> {
                            lock.lockInterruptibly();
                            lock.unlock();
                        },
                        release::countDown,
                        () -> {
                            release.countDown();
                            holder.join();
                        });
            }),
            new Kind("socket of the JDK", () -> {
                try (ServerSocket listening = new ServerSocket(0, 1, HERE)) {
                    Socket near = new Socket(HERE, listening.getLocalPort());
                    Socket far = listening.accept();
                    return new Case(
                            () -> assertThat(near.getInputStream().read()).isEqualTo(7),
                            () -> far.getOutputStream().write(7),
                            () -> {
                                near.close();
                                far.close();
                            });
                }
            }));

    static List<Arguments> matrix() {
        List<Arguments> all = new ArrayList<>();
        for (Kind kind : KINDS) {
            for (Moment moment : Moment.values()) {
                for (boolean swallowed : new boolean[] {false, true}) {
                    for (Priority p : Priority.values()) {
                        all.add(Arguments.of(kind, moment, swallowed, p));
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}, {1}, swallowed {2}, {3}")
    @MethodSource("matrix")
    void C2_everyWaitEndsAtItsCancelAndLeavesNothing(Kind kind, Moment moment, boolean swallowed, Priority p)
            throws Exception {
        Asyncio.run(() -> {
            Case c = kind.make().call();
            int tasks = Asyncio.allTasks().size();
            boolean[] completed = new boolean[1];
            boolean[] told = new boolean[1];
            Task<?> waiter = Asyncio.createTask(TaskOptions.of(p), () -> {
                try {
                    c.await().run();
                    completed[0] = true;
                } catch (CancelledError | InterruptedException | IOException e) {
                    told[0] = true;
                    if (!swallowed) {
                        throw e;
                    }
                }
            });
            Asyncio.afterMs(0);
            Asyncio.afterMs(2);
            switch (moment) {
                case BEFORE -> {
                    assertThat(waiter.cancel()).isTrue();
                    until(waiter::done);
                    c.satisfy().run();
                    assertThat(completed[0]).isFalse();
                }
                case JUST_BEFORE -> {
                    assertThat(waiter.cancel()).isTrue();
                    c.satisfy().run();
                }
                case JUST_AFTER -> {
                    c.satisfy().run();
                    waiter.cancel();
                }
                case AFTER -> {
                    c.satisfy().run();
                    until(waiter::done);
                    assertThat(waiter.cancel()).isFalse();
                    assertThat(completed[0]).isTrue();
                }
            }
            until(waiter::done);
            assertThat(completed[0] != told[0]).as("it ended in one way").isTrue();
            assertThat(waiter.cancelled()).isEqualTo(told[0] && !swallowed);
            c.tidy().run();
            until(() -> Asyncio.allTasks().size() <= tasks);
            assertThat(Asyncio.runningLoop().scheduler.timers.isEmpty())
                    .as("no timer is left")
                    .isTrue();
        });
    }

    private static void until(BooleanSupplier met) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!met.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Asyncio.afterMs(1);
        }
    }
}
