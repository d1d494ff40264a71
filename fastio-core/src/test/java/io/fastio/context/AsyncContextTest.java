package io.fastio.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.sync.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** W3, the same for the three ways to drive a context. */
@Timeout(60)
final class AsyncContextTest {
    private static final Duration NOW = Duration.ZERO;

    enum Way {
        OWN_THREAD,
        HOST,
        LOOP
    }

    /** A context and whatever drives it. */
    private static final class Driven implements AutoCloseable {
        final List<String> reports = Collections.synchronizedList(new ArrayList<>());
        final AsyncContext context;
        private final Way way;

        Driven(Way way) {
            this.way = way;
            EventLoop.Builder settings = EventLoop.builder().exceptionHandler(e -> reports.add(e.message()));
            context = switch (way) {
                case OWN_THREAD -> AsyncContext.onOwnThread(settings);
                case HOST -> AsyncContext.polled(settings);
                case LOOP -> {
                    EventLoop loop = settings.build();
                    loop.start();
                    yield AsyncContext.on(loop);
                }
            };
        }

        /** Drives it until something is the case. */
        void until(BooleanSupplier condition) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!condition.getAsBoolean()) {
                assertThat(System.nanoTime()).as("gave up waiting").isLessThan(end);
                drive();
            }
        }

        /** Drives it for long enough that what is due has run. */
        void settle() throws InterruptedException {
            for (int i = 0; i < 10; i++) {
                drive();
            }
        }

        private void drive() throws InterruptedException {
            if (way == Way.HOST) {
                context.poll(Duration.ofMillis(1));
            } else {
                Thread.sleep(1);
            }
        }

        /** Runs {@code work} on another thread while the context is driven. */
        <T> T elsewhere(Callable<T> work) throws Exception {
            FutureTask<T> f = new FutureTask<>(work);
            Thread.ofPlatform().daemon().start(f);
            until(f::isDone);
            try {
                return f.get();
            } catch (java.util.concurrent.ExecutionException e) {
                throw (Exception) e.getCause();
            }
        }

        @Override
        public void close() {
            context.close();
            if (way == Way.LOOP) {
                assertThat(context.loop().isClosed()).isFalse();
                context.loop().close();
            }
            assertThat(context.loop().isClosed()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_earliestFirstThenInOrderOfAddingThenThePendingOnes(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            AsyncContext c = d.context;
            c.acquireLock();
            long t = c.loop().time();
            WhenPendingWorker p1 = new WhenPendingWorker(() -> order.add("p1"));
            WhenPendingWorker p2 = new WhenPendingWorker(() -> order.add("p2"));
            assertThat(c.addWhenPendingWorker(p1)).isTrue();
            assertThat(c.addWhenPendingWorker(p2)).isTrue();
            assertThat(c.setWorkPending(p2)).isTrue();
            assertThat(c.setWorkPending(p1)).isTrue();
            for (String name : List.of("b1", "b2", "b3")) {
                assertThat(c.addAtTimeWorkerAt(new AtTimeWorker(() -> order.add(name)), t))
                        .isTrue();
            }
            assertThat(c.addAtTimeWorkerAt(new AtTimeWorker(() -> order.add("a")), t - 1))
                    .isTrue();
            assertThat(c.addAtTimeWorker(new AtTimeWorker(() -> order.add("late")), Duration.ofMillis(50)))
                    .isTrue();
            c.releaseLock();
            d.until(() -> order.size() == 7);
            assertThat(order).containsExactly("a", "b1", "b2", "b3", "p1", "p2", "late");
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_anAtTimeWorkerIsRemovedBeforeItRunsAndMayAddItselfAnew(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AtomicInteger runs = new AtomicInteger();
            AtomicReference<AtTimeWorker> self = new AtomicReference<>();
            List<Boolean> seen = Collections.synchronizedList(new ArrayList<>());
            AtTimeWorker w = new AtTimeWorker(() -> {
                seen.add(self.get().isAdded());
                if (runs.incrementAndGet() < 3) {
                    seen.add(d.context.addAtTimeWorker(self.get(), Duration.ofMillis(2)));
                }
            });
            self.set(w);
            d.context.addAtTimeWorker(w, Duration.ofMillis(2));
            d.until(() -> runs.get() == 3);
            d.settle();
            assertThat(runs).hasValue(3);
            assertThat(seen).containsExactly(false, true, false, true, false);
            assertThat(w.isAdded()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_whatReAddsItselfInThePastWaitsForTheNextPass(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            AtomicReference<AtTimeWorker> self = new AtomicReference<>();
            WhenPendingWorker p = new WhenPendingWorker(() -> order.add("p"));
            d.context.addWhenPendingWorker(p);
            self.set(new AtTimeWorker(() -> {
                order.add("a");
                if (order.size() < 20) {
                    assertThat(d.context.addAtTimeWorkerAt(self.get(), -1)).isTrue();
                    d.context.setWorkPending(p);
                }
            }));
            d.context.addAtTimeWorkerAt(self.get(), -1);
            d.until(() -> order.size() >= 20);
            assertThat(order.subList(0, 6)).containsExactly("a", "p", "a", "p", "a", "p");
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_marksCoalesceUntilTheWorkBegins(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AtomicInteger runs = new AtomicInteger();
            AtomicReference<WhenPendingWorker> self = new AtomicReference<>();
            WhenPendingWorker w = new WhenPendingWorker(() -> {
                assertThat(self.get().isPending()).isFalse();
                if (runs.incrementAndGet() == 1) {
                    d.context.setWorkPending(self.get());
                    d.context.setWorkPending(self.get());
                }
            });
            self.set(w);
            d.context.addWhenPendingWorker(w);
            d.context.acquireLock();
            for (int i = 0; i < 5; i++) {
                assertThat(d.context.setWorkPending(w)).isTrue();
            }
            d.context.releaseLock();
            d.until(() -> runs.get() == 2);
            d.settle();
            assertThat(runs).hasValue(2);
            assertThat(d.reports).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_addAndRemoveSayWhetherTheyDidAnything(Way way) throws Exception {
        try (Driven d = new Driven(way);
                Driven other = new Driven(Way.OWN_THREAD)) {
            AsyncContext c = d.context;
            AtomicInteger runs = new AtomicInteger();
            AtTimeWorker a = new AtTimeWorker(runs::incrementAndGet);
            WhenPendingWorker p = new WhenPendingWorker(runs::incrementAndGet);
            assertThat(c.removeAtTimeWorker(a)).isFalse();
            assertThat(c.removeWhenPendingWorker(p)).isFalse();
            assertThat(c.setWorkPending(p)).isFalse();
            assertThat(c.addAtTimeWorker(a, Duration.ofSeconds(100))).isTrue();
            assertThat(c.addAtTimeWorker(a, NOW)).isFalse();
            assertThat(other.context.addAtTimeWorker(a, NOW)).isFalse();
            assertThat(other.context.removeAtTimeWorker(a)).isFalse();
            assertThat(c.removeAtTimeWorker(a)).isTrue();
            assertThat(c.removeAtTimeWorker(a)).isFalse();
            assertThat(c.addWhenPendingWorker(p)).isTrue();
            assertThat(c.addWhenPendingWorker(p)).isFalse();
            assertThat(other.context.setWorkPending(p)).isFalse();
            c.acquireLock();
            c.setWorkPending(p);
            assertThat(c.removeWhenPendingWorker(p)).isTrue();
            c.releaseLock();
            d.settle();
            assertThat(runs).hasValue(0);
            assertThat(other.context.addAtTimeWorker(a, Instant.now())).isTrue();
            other.until(() -> runs.get() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_aWorkerMayRemoveItselfAndOthers(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            AtomicInteger removed = new AtomicInteger();
            AtomicInteger others = new AtomicInteger();
            WhenPendingWorker victim = new WhenPendingWorker(others::incrementAndGet);
            AtTimeWorker later = new AtTimeWorker(others::incrementAndGet);
            AtomicReference<WhenPendingWorker> self = new AtomicReference<>();
            self.set(new WhenPendingWorker(() -> {
                assertThat(c.removeWhenPendingWorker(self.get())).isTrue();
                assertThat(c.removeWhenPendingWorker(victim)).isTrue();
                assertThat(c.removeAtTimeWorker(later)).isTrue();
                removed.incrementAndGet();
            }));
            c.acquireLock();
            c.addWhenPendingWorker(self.get());
            c.addWhenPendingWorker(victim);
            c.addAtTimeWorker(later, Duration.ofMillis(200));
            c.setWorkPending(self.get());
            c.setWorkPending(victim);
            c.releaseLock();
            d.until(() -> removed.get() == 1);
            d.settle();
            assertThat(others).hasValue(0);
            assertThat(c.setWorkPending(self.get())).isFalse();
            assertThat(d.reports).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_theLockIsRecursiveAndItsLastReleaseServesWhatWasSkipped(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            AtomicInteger runs = new AtomicInteger();
            WhenPendingWorker p = new WhenPendingWorker(runs::incrementAndGet);
            c.addWhenPendingWorker(p);
            c.acquireLock();
            c.acquireLock();
            assertThat(c.holdsLock()).isTrue();
            d.elsewhere(() -> c.setWorkPending(p));
            c.addAtTimeWorker(new AtTimeWorker(runs::incrementAndGet), NOW);
            d.settle();
            c.releaseLock();
            d.settle();
            assertThat(runs).hasValue(0);
            assertThat(c.holdsLock()).isTrue();
            c.releaseLock();
            assertThat(c.holdsLock()).isFalse();
            d.until(() -> runs.get() == 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_onlyItsOwnerReleasesTheLock(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            assertThatIllegalStateException().isThrownBy(c::releaseLock);
            c.acquireLock();
            d.elsewhere(() -> {
                assertThatIllegalStateException().isThrownBy(c::releaseLock);
                assertThat(c.holdsLock()).isFalse();
                return true;
            });
            c.releaseLock();
            AtomicInteger refused = new AtomicInteger();
            c.addAtTimeWorker(
                    new AtTimeWorker(() -> {
                        assertThat(c.holdsLock()).isTrue();
                        assertThatIllegalStateException().isThrownBy(c::releaseLock);
                        c.acquireLock();
                        c.releaseLock();
                        refused.incrementAndGet();
                    }),
                    NOW);
            d.until(() -> refused.get() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_aThreadWaitsForTheLockUntilItIsFree(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            AtomicInteger holders = new AtomicInteger();
            AtomicInteger rounds = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                threads.add(Thread.ofPlatform().daemon().start(() -> {
                    for (int n = 0; n < 500; n++) {
                        c.acquireLock();
                        if (holders.incrementAndGet() != 1) {
                            throw new AssertionError("two owners");
                        }
                        holders.decrementAndGet();
                        rounds.incrementAndGet();
                        c.releaseLock();
                    }
                }));
            }
            d.until(() -> rounds.get() == 3000);
            for (Thread t : threads) {
                t.join();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_executeSyncFromManyThreadsNeverMeetsAWorker(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            int[] inside = new int[1];
            int[] sum = new int[1]; // no lock but the context's
            WhenPendingWorker p = new WhenPendingWorker(() -> {
                inside[0]++;
                assertThat(inside[0]).isEqualTo(1);
                Thread.sleep(0, 1000);
                inside[0]--;
            });
            c.addWhenPendingWorker(p);
            AtomicInteger done = new AtomicInteger();
            AtomicInteger failures = new AtomicInteger();
            AtomicInteger late = new AtomicInteger();
            int threads = 8;
            int each = 100;
            for (int i = 0; i < threads; i++) {
                Thread.ofPlatform().daemon().start(() -> {
                    for (int n = 0; n < each; n++) {
                        int number = n;
                        c.setWorkPending(p);
                        try {
                            Duration limit = switch (number % 10) {
                                case 4 -> Duration.ofNanos(1);
                                case 5 -> Duration.ofMinutes(1);
                                default -> null;
                            };
                            int got = c.executeSync(
                                    () -> {
                                        if (++inside[0] != 1) {
                                            throw new AssertionError("two at the same time");
                                        }
                                        sum[0]++;
                                        inside[0]--;
                                        if (number % 10 == 9) {
                                            throw new java.io.IOException("no " + number);
                                        }
                                        return number;
                                    },
                                    limit);
                            assertThat(got).isEqualTo(number);
                        } catch (java.io.IOException e) {
                            assertThat(e).hasMessage("no " + number);
                            failures.incrementAndGet();
                        } catch (TimeoutException e) {
                            assertThat(number % 10).isEqualTo(4);
                            late.incrementAndGet();
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    }
                    done.incrementAndGet();
                });
            }
            d.until(() -> done.get() == threads);
            int begun = d.elsewhere(() -> c.executeSync(() -> sum[0])); // those that were late may have begun
            assertThat(begun).isBetween(threads * each - late.get(), threads * each);
            assertThat(failures).hasValue(threads * each / 10);
            assertThat(d.reports).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_executeSyncInAWorkerOrUnderTheLockIsAnError(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            c.acquireLock();
            assertThatIllegalStateException().isThrownBy(() -> c.executeSync(() -> 1));
            assertThatIllegalStateException().isThrownBy(() -> c.waitUntil(Instant.now()));
            assertThatIllegalStateException().isThrownBy(() -> c.waitForWork(NOW));
            c.releaseLock();
            AtomicInteger refused = new AtomicInteger();
            c.addAtTimeWorker(
                    new AtTimeWorker(() -> {
                        assertThatIllegalStateException().isThrownBy(() -> c.executeSync(() -> 1));
                        refused.incrementAndGet();
                    }),
                    NOW);
            d.until(() -> refused.get() == 1);
            int nested = d.elsewhere(() -> c.executeSync(() -> {
                assertThatIllegalStateException().isThrownBy(() -> c.executeSync(() -> 1));
                return 5;
            }));
            assertThat(nested).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_aCallThatDoesNotBeginInTimeIsWithdrawn(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            AtomicInteger ran = new AtomicInteger();
            d.settle();
            c.acquireLock();
            d.elsewhere(() -> {
                assertThatExceptionOfType(TimeoutException.class)
                        .isThrownBy(() -> c.executeSync(ran::incrementAndGet, Duration.ofMillis(20)));
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class)
                        .isThrownBy(() -> c.executeSync(ran::incrementAndGet));
                return true;
            });
            c.releaseLock();
            d.settle();
            assertThat(ran).hasValue(0);
            assertThat(d.elsewhere(() -> c.executeSync(ran::incrementAndGet, Duration.ofSeconds(20))))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_aCallThatOutlastsItsCallerIsReportedIfItFails(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            CountDownLatch go = new CountDownLatch(1);
            d.settle();
            d.elsewhere(() -> {
                assertThatExceptionOfType(TimeoutException.class)
                        .isThrownBy(() -> d.context.executeSync(
                                () -> {
                                    go.await();
                                    throw new IllegalArgumentException("late");
                                },
                                Duration.ofMillis(20)));
                return true;
            });
            go.countDown();
            d.until(() -> !d.reports.isEmpty());
            assertThat(d.reports).singleElement().asString().contains("executeSync");
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_whatAWorkerThrowsIsReportedAndStopsNobody(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AtomicInteger runs = new AtomicInteger();
            d.context.acquireLock();
            d.context.addAtTimeWorker(
                    new AtTimeWorker(() -> {
                        throw new java.io.IOException("broken");
                    }),
                    NOW);
            d.context.addAtTimeWorker(
                    new AtTimeWorker(() -> {
                        throw new StackOverflowError();
                    }),
                    NOW);
            d.context.addAtTimeWorker(new AtTimeWorker(runs::incrementAndGet), NOW);
            d.context.releaseLock();
            d.until(() -> runs.get() == 1 && d.reports.size() == 2);
            assertThat(d.reports.get(0)).contains("broken");
        }
    }

    @ParameterizedTest
    @EnumSource
    void W3_afterCloseNothingRuns(Way way) throws Exception {
        Driven d = new Driven(way);
        AsyncContext c = d.context;
        AtomicInteger runs = new AtomicInteger();
        WhenPendingWorker p = new WhenPendingWorker(runs::incrementAndGet);
        AtTimeWorker a = new AtTimeWorker(runs::incrementAndGet);
        c.addWhenPendingWorker(p);
        c.addAtTimeWorker(a, Duration.ofMillis(30));
        d.close();
        assertThat(c.isClosed()).isTrue();
        assertThat(c.setWorkPending(p)).isFalse();
        assertThat(c.addAtTimeWorker(a, NOW)).isFalse();
        assertThat(c.addWhenPendingWorker(new WhenPendingWorker(runs::incrementAndGet)))
                .isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> c.executeSync(runs::incrementAndGet))
                .withMessageContaining("closed");
        assertThat(c.waitForWork(Duration.ofSeconds(10))).isFalse();
        assertThat(a.isAdded() || p.isAdded()).isFalse();
        Thread.sleep(60);
        assertThat(runs).hasValue(0);
        c.close();
    }

    @ParameterizedTest
    @EnumSource
    void W3_aWorkerMayCloseItsContext(Way way) throws Exception {
        Driven d = new Driven(way);
        AsyncContext c = d.context;
        AtomicInteger runs = new AtomicInteger();
        WhenPendingWorker p = new WhenPendingWorker(runs::incrementAndGet);
        c.acquireLock();
        c.addWhenPendingWorker(p);
        c.addAtTimeWorker(
                new AtTimeWorker(() -> {
                    c.close();
                    runs.addAndGet(100);
                }),
                NOW);
        c.setWorkPending(p);
        c.releaseLock();
        d.until(() -> runs.get() >= 100);
        assertThat(c.setWorkPending(p)).isFalse();
        d.context.loop().close();
        assertThat(runs).hasValue(100);
    }

    @ParameterizedTest
    @EnumSource
    void W3_closeEndsTheCallsThatWait(Way way) throws Exception {
        Driven d = new Driven(way);
        AsyncContext c = d.context;
        d.settle();
        c.acquireLock();
        FutureTask<Integer> call = new FutureTask<>(() -> c.executeSync(() -> 1));
        Thread t = Thread.ofPlatform().daemon().start(call);
        while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        c.close();
        assertThatExceptionOfType(java.util.concurrent.ExecutionException.class)
                .isThrownBy(call::get)
                .withCauseInstanceOf(IllegalStateException.class);
        c.loop().close();
    }

    @ParameterizedTest
    @EnumSource
    void W3_theEndOfTheLoopEndsTheContext(Way way) throws Exception {
        Driven d = new Driven(way);
        WhenPendingWorker p = new WhenPendingWorker(() -> {});
        d.context.addWhenPendingWorker(p);
        d.context.loop().close();
        assertThat(d.context.isClosed()).isTrue();
        assertThat(d.context.setWorkPending(p)).isFalse();
        d.context.close();
    }

    @ParameterizedTest
    @EnumSource
    void W3_waitingForWorkDoesNotRunIt(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AsyncContext c = d.context;
            AtomicInteger runs = new AtomicInteger();
            WhenPendingWorker p = new WhenPendingWorker(runs::incrementAndGet);
            c.addWhenPendingWorker(p);
            long before = c.loop().time();
            assertThat(c.waitForWork(Duration.ofMillis(20))).isFalse();
            assertThat(c.loop().time() - before).isGreaterThanOrEqualTo(20_000_000);
            c.waitUntil(c.loop().time() + 5_000_000);
            Thread setter = Thread.ofPlatform().start(() -> {
                try {
                    Thread.sleep(20);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                c.setWorkPending(p);
            });
            assertThat(c.waitForWork(Duration.ofSeconds(20))).isTrue();
            setter.join();
            if (way == Way.HOST) {
                assertThat(runs).hasValue(0);
                assertThat(c.poll()).isTrue();
                assertThat(runs).hasValue(1);
                assertThat(c.poll()).isFalse();
            }
            d.until(() -> runs.get() == 1);
            c.addAtTimeWorker(new AtTimeWorker(runs::incrementAndGet), Duration.ofMillis(20));
            assertThat(c.waitForWork(Duration.ofSeconds(20))).isTrue();
            d.until(() -> runs.get() == 2);
        }
    }

    @Test
    void W3_aHostMayCallAndLockBetweenItsPolls() throws Exception {
        try (AsyncContext c = AsyncContext.polled()) {
            List<String> order = new ArrayList<>();
            WhenPendingWorker p = new WhenPendingWorker(() -> order.add("p"));
            c.addWhenPendingWorker(p);
            c.setWorkPending(p);
            assertThat(c.executeSync(() -> order.add("call"))).isTrue();
            assertThat(c.poll()).isTrue();
            c.acquireLock();
            c.setWorkPending(p);
            assertThatIllegalStateException().isThrownBy(() -> c.executeSync(() -> 1));
            c.poll();
            c.releaseLock();
            assertThat(c.poll()).isTrue();
            assertThat(order).containsExactly("call", "p", "p");
        }
    }

    @Test
    void W3_tasksWaitForTheLockAndForCallsWithoutStoppingTheLoop() throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> {
                AsyncContext c = AsyncContext.on(loop);
                List<String> order = new ArrayList<>();
                Event go = new Event();
                Task<?> holder = Asyncio.createTask(() -> {
                    c.acquireLock();
                    go.await();
                    order.add("holder");
                    c.releaseLock();
                });
                Task<?> second = Asyncio.createTask(() -> {
                    c.acquireLock();
                    order.add("second");
                    c.releaseLock();
                });
                Task<?> cancelled = Asyncio.createTask(c::acquireLock);
                Task<?> caller = Asyncio.createTask(() -> order.add(c.executeSync(() -> "call")));
                Asyncio.sleepMs(5);
                cancelled.cancel();
                assertThatExceptionOfType(CancelledError.class).isThrownBy(cancelled::await);
                order.add("main");
                go.set();
                Asyncio.gather(holder::await, second::await, caller::await);
                assertThat(order).containsExactly("main", "holder", "second", "call");
                assertThat(Asyncio.waitFor(() -> c.waitForWork(Duration.ofMillis(1)), Duration.ofSeconds(20)))
                        .isFalse();
                c.close();
            });
        }
    }

    @Test
    void W3_aTaskOfAnotherLoopCallsWithoutStoppingItsOwn() throws Exception {
        try (AsyncContext c = AsyncContext.onOwnThread("other");
                EventLoop loop = EventLoop.create()) {
            loop.run(() -> {
                CountDownLatch go = new CountDownLatch(1);
                AtomicInteger begun = new AtomicInteger();
                Task<Integer> call = Asyncio.createTask(() -> c.executeSync(() -> {
                    begun.incrementAndGet();
                    go.await();
                    return 7;
                }));
                Task<Integer> waiting = Asyncio.createTask(() -> c.executeSync(begun::incrementAndGet));
                Asyncio.sleepMs(20);
                assertThat(begun).hasValue(1);
                waiting.cancel();
                assertThatExceptionOfType(CancelledError.class).isThrownBy(waiting::await);
                go.countDown();
                assertThat(call.await()).isEqualTo(7);
                assertThat(begun).hasValue(1);
            });
        }
    }

    /** A task's call, of its own loop's context and of another's: in time, too late, and one that throws. */
    @ParameterizedTest
    @EnumSource(names = {"OWN_THREAD", "LOOP"})
    void W3_aTasksCallHasATimeLimitToo(Way way) throws Exception {
        try (Driven d = new Driven(way);
                EventLoop elsewhere = EventLoop.create()) {
            AsyncContext c = d.context;
            AtomicInteger ran = new AtomicInteger();
            elsewhere.start();
            for (EventLoop loop : List.of(elsewhere, c.loop())) {
                c.acquireLock();
                Task<?> late = loop.createTask(() -> {
                    assertThatExceptionOfType(TimeoutException.class)
                            .isThrownBy(() -> c.executeSync(ran::incrementAndGet, Duration.ofMillis(20)));
                });
                late.get(20, TimeUnit.SECONDS);
                c.releaseLock();
                d.settle();
                assertThat(ran).as("never begun").hasValue(0);
                Task<Integer> inTime =
                        loop.createTask(() -> c.executeSync(ran::incrementAndGet, Duration.ofSeconds(20)));
                assertThat(inTime.get(20, TimeUnit.SECONDS)).isEqualTo(1);
                Task<?> failing = loop.createTask(() -> {
                    assertThatExceptionOfType(java.io.IOException.class)
                            .isThrownBy(() -> c.executeSync(
                                    () -> {
                                        throw new java.io.IOException("mine");
                                    },
                                    Duration.ofSeconds(20)))
                            .withMessage("mine");
                });
                failing.get(20, TimeUnit.SECONDS);
                ran.set(0);
            }
            assertThat(d.reports).isEmpty();
        }
    }

    /** Added, and marked at once, by a worker: for the next pass, which somebody has to bring up. */
    @ParameterizedTest
    @EnumSource
    void W1_W3_aWorkerThatIsAddedAndMarkedInAPassRunsInTheNextOne(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AtomicInteger ran = new AtomicInteger();
            WhenPendingWorker late = new WhenPendingWorker(ran::incrementAndGet);
            AtTimeWorker adds = new AtTimeWorker(() -> {
                d.context.addWhenPendingWorker(late);
                d.context.setWorkPending(late);
            });
            d.context.addAtTimeWorker(adds, Duration.ZERO);
            d.until(() -> ran.get() == 1);
            assertThat(late.isPending()).isFalse();
        }
    }

    /** A thread marks it as soon as {@code setWorkPending} says that it is in. */
    @Test
    void W1_aMarkThatComesWhileItsWorkerIsBeingAddedIsNotLost() throws Exception {
        try (Driven d = new Driven(Way.OWN_THREAD)) {
            AtomicReference<WhenPendingWorker> current = new AtomicReference<>();
            AtomicReference<WhenPendingWorker> marked = new AtomicReference<>();
            AtomicBoolean over = new AtomicBoolean();
            Thread marker = Thread.ofPlatform().daemon().start(() -> {
                while (!over.get()) {
                    WhenPendingWorker w = current.get();
                    if (w != null && w != marked.get() && d.context.setWorkPending(w)) {
                        marked.set(w);
                    }
                }
            });
            for (long end = System.nanoTime() + 1_500_000_000L; System.nanoTime() < end; ) {
                CountDownLatch ran = new CountDownLatch(1);
                WhenPendingWorker w = new WhenPendingWorker(ran::countDown);
                current.set(w);
                d.context.addWhenPendingWorker(w);
                assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
                d.context.removeWhenPendingWorker(w);
            }
            over.set(true);
            marker.join();
        }
    }

    /** A removal takes the mark of the adding that it ends, and not that of the next one. */
    @Test
    void W1_aMarkOfAWorkerThatIsAddedAgainIsNotTakenByItsRemoval() throws Exception {
        try (Driven d = new Driven(Way.OWN_THREAD)) {
            AsyncContext c = d.context;
            AtomicInteger ran = new AtomicInteger();
            WhenPendingWorker w = new WhenPendingWorker(ran::incrementAndGet);
            AtomicInteger turn = new AtomicInteger();
            AtomicBoolean over = new AtomicBoolean();
            Thread remover = Thread.ofPlatform().daemon().start(() -> {
                for (int n = 1; !over.get(); ) {
                    if (turn.get() == n && c.removeWhenPendingWorker(w)) {
                        turn.set(-n++);
                    }
                }
            });
            int n = 1;
            for (long end = System.nanoTime() + 1_500_000_000L; System.nanoTime() < end; n++) {
                c.addWhenPendingWorker(w);
                turn.set(n);
                while (!c.addWhenPendingWorker(w)) {
                    Thread.onSpinWait(); // until the other thread has taken it out
                }
                int before = ran.get();
                assertThat(c.setWorkPending(w)).isTrue();
                d.until(() -> ran.get() > before);
                int removed = -n;
                d.until(() -> turn.get() == removed);
                c.removeWhenPendingWorker(w);
            }
            over.set(true);
            remover.join();
        }
    }

    @Test
    void W3_aHostsPollKeepsToItsTime() throws Exception {
        try (AsyncContext c = AsyncContext.polled()) {
            AtomicInteger ran = new AtomicInteger();
            for (int i = 0; i < 100; i++) {
                WhenPendingWorker w = new WhenPendingWorker(() -> {
                    ran.incrementAndGet();
                    for (long end = System.nanoTime() + 1_000_000; System.nanoTime() < end; ) {
                        Thread.onSpinWait();
                    }
                });
                c.addWhenPendingWorker(w);
                c.setWorkPending(w);
            }
            assertThat(c.poll(Duration.ofMillis(2))).isTrue();
            assertThat(ran.get()).isBetween(1, 4);
            assertThat(c.poll(Duration.ofMillis(2))).isTrue();
            assertThat(ran.get()).isBetween(2, 8);
            assertThat(c.poll()).as("all that is due").isTrue();
            assertThat(ran).hasValue(100);
        }
    }

    /** Marks from four threads: after the last one the worker runs once more, whatever the moment. */
    @ParameterizedTest
    @EnumSource
    void W1_noMarkIsLost(Way way) throws Exception {
        try (Driven d = new Driven(way)) {
            AtomicInteger marks = new AtomicInteger();
            AtomicInteger seen = new AtomicInteger();
            WhenPendingWorker p = new WhenPendingWorker(() -> seen.set(marks.get()));
            d.context.addWhenPendingWorker(p);
            AtomicInteger done = new AtomicInteger();
            for (int i = 0; i < 4; i++) {
                Thread.ofPlatform().daemon().start(() -> {
                    for (int n = 0; n < 50_000; n++) {
                        marks.incrementAndGet();
                        d.context.setWorkPending(p);
                    }
                    done.incrementAndGet();
                });
            }
            d.until(() -> done.get() == 4 && seen.get() == 200_000);
        }
    }
}
