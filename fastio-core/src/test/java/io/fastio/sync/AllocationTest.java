package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fastio.Asyncio;
import io.fastio.Task;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Decision 8: in the steady state waiting and waking allocate nothing. What tasks allocate counts for their carrier. */
final class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int TURNS = 20_000;

    private interface Turn {
        void take(boolean first);
    }

    /** Bytes per turn of two tasks, at best: the compiler's arrival may allocate in some of the repetitions. */
    private static double bytesPerTurn(Turn turn) throws Exception {
        long carrier = Thread.currentThread().threadId();
        long[] least = {Long.MAX_VALUE};
        Loops.really(Duration.ofSeconds(60), () -> {
            Task<?> other = Loops.spawn(() -> {
                while (true) {
                    turn.take(false);
                }
            });
            for (int repetition = 0; repetition < 10; repetition++) {
                long before = THREADS.getThreadAllocatedBytes(carrier);
                for (int i = 0; i < TURNS; i++) {
                    turn.take(true);
                }
                least[0] = Math.min(least[0], THREADS.getThreadAllocatedBytes(carrier) - before);
            }
            other.cancel();
        });
        return least[0] / (double) TURNS;
    }

    @Test
    void eventsAllocateNothing() throws Exception {
        Event one = new Event();
        Event two = new Event();
        assertThat(bytesPerTurn(first -> {
                    (first ? one : two).set();
                    Event mine = first ? two : one;
                    mine.await();
                    mine.clear();
                }))
                .isLessThan(0.1);
    }

    @Test
    void flagsAllocateNothing() throws Exception {
        ThreadSafeFlag one = new ThreadSafeFlag();
        ThreadSafeFlag two = new ThreadSafeFlag();
        assertThat(bytesPerTurn(first -> {
                    (first ? one : two).set();
                    (first ? two : one).await();
                }))
                .isLessThan(0.1);
    }

    @Test
    void locksAllocateNothing() throws Exception {
        Lock lock = new Lock();
        assertThat(bytesPerTurn(first -> {
                    try (Guard held = lock.hold()) {
                        if (held != null) {
                            Asyncio.yieldNow(); // the other one begins to wait
                        }
                    }
                }))
                .isLessThan(0.1);
    }

    @Test
    void semaphoresAllocateNothing() throws Exception {
        Semaphore semaphore = new Semaphore(1);
        assertThat(bytesPerTurn(first -> {
                    semaphore.acquire();
                    Asyncio.yieldNow();
                    semaphore.release();
                }))
                .isLessThan(0.1);
    }

    @Test
    void queuesAllocateNothing() throws Exception {
        AsyncQueue<String> one = new AsyncQueue<>();
        AsyncQueue<String> two = new AsyncQueue<>(1);
        assertThat(bytesPerTurn(first -> {
                    (first ? one : two).put("turn");
                    assertThatItCame((first ? two : one).get());
                }))
                .isLessThan(0.1);
    }

    private static void assertThatItCame(String item) {
        if (item.isEmpty()) {
            throw new AssertionError("somebody else's item");
        }
    }

    @Test
    void conditionsAllocateNothingWhileTheLockIsFree() throws Exception {
        Condition condition = new Condition();
        assertThat(bytesPerTurn(first -> {
                    try (Guard held = condition.hold()) {
                        condition.signal();
                        if (held != null) {
                            condition.awaitWithin(null);
                        }
                    }
                    Asyncio.yieldNow();
                }))
                .isLessThan(0.1);
    }

    /** The broken twin: an allocation per turn is noticed. */
    @Test
    void anAllocationPerTurnIsNoticed() throws Exception {
        Object[] kept = new Object[1];
        assertThat(bytesPerTurn(first -> {
                    kept[0] = new Object();
                    Asyncio.yieldNow();
                }))
                .isGreaterThan(8);
    }
}
