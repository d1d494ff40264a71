package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import io.fastio.stream.Device;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.time.LoopClock;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * C2 and C6 for everything that hands something over, streams, devices, other threads and calls of the JDK included: (what) x
 * (when it is cancelled) x (how) x (class of the waiter).
 */
final class CancelMatrixTest {
    /** {@code interruptible}: a cancel only interrupts it, and what it got by then is got. */
    record Kind(String name, boolean interruptible, Callable<Resource> make) {
        Kind(String name, Callable<Resource> make) {
            this(name, false, make);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** One {@code give} satisfies one {@code take}; {@code left} counts what was given and not taken. */
    record Resource(Action take, Action give, IntSupplier left) {}

    enum Moment {
        BEFORE_THE_WAKE,
        JUST_BEFORE_THE_WAKE,
        JUST_AFTER_THE_WAKE,
        AFTER_IT_RAN
    }

    enum How {
        CANCEL,
        CANCEL_SWALLOWED,
        SCOPE,
        TIMEOUT
    }

    private static int drain(Supplier<Boolean> take) {
        int n = 0;
        while (take.get()) {
            n++;
        }
        return n;
    }

    private static final List<Kind> KINDS = List.of(
            new Kind("lock", () -> {
                Lock lock = new Lock();
                lock.acquire(); // held: nothing to take
                return new Resource(lock::acquire, lock::release, () -> lock.locked() ? 0 : 1);
            }),
            new Kind("semaphore", () -> {
                Semaphore s = new Semaphore(0);
                return new Resource(s::acquire, s::release, () -> drain(s::tryAcquire));
            }),
            new Kind("bounded semaphore", () -> {
                BoundedSemaphore s = new BoundedSemaphore(1);
                s.acquire();
                return new Resource(s::acquire, s::release, () -> drain(s::tryAcquire));
            }),
            new Kind("flag", () -> {
                ThreadSafeFlag f = new ThreadSafeFlag();
                return new Resource(f::await, f::set, () -> drain(() -> f.awaitWithin(Duration.ZERO)));
            }),
            new Kind("queue get", () -> {
                AsyncQueue<String> q = new AsyncQueue<>();
                return new Resource(q::get, () -> q.put("x"), q::size);
            }),
            new Kind("queue put", () -> {
                AsyncQueue<String> q = new AsyncQueue<>(1);
                q.putNowait("first");
                return new Resource(
                        () -> q.put("mine"),
                        () -> assertThat(q.getNowait()).isNotNull(),
                        () -> drain(() -> q.offer("probe", Duration.ZERO)));
            }),
            new Kind("ring", () -> {
                RingQueue<String> r = new RingQueue<>(2, RingQueue.WhenFull.REFUSE);
                return new Resource(r::get, () -> assertThat(r.put("x")).isTrue(), r::size);
            }),
            new Kind("stream read", () -> {
                Streams.Pipe pipe = Streams.pipe();
                return new Resource(
                        () -> assertThat(pipe.source().readExactly(1)).hasSize(1),
                        () -> pipe.sink().write(new byte[1]),
                        () -> drain(() -> reads(pipe.source())));
            }),
            new Kind("device read", () -> {
                OneByteAtATime device = new OneByteAtATime();
                Stream stream = new Stream(device);
                return new Resource(
                        () -> assertThat(stream.readExactly(1)).hasSize(1),
                        () -> device.bytes++,
                        () -> drain(() -> reads(stream)));
            }),
            new Kind("offload", () -> {
                java.util.concurrent.Semaphore permits = new java.util.concurrent.Semaphore(0);
                AtomicInteger got = new AtomicInteger();
                AtomicInteger returned = new AtomicInteger();
                return new Resource(
                        () -> returned.addAndGet(Asyncio.offload(() -> {
                            permits.acquire();
                            return got.incrementAndGet();
                        })),
                        permits::release,
                        () -> permits.drainPermits()
                                + got.get()
                                - returned.get()); // a result that nobody took is dropped
            }),
            new Kind("blocking queue", true, () -> {
                BlockingQueue<String> q = new LinkedBlockingQueue<>();
                return new Resource(q::take, () -> q.add("x"), q::size);
            }));

    /** A device with as many bytes as it is given. */
    private static final class OneByteAtATime implements Device {
        private int bytes;

        @Override
        public int poll(int interest) {
            return bytes > 0 ? interest & READ : 0;
        }

        @Override
        public int read(ByteBuffer target) {
            if (bytes == 0) {
                return 0;
            }
            bytes--;
            target.put((byte) 1);
            return 1;
        }

        @Override
        public int write(ByteBuffer source) {
            return 0;
        }
    }

    private static boolean reads(Stream stream) {
        try {
            return Asyncio.waitForMs(() -> stream.read(1), 1).length == 1;
        } catch (TimeoutException e) {
            return false;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static List<Arguments> matrix() {
        List<Arguments> all = new ArrayList<>();
        for (Kind kind : KINDS) {
            for (Moment moment : Moment.values()) {
                for (How how : How.values()) {
                    for (Priority p : Priority.values()) {
                        all.add(Arguments.of(kind, moment, how, p));
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}, {1}, {2}, {3}")
    @MethodSource("matrix")
    void C6_nothingIsLostOrDoubled(Kind kind, Moment moment, How how, Priority waiterClass) throws Exception {
        LoopClock.Virtual clock = LoopClock.virtual();
        Loops.on(clock, () -> {
            Resource resource = kind.make().call();
            int[] took = new int[1];
            Runnable[] end = new Runnable[1];
            Task<?> waiter = Asyncio.createTask(TaskOptions.of(waiterClass), () -> {
                Action takeIt = () -> {
                    resource.take().run();
                    took[0]++;
                };
                switch (how) {
                    case CANCEL, CANCEL_SWALLOWED -> {
                        try {
                            takeIt.run();
                        } catch (CancelledError e) {
                            if (how == How.CANCEL) {
                                throw e;
                            }
                        }
                    }
                    case SCOPE ->
                        Asyncio.cancelScope(scope -> {
                            end[0] = scope::cancel;
                            takeIt.run();
                            return true;
                        });
                    case TIMEOUT -> {
                        try {
                            Asyncio.waitForMs(takeIt, 10);
                        } catch (TimeoutException e) {
                            assertThat(took[0]).isZero();
                        }
                    }
                }
            });
            if (how == How.CANCEL || how == How.CANCEL_SWALLOWED) {
                end[0] = waiter::cancel;
            } else if (how == How.TIMEOUT) {
                end[0] = () -> clock.advance(Duration.ofMillis(10));
            }
            Asyncio.afterMs(0);
            Asyncio.afterMs(0);
            switch (moment) {
                case BEFORE_THE_WAKE -> {
                    end[0].run();
                    Asyncio.afterMs(1);
                    resource.give().run();
                }
                case JUST_BEFORE_THE_WAKE -> {
                    end[0].run();
                    resource.give().run();
                }
                case JUST_AFTER_THE_WAKE -> {
                    resource.give().run();
                    end[0].run();
                }
                case AFTER_IT_RAN -> {
                    resource.give().run();
                    Asyncio.afterMs(3); // an idle loop asks a device once a millisecond
                    end[0].run();
                }
            }
            Asyncio.afterMs(1);
            assertThat(waiter.done()).isTrue();
            if (moment == Moment.BEFORE_THE_WAKE) {
                assertThat(took[0]).isZero();
            } else if (moment == Moment.AFTER_IT_RAN) {
                assertThat(took[0]).isEqualTo(1);
            } else if (how != How.TIMEOUT && !kind.interruptible()) {
                assertThat(took[0]).isZero(); // the cancel wins, and what was on its way has passed on
            }
            assertThat(took[0] + resource.left().getAsInt()).isEqualTo(1);
        });
    }

    @Test
    void aLoopThatAbandonsItsWaitersDoesNotKeepTheirLocks() throws Exception {
        Lock lock = new Lock();
        Event event = new Event();
        Semaphore semaphore = new Semaphore(0);
        AsyncQueue<String> queue = new AsyncQueue<>(1);
        try (EventLoop stubborn = EventLoop.builder()
                .shutdownTimeout(Duration.ofMillis(20))
                .exceptionHandler(e -> {})
                .build()) {
            stubborn.run(() -> {
                Loops.start(() -> againAndAgain(lock::acquire));
                Loops.start(() -> againAndAgain(event::await));
                Loops.start(() -> againAndAgain(semaphore::acquire));
                Loops.start(() -> againAndAgain(queue::get));
                Loops.start(() -> {
                    lock.acquire();
                    Asyncio.shield(() -> {
                        Asyncio.sleep(Duration.ofDays(1));
                        return true;
                    });
                });
                Loops.settle();
            });
        }
        Loops.virtually(() -> {
            lock.acquire();
            Task<?> next = Loops.spawn(lock::acquire);
            Task<?> waiter = Loops.spawn(event::await);
            Loops.settle();
            lock.release();
            event.set();
            semaphore.release();
            semaphore.acquire();
            queue.put("a");
            assertThat(queue.get()).isEqualTo("a");
            next.await();
            waiter.await();
        });
    }

    private static void againAndAgain(Action take) throws Exception {
        while (true) {
            try {
                take.run();
                Asyncio.sleep(Duration.ofDays(1));
            } catch (CancelledError swallowed) {
                // the body that ends for nobody
            }
        }
    }

    @Test
    void S13_aPrimitiveInUseByOneLoopIsRefusedToAnother() throws Exception {
        Lock lock = new Lock();
        AsyncQueue<String> queue = new AsyncQueue<>();
        Condition condition = new Condition();
        Barrier barrier = new Barrier(2);
        ThreadSafeFlag flag = new ThreadSafeFlag();
        RingQueue<String> ring = new RingQueue<>(1, RingQueue.WhenFull.REFUSE);
        List<Action> waits = List.of(
                lock::acquire,
                queue::get,
                () -> {
                    condition.lock().acquire();
                    condition.await();
                },
                barrier::await,
                flag::await,
                ring::get,
                queue::join);
        try (EventLoop mine = EventLoop.create();
                EventLoop theirs = EventLoop.create()) {
            mine.run(() -> {
                lock.acquire();
                for (Action wait : waits) {
                    Loops.start(wait);
                }
                Loops.settle();
            });
            theirs.run(() -> {
                for (Action wait : waits) {
                    assertThatIllegalStateException().isThrownBy(wait::run);
                }
                queue.putNowait("from another loop");
                flag.set();
            });
        }
    }
}
