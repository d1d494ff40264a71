package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The way in from outside, hammered beside broken twins of itself that the same hammer finds out. */
@Timeout(120)
final class InboxTest {
    /** What the loop and its posters need of an inbox. */
    private interface Door {
        /** Whether the caller must wake the loop. */
        boolean push(Item item);

        boolean isEmpty();

        boolean prepareSleep();

        void endSleep();

        void drain();
    }

    private static final class Item extends Posted {
        private final AtomicLong delivered;

        Item(AtomicLong delivered) {
            this.delivered = delivered;
        }

        @Override
        void deliver(int signals) {
            delivered.incrementAndGet();
        }
    }

    private static class Real implements Door {
        private final Inbox inbox = new Inbox();

        @Override
        public boolean push(Item item) {
            return item.addSignals(1) && inbox.push(item) == Inbox.Push.MUST_WAKE;
        }

        @Override
        public boolean isEmpty() {
            return inbox.isEmpty();
        }

        @Override
        public boolean prepareSleep() {
            return inbox.prepareSleep();
        }

        @Override
        public void endSleep() {
            inbox.endSleep();
        }

        @Override
        public void drain() {
            inbox.drain();
        }
    }

    /** Says that it sleeps without looking again: a push between the look and the saying wakes nobody (F89). */
    private static final class WithoutSecondLook implements Door {
        private final ConcurrentLinkedQueue<Item> items = new ConcurrentLinkedQueue<>();
        private final AtomicInteger sleeping = new AtomicInteger();

        @Override
        public boolean push(Item item) {
            items.add(item);
            return sleeping.compareAndSet(1, 0);
        }

        @Override
        public boolean isEmpty() {
            return items.isEmpty();
        }

        @Override
        public boolean prepareSleep() {
            sleeping.set(1);
            return true;
        }

        @Override
        public void endSleep() {
            sleeping.set(0);
        }

        @Override
        public void drain() {
            for (Item i; (i = items.poll()) != null; ) {
                i.deliver(1);
            }
        }
    }

    /** Every push wakes: nothing is lost, but many wakes are made for one sleep. */
    private static final class WakesAlways extends Real {
        @Override
        public boolean push(Item item) {
            super.push(item);
            return true;
        }
    }

    /** How a hammering went. */
    private record Result(long lost, long wakes, long sleeps) {}

    /** Pushes {@code rounds} items, one at a time, while a loop goes to sleep after each. */
    private static Result hammer(Door door, int rounds, boolean untilLost) throws InterruptedException {
        AtomicLong delivered = new AtomicLong();
        AtomicLong lost = new AtomicLong();
        AtomicLong wakes = new AtomicLong();
        AtomicLong sleeps = new AtomicLong();
        Thread loop = Thread.ofPlatform().daemon().start(() -> {
            SplittableRandom random = new SplittableRandom(7);
            while (delivered.get() < rounds && !(untilLost && lost.get() > 0)) {
                if (!door.isEmpty()) {
                    door.drain();
                    continue;
                }
                pause(random.nextInt(200)); // makes the gap between look and sleep one that is often hit
                long wakesBefore = wakes.get();
                if (!door.prepareSleep()) {
                    continue;
                }
                sleeps.incrementAndGet();
                long end = System.nanoTime() + 100_000_000;
                while (door.isEmpty() && delivered.get() < rounds && System.nanoTime() < end) {
                    LockSupport.parkNanos(end - System.nanoTime());
                }
                end += 1_000_000_000; // the poster may have been kept from its processor between push and wake
                while (!door.isEmpty() && wakes.get() == wakesBefore && System.nanoTime() < end) {
                    LockSupport.parkNanos(1_000_000);
                }
                if (!door.isEmpty() && wakes.get() == wakesBefore) {
                    lost.incrementAndGet(); // it lies there, and nobody woke us
                }
                door.endSleep();
            }
        });
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < rounds && loop.isAlive(); i++) {
            if (door.push(new Item(delivered))) {
                wakes.incrementAndGet();
                LockSupport.unpark(loop);
            }
            if (i % 8 == 0) {
                while (delivered.get() <= i && loop.isAlive()) {
                    Thread.onSpinWait();
                }
            }
            pause(random.nextInt(300));
        }
        loop.join();
        if (!untilLost) {
            assertThat(delivered).hasValue(rounds);
        }
        return new Result(lost.get(), wakes.get(), sleeps.get());
    }

    private static void pause(int spins) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }

    @Test
    void W1_noWakeIsLostWhateverItsMoment() throws Exception {
        Result r = hammer(new Real(), 60_000, false);
        assertThat(r.lost()).isZero();
        assertThat(r.wakes()).isLessThanOrEqualTo(r.sleeps());
    }

    @Test
    void W1_aTwinWithoutTheSecondLookIsFoundOut() throws Exception {
        assertThat(hammer(new WithoutSecondLook(), 2_000_000, true).lost()).isPositive();
    }

    @Test
    void W1_aTwinThatWakesAlwaysIsFoundOut() throws Exception {
        Result r = hammer(new WakesAlways(), 20_000, false);
        assertThat(r.wakes()).isGreaterThan(r.sleeps());
    }

    /** Many posters at once: all arrive, those of one poster in its order. */
    @Test
    void W1_manyPostersKeepTheirOrder() throws Exception {
        Inbox inbox = new Inbox();
        int posters = 4;
        int each = 100_000;
        int[] last = new int[posters];
        AtomicInteger arrived = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int p = 0; p < posters; p++) {
            int poster = p;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int n = 1; n <= each; n++) {
                    int number = n;
                    Posted item = new Posted() {
                        @Override
                        void deliver(int signals) {
                            assertThat(number).isEqualTo(last[poster] + 1);
                            last[poster] = number;
                            arrived.incrementAndGet();
                        }
                    };
                    assertThat(item.addSignals(1)).isTrue();
                    inbox.push(item);
                }
            }));
        }
        while (arrived.get() < posters * each) {
            inbox.drain();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    @Test
    void S13_aPushIsEitherDeliveredOrRefused() throws Exception {
        for (int round = 0; round < 200; round++) {
            Inbox inbox = new Inbox();
            AtomicLong delivered = new AtomicLong();
            AtomicLong accepted = new AtomicLong();
            AtomicBoolean closed = new AtomicBoolean();
            Thread poster = Thread.ofPlatform().start(() -> {
                for (Item i = new Item(delivered); i.addSignals(1) && inbox.push(i) != Inbox.Push.REFUSED; ) {
                    accepted.incrementAndGet();
                    i = new Item(delivered);
                    while (accepted.get() - delivered.get() > 1000 && !closed.get()) {
                        Thread.onSpinWait();
                    }
                }
            });
            pause(1000);
            inbox.drain();
            inbox.close();
            closed.set(true);
            poster.join();
            assertThat(delivered).hasValue(accepted.get());
        }
    }
}
