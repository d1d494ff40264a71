package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Other threads hammer on what any thread may call. Each claim is made by a method that takes what it is about as an
 * argument; beside the test with the real thing stands one with a broken twin, which lacks the guard that the claim
 * depends on, and must be caught.
 */
@Tag("slow")
@Timeout(120)
final class HammerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Long enough to say that a wake was lost. */
    private static final Duration LOST = Duration.ofMillis(1500);

    // ---- no set is lost, whatever the moment of the first wait and of the set

    private interface Flaglike {
        void set();

        void await();
    }

    private static void noSetIsLost(Flaglike flag, int rounds, Duration limit) throws Exception {
        AtomicInteger taken = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        Thread setter = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < rounds && !over.get(); i++) {
                flag.set();
                while (taken.get() == i && !over.get()) {
                    Thread.onSpinWait();
                }
            }
        });
        try {
            Loops.really(limit, () -> {
                while (taken.get() < rounds) {
                    flag.await();
                    taken.incrementAndGet();
                }
            });
        } finally {
            over.set(true);
            setter.join();
        }
    }

    private static Flaglike of(Event event) {
        return new Flaglike() {
            @Override
            public void set() {
                event.set();
            }

            @Override
            public void await() {
                event.await();
                event.clear();
            }
        };
    }

    private static Flaglike of(ThreadSafeFlag flag) {
        return new Flaglike() {
            @Override
            public void set() {
                flag.set();
            }

            @Override
            public void await() {
                flag.await();
            }
        };
    }

    @Test
    void Y1_noSetOfAnEventIsLost() throws Exception {
        noSetIsLost(of(new Event()), 20_000, LIMIT);
        for (int i = 0; i < 200; i++) {
            noSetIsLost(of(new Event()), 1, LIMIT); // the first wait races with the set
        }
    }

    @Test
    void Y1_noSetOfAFlagIsLost() throws Exception {
        noSetIsLost(of(new ThreadSafeFlag()), 20_000, LIMIT);
        for (int i = 0; i < 200; i++) {
            noSetIsLost(of(new ThreadSafeFlag()), 1, LIMIT);
        }
    }

    /** Looks whether somebody waits before it sets the flag, instead of after. */
    private static final class LooksTooEarly implements Flaglike {
        private final Race.Bell bell = new Race.Bell();
        private volatile boolean flag;

        @Override
        public void set() {
            boolean somebodyWaits = bell.waiting != null;
            Race.window();
            flag = true;
            if (somebodyWaits) {
                bell.ring();
            }
        }

        @Override
        public void await() {
            if (!flag) {
                bell.await();
            }
            flag = false;
        }
    }

    @Test
    void Y1_aTwinThatLooksForWaitersTooEarlyIsCaught() {
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> noSetIsLost(new LooksTooEarly(), 100_000, LOST));
    }

    // ---- set();clear() from outside wakes everyone who waited

    private interface Pulse {
        void pulse();

        void await();
    }

    private static void everyPulseWakesTheWaiter(Pulse event, Duration limit) throws Exception {
        Loops.really(limit, () -> {
            for (int i = 0; i < 500; i++) {
                Task<?> waiter = Loops.spawn(event::await);
                Loops.settle();
                Loops.onAnotherThread(event::pulse);
                waiter.await();
            }
        });
    }

    @Test
    void Y1_setAndClearFromOutsideWakesThoseWhoWaited() throws Exception {
        Event event = new Event();
        everyPulseWakesTheWaiter(
                new Pulse() {
                    @Override
                    public void pulse() {
                        event.set();
                        event.clear();
                    }

                    @Override
                    public void await() {
                        event.await();
                    }
                },
                LIMIT);
    }

    @Test
    void Y1_aTwinThatLooksAtTheFlagWhenItHearsTheBellIsCaught() {
        Race.Bell bell = new Race.Bell();
        AtomicBoolean flag = new AtomicBoolean();
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> everyPulseWakesTheWaiter(
                        new Pulse() {
                            @Override
                            public void pulse() {
                                flag.set(true);
                                bell.ring();
                                flag.set(false);
                            }

                            @Override
                            public void await() {
                                while (!flag.get()) {
                                    bell.await();
                                }
                            }
                        },
                        LOST));
    }

    // ---- what a thread wrote before it set the flag is seen by whoever takes it, also if sets merge

    private static void mergedSetsLoseNoData(Flaglike flag, int perThread, Duration limit) throws Exception {
        int threads = 3;
        AtomicLong[] data = new AtomicLong[threads];
        for (int i = 0; i < threads; i++) {
            data[i] = new AtomicLong();
        }
        Thread setters = Thread.ofPlatform().daemon().start(() -> {
            try {
                Race.of(threads, number -> {
                    for (int i = 0; i < perThread; i++) {
                        data[number].incrementAndGet();
                        flag.set();
                    }
                });
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        Loops.really(limit, () -> {
            long seen = 0;
            while (seen < (long) threads * perThread) {
                flag.await();
                seen = 0;
                for (AtomicLong d : data) {
                    seen += d.get();
                }
            }
        });
        setters.join();
    }

    @Test
    void Y1_mergedSetsLoseNothing() throws Exception {
        mergedSetsLoseNoData(of(new ThreadSafeFlag()), 30_000, LIMIT);
        mergedSetsLoseNoData(of(new Event()), 30_000, LIMIT);
    }

    /** Clears the flag when the work that it announced is done, instead of before. */
    private static final class ClearsTooLate implements Flaglike {
        private final ThreadSafeFlag flag = new ThreadSafeFlag();
        private boolean working;

        @Override
        public void set() {
            flag.set();
        }

        @Override
        public void await() {
            if (working) {
                Race.window();
                flag.clear();
            }
            flag.await();
            working = true;
        }
    }

    @Test
    void Y1_aTwinThatClearsAfterTheWorkIsCaught() {
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> noSetIsLost(new ClearsTooLate(), 100_000, LOST));
    }

    // ---- of those who release one thing at once, one succeeds

    private static void oneReleaseSucceeds(Action take, Action release, int rounds) throws Exception {
        Loops.really(LIMIT, () -> {
            for (int i = 0; i < rounds; i++) {
                take.run();
                int winners = Asyncio.offload(() -> Race.winners(4, release));
                assertThat(winners).isEqualTo(1);
            }
        });
    }

    @Test
    void Y2_aLockIsReleasedByOneOfMany() throws Exception {
        Lock lock = new Lock();
        oneReleaseSucceeds(lock::acquire, lock::release, 500);
        assertThat(lock.locked()).isFalse();
    }

    @Test
    void Y3_aBoundedSemaphoreIsReleasedByOneOfMany() throws Exception {
        BoundedSemaphore semaphore = new BoundedSemaphore(1);
        oneReleaseSucceeds(semaphore::acquire, semaphore::release, 500);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
    }

    @Test
    void Y3_workIsDoneOnce() throws Exception {
        AsyncQueue<String> q = new AsyncQueue<>();
        oneReleaseSucceeds(
                () -> {
                    q.put("work");
                    assertThat(q.get()).isEqualTo("work");
                },
                q::taskDone,
                500);
    }

    @Test
    void Y2_aTwinThatChecksAndThenActsIsCaught() {
        AtomicBoolean held = new AtomicBoolean();
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> oneReleaseSucceeds(
                        () -> held.set(true),
                        () -> {
                            if (!held.get()) {
                                throw new IllegalStateException("not held");
                            }
                            Race.window();
                            held.set(false);
                        },
                        500));
    }

    /** The same, one of the two being a task of the loop that the thing lives on. */
    private static int releasesBesideTheLoop(Action take, Action release, int rounds) throws Exception {
        AtomicInteger round = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        AtomicInteger succeeded = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        Action attempt = () -> {
            try {
                release.run();
                succeeded.incrementAndGet();
            } catch (IllegalStateException refused) {
                // the other one was first
            }
        };
        Thread other = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 1; i <= rounds; i++) {
                while (round.get() < i) {
                    if (over.get()) {
                        return;
                    }
                    Thread.onSpinWait();
                }
                try {
                    attempt.run();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                answered.set(i);
            }
        });
        try {
            Loops.really(LIMIT, () -> {
                for (int i = 1; i <= rounds; i++) {
                    take.run();
                    round.set(i);
                    for (int n = i % 64; n > 0; n--) {
                        Thread.onSpinWait();
                    }
                    attempt.run();
                    while (answered.get() < i) {
                        Asyncio.yieldNow();
                    }
                }
            });
        } finally {
            over.set(true);
            other.join();
        }
        return succeeded.get();
    }

    @Test
    void Y2_ofATaskAndAThreadThatReleaseALockOneSucceeds() throws Exception {
        Lock lock = new Lock();
        int rounds = 100_000;
        assertThat(releasesBesideTheLoop(lock::acquire, lock::release, rounds)).isEqualTo(rounds);
        assertThat(lock.locked()).isFalse();
    }

    @Test
    void Y2_brokenTwinOfARelease_looksAndThenWrites_isCaught() throws Exception {
        AtomicBoolean held = new AtomicBoolean();
        Action looksAndThenWrites = () -> {
            if (!held.get()) {
                throw new IllegalStateException("not held");
            }
            Race.window();
            held.set(false);
        };
        assertThat(releasesBesideTheLoop(() -> held.set(true), looksAndThenWrites, 500))
                .isGreaterThan(500);
    }

    // ---- a lock released by other threads still excludes

    private interface Locklike {
        void acquire();

        void release();
    }

    private static void excludes(Locklike lock, int rounds) throws Exception {
        Queue<Integer> toRelease = new ConcurrentLinkedQueue<>();
        AtomicBoolean over = new AtomicBoolean();
        Thread releasers = Thread.ofPlatform().daemon().start(() -> {
            try {
                Race.of(2, number -> {
                    while (!over.get() || !toRelease.isEmpty()) {
                        if (toRelease.poll() != null) {
                            lock.release();
                        } else {
                            Thread.onSpinWait();
                        }
                    }
                });
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        int[] inside = new int[1];
        int[] entered = new int[1];
        try {
            Loops.really(LIMIT, () -> {
                List<Task<?>> tasks = new ArrayList<>();
                for (int n = 0; n < 4; n++) {
                    int me = n;
                    tasks.add(Loops.spawn(() -> {
                        for (int i = 0; i < rounds; i++) {
                            int round = i;
                            Loops.spawn(
                                            () -> { // a task of its own: it cannot acquire while others release for it
                                                lock.acquire();
                                                inside[0]++;
                                                assertThat(inside[0]).isEqualTo(1);
                                                entered[0]++;
                                                if (round % 3 == 0) {
                                                    Asyncio.yieldNow();
                                                }
                                                inside[0]--;
                                                if ((round + me) % 2 == 0) {
                                                    toRelease.add(round);
                                                } else {
                                                    lock.release();
                                                }
                                            })
                                    .await();
                            if (i % 7 == 0) {
                                Task<?> gaveUp = Loops.spawn(lock::acquire);
                                Asyncio.yieldNow();
                                if (!gaveUp.cancel() && !gaveUp.cancelled()) {
                                    toRelease.add(i); // it got the lock, and ended
                                }
                            }
                        }
                    }));
                }
                for (Task<?> t : tasks) {
                    t.await();
                }
            });
        } finally {
            over.set(true);
            releasers.join();
        }
        assertThat(entered[0]).isEqualTo(4 * rounds);
    }

    @Test
    void Y2_aLockThatOtherThreadsReleaseStillExcludes() throws Exception {
        Lock lock = new Lock();
        excludes(
                new Locklike() {
                    @Override
                    public void acquire() {
                        lock.acquire();
                    }

                    @Override
                    public void release() {
                        lock.release();
                    }
                },
                2_000);
        assertThat(lock).hasToString("Lock[free, 0 waiting]");
    }

    @Test
    void Y2_aTwinThatLooksAndThenTakesAcrossAWaitIsCaught() {
        AtomicBoolean held = new AtomicBoolean();
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> excludes(
                        new Locklike() {
                            @Override
                            public void acquire() {
                                while (held.get()) {
                                    Asyncio.yieldNow();
                                }
                                Asyncio.yieldNow();
                                held.set(true);
                            }

                            @Override
                            public void release() {
                                held.set(false);
                            }
                        },
                        2_000));
    }

    // ---- permits are neither lost nor made

    private static void conservesPermits(Semaphore semaphore, Action foreignRelease) throws Exception {
        int before = semaphore.availablePermits();
        Loops.really(LIMIT, () -> {
            Task<?> others = Loops.spawn(() -> Loops.onAnotherThread(() -> Race.of(2, number -> {
                for (int got = 0; got < 2_000; ) {
                    if (semaphore.tryAcquire()) {
                        got++;
                        foreignRelease.run();
                    }
                }
            })));
            List<Task<?>> tasks = new ArrayList<>();
            for (int n = 0; n < 4; n++) {
                tasks.add(Loops.spawn(() -> {
                    while (!others.done()) {
                        if (semaphore.acquireWithin(Duration.ofNanos(10_000))) {
                            Asyncio.yieldNow();
                            semaphore.release();
                        }
                        Task<?> gaveUp = Loops.spawn(() -> {
                            semaphore.acquire();
                            semaphore.release();
                        });
                        Asyncio.yieldNow();
                        gaveUp.cancel();
                        Asyncio.sleepNanos(20_000); // the others get a chance: nobody overtakes who waits
                    }
                }));
            }
            others.await();
            for (Task<?> t : tasks) {
                t.await();
            }
            Loops.settle();
        });
        assertThat(semaphore.availablePermits()).isEqualTo(before);
    }

    @Test
    void Y3_permitsAreNeitherLostNorMade() throws Exception {
        Semaphore semaphore = new Semaphore(2);
        conservesPermits(semaphore, semaphore::release);
        BoundedSemaphore bounded = new BoundedSemaphore(2);
        conservesPermits(bounded, bounded::release);
    }

    @Test
    void Y3_aTwinThatForgetsAReleaseIsCaught() {
        Semaphore semaphore = new Semaphore(2);
        AtomicInteger releases = new AtomicInteger();
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> conservesPermits(semaphore, () -> {
                    if (releases.incrementAndGet() != 1) {
                        semaphore.release();
                    }
                }));
    }

    // ---- every item that was accepted comes out once, in the order of its producer

    private interface Queuelike {
        void put(long item);

        void close();

        /** The next item; throws QueueClosedException at the end. */
        long get();
    }

    private static Queuelike of(AsyncQueue<Long> queue) {
        return new Queuelike() {
            @Override
            public void put(long item) {
                queue.putNowait(item);
            }

            @Override
            public void close() {
                queue.close();
            }

            @Override
            public long get() {
                return queue.get();
            }
        };
    }

    private static void everyAcceptedItemComesOut(Queuelike queue, int producers, int perProducer, Duration limit)
            throws Exception {
        AtomicLong[] accepted = new AtomicLong[producers];
        for (int i = 0; i < producers; i++) {
            accepted[i] = new AtomicLong();
        }
        long[] next = new long[producers];
        Loops.really(limit, () -> {
            Task<?> production = Loops.spawn(() -> Loops.onAnotherThread(() -> Race.of(producers + 1, number -> {
                if (number == producers) {
                    Thread.sleep(20);
                    queue.close();
                    return;
                }
                for (int i = 0; i < perProducer; i++) {
                    try {
                        queue.put(number * 1_000_000_000L + accepted[number].get());
                        accepted[number].incrementAndGet();
                    } catch (QueueClosedException closed) {
                        return;
                    } catch (IllegalStateException full) {
                        Thread.onSpinWait();
                    }
                }
            })));
            List<Task<?>> consumers = new ArrayList<>();
            for (int n = 0; n < 3; n++) {
                consumers.add(Loops.spawn(() -> {
                    while (true) {
                        // In the task that takes it: whoever awaits that may give way meanwhile (S14).
                        Task<Void> getter = Asyncio.createTask(() -> {
                            long item = queue.get();
                            int producer = (int) (item / 1_000_000_000L);
                            assertThat(item % 1_000_000_000L).isEqualTo(next[producer]++);
                        });
                        Asyncio.yieldNow();
                        getter.cancel(); // too late, in time, or on the way
                        try {
                            getter.await();
                        } catch (CancelledError nothingTaken) {
                            assertThat(getter.cancelled()).isTrue();
                        } catch (QueueClosedException end) {
                            return;
                        }
                    }
                }));
            }
            for (Task<?> t : consumers) {
                t.await();
            }
            production.await();
        });
        for (int i = 0; i < producers; i++) {
            assertThat(next[i]).isEqualTo(accepted[i].get());
        }
    }

    @Test
    void Y3_everyItemAcceptedBeforeTheCloseComesOutOnceAndInOrder() throws Exception {
        for (int i = 0; i < 3; i++) {
            everyAcceptedItemComesOut(of(new AsyncQueue<>()), 2, 30_000, LIMIT);
            everyAcceptedItemComesOut(of(new AsyncQueue<>(7)), 2, 1_000_000, LIMIT);
        }
    }

    /** Looks whether it is closed, and then adds: an item slips in after the last look of the readers. */
    private static final class ClosesLoosely implements Queuelike {
        private final AsyncQueue<Long> queue = new AsyncQueue<>();
        private final Queue<Long> items = new ConcurrentLinkedQueue<>();
        private volatile boolean closed;

        @Override
        public void put(long item) {
            if (closed) {
                throw new QueueClosedException();
            }
            Race.window();
            items.add(item);
        }

        @Override
        public void close() {
            closed = true;
            queue.close();
        }

        @Override
        public long get() {
            Long item;
            while ((item = items.poll()) == null) {
                if (closed) {
                    queue.get();
                }
                Asyncio.yieldNow();
            }
            return item;
        }
    }

    @Test
    void Y3_aTwinThatClosesLooselyIsCaught() {
        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> {
            for (int i = 0; i < 100; i++) {
                everyAcceptedItemComesOut(new ClosesLoosely(), 3, 1_000_000, LIMIT);
            }
        });
    }

    // ---- a bounded queue never holds more than its bound

    private static void staysWithinItsBound(AsyncQueue<Integer> queue, Action put, int bound) throws Exception {
        Loops.really(LIMIT, () -> {
            for (int round = 0; round < 300; round++) {
                int winners = Asyncio.offload(() -> Race.winners(4, put));
                assertThat(winners).isEqualTo(bound);
                for (int i = 0; i < bound; i++) {
                    assertThat(queue.getNowait()).isEqualTo(1);
                }
            }
        });
    }

    @Test
    void Y3_aBoundedQueueStaysWithinItsBound() throws Exception {
        AsyncQueue<Integer> queue = new AsyncQueue<>(2);
        staysWithinItsBound(queue, () -> queue.putNowait(1), 2);
    }

    @Test
    void Y3_aTwinThatLooksForRoomAndThenPutsIsCaught() {
        AsyncQueue<Integer> queue = new AsyncQueue<>();
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> staysWithinItsBound(
                        queue,
                        () -> {
                            if (queue.size() >= 2) {
                                throw new IllegalStateException("full");
                            }
                            Race.window();
                            queue.putNowait(1);
                        },
                        2));
    }

    // ---- every notification, and every arrival, counts

    private static void everyNotificationCounts(Condition condition, Action signal, Duration limit) throws Exception {
        Loops.really(limit, () -> {
            for (int round = 0; round < 100; round++) {
                List<Task<?>> waiters = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    waiters.add(Loops.spawn(() -> {
                        try (Guard held = condition.hold()) {
                            condition.await();
                            assertThat(held).isNotNull();
                        }
                    }));
                }
                Loops.settle();
                Loops.onAnotherThread(() -> Race.of(4, number -> signal.run()));
                for (Task<?> t : waiters) {
                    t.await();
                }
            }
        });
    }

    @Test
    void Y3_everyNotificationCounts() throws Exception {
        Condition condition = new Condition();
        everyNotificationCounts(condition, condition::signal, LIMIT);
    }

    @Test
    void Y3_aTwinThatMergesNotificationsIsCaught() {
        Condition condition = new Condition();
        AtomicBoolean underWay = new AtomicBoolean();
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> everyNotificationCounts(
                        condition,
                        () -> {
                            if (underWay.compareAndSet(false, true)) {
                                Race.window();
                                condition.signal();
                                underWay.set(false);
                            }
                        },
                        LOST));
    }

    private static void everyArrivalCounts(Barrier barrier, Action arrive, Duration limit) throws Exception {
        Loops.really(limit, () -> {
            for (int round = 0; round < 200; round++) {
                Task<?> member = Loops.spawn(() -> assertThat(barrier.await()).isBetween(0, 4));
                Loops.onAnotherThread(() -> Race.of(4, number -> arrive.run()));
                member.await();
                assertThat(barrier.arrived()).isZero();
            }
        });
    }

    @Test
    void Y3_everyArrivalCounts() throws Exception {
        Barrier barrier = new Barrier(5);
        everyArrivalCounts(barrier, barrier::arrive, LIMIT);
    }

    @Test
    void Y3_aTwinThatCountsByReadingAndWritingIsCaught() {
        Barrier barrier = new Barrier(5);
        AtomicInteger count = new AtomicInteger();
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> everyArrivalCounts(
                        barrier,
                        () -> {
                            int n = count.get();
                            Race.window();
                            count.set(n + 1);
                            if (n + 1 == 4) {
                                count.set(0);
                                for (int i = 0; i < 4; i++) {
                                    barrier.arrive();
                                }
                            }
                        },
                        LOST));
    }

    // ---- a ring gives out what it has taken and not lost, in the order of each producer

    private interface Ringlike {
        boolean put(long item);

        long get();

        long lost();
    }

    private static void whatIsNotLostComesOut(Ringlike ring, int perProducer, Duration limit) throws Exception {
        int producers = 2;
        AtomicLong put = new AtomicLong();
        long[] got = new long[1];
        long[] newest = {-1, -1};
        Loops.really(limit, () -> {
            Task<?> consumer = Loops.spawn(() -> {
                while (true) {
                    long item = ring.get();
                    int producer = (int) (item >> 32);
                    assertThat(item).isGreaterThan(newest[producer]);
                    newest[producer] = item;
                    got[0]++;
                }
            });
            Loops.onAnotherThread(() -> Race.of(producers, number -> {
                for (int i = 0; i < perProducer; i++) {
                    if (ring.put(((long) number << 32) + i)) {
                        put.incrementAndGet();
                    }
                }
            }));
            Asyncio.sleepMs(20);
            while (got[0] + ring.lost() < (long) producers * perProducer) {
                Asyncio.sleepMs(1);
            }
            consumer.cancel();
            assertThat(got[0] + ring.lost()).isEqualTo((long) producers * perProducer);
            Loops.settle();
            assertThat(consumer.cancelled()).isTrue();
        });
        assertThat(put.get()).isLessThanOrEqualTo((long) producers * perProducer);
    }

    private static Ringlike of(RingQueue<Long> ring) {
        return new Ringlike() {
            @Override
            public boolean put(long item) {
                return ring.put(item);
            }

            @Override
            public long get() {
                return ring.get();
            }

            @Override
            public long lost() {
                return ring.lost();
            }
        };
    }

    @Test
    void Y4_whatARingHasNotLostComesOutInOrder() throws Exception {
        for (RingQueue.WhenFull whenFull : RingQueue.WhenFull.values()) {
            for (int capacity : new int[] {1, 2, 5, 64}) {
                whatIsNotLostComesOut(of(new RingQueue<>(capacity, whenFull)), 20_000, LIMIT);
            }
        }
    }

    /** Producers take their place by reading and writing the tail. */
    private static final class SharesPlaces implements Ringlike {
        private final Race.Bell bell = new Race.Bell();
        private final AtomicLong[] items = new AtomicLong[64];
        private final AtomicLong lost = new AtomicLong();
        private volatile int tail;
        private volatile int head;

        SharesPlaces() {
            for (int i = 0; i < items.length; i++) {
                items[i] = new AtomicLong();
            }
        }

        @Override
        public boolean put(long item) {
            int t = tail;
            if (t - head >= items.length) {
                lost.incrementAndGet();
                return false;
            }
            Race.window();
            items[t % items.length].set(item);
            tail = t + 1;
            bell.ring();
            return true;
        }

        @Override
        public long get() {
            while (head >= tail) {
                Asyncio.yieldNow();
            }
            int h = head;
            long item = items[h % items.length].get();
            head = h + 1;
            return item;
        }

        @Override
        public long lost() {
            return lost.get();
        }
    }

    @Test
    void Y4_aTwinWhoseProducersShareAPlaceIsCaught() {
        assertThat(org.assertj.core.api.Assertions.catchThrowable(
                        () -> whatIsNotLostComesOut(new SharesPlaces(), 2_000, LOST)))
                .isInstanceOfAny(AssertionError.class, TimeoutException.class);
    }
}
