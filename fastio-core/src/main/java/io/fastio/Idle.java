package io.fastio;

import io.fastio.time.IdleStrategy;
import io.fastio.time.LoopClock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What the loop does while nothing is ready (S10): sleeps, spins, or, on virtual time, goes to the next due moment (V1).
 * Loop only, but for the choice of strategy.
 */
final class Idle {
    /** How long a closing loop on virtual time waits at most before it looks whether its real time is over. */
    static final long CLOSING_SLICE = 5_000_000;

    /** Of 10 to 50 ns each: a timer is late by 1 µs at most. */
    private static final int SPINS_BETWEEN_CLOCKS = 20;

    private static final int SPINS_BETWEEN_POLLS = 5;

    /** A rest up to this (nanoseconds) is spun: a timed sleep takes 3 to 20 µs of processor time, and ends 35 to 50 µs late. */
    private static final long SHORT_REST = 5_000;

    private final EventLoop loop;
    private final Scheduler scheduler;
    private final LoopClock clock;
    private volatile IdleStrategy strategy;

    /** The loop's thread while it saves power: does not hear wakes. */
    private volatile @Nullable Thread inSlice;

    private long since = -1;
    private long lastWake;

    /** For {@link LoopCounters}; read by other threads as it is. */
    @SuppressWarnings("UnusedVariable") // by Counts
    private long emptyTurns;

    Idle(EventLoop loop, Scheduler scheduler, LoopClock clock, IdleStrategy strategy) {
        this.loop = loop;
        this.scheduler = scheduler;
        this.clock = clock;
        this.strategy = strategy;
    }

    /** Any thread. */
    IdleStrategy strategy() {
        return strategy;
    }

    /** Any thread; counts from the next rest on, for which a slice that saves power ends. */
    void strategy(IdleStrategy s) {
        strategy = s;
        endSlice();
    }

    /** The strategy has changed, or the loop is to end: that does not wait for the end of a slice (S10). Any thread. */
    void endSlice() {
        Thread t = inSlice;
        if (t != null) {
            LockSupport.unpark(t);
        }
    }

    /** Something is ready. */
    void over() {
        since = -1;
        scheduler.pace().slept = false;
    }

    /** Rests until something is ready, or until {@code wakeAt}; may end early. */
    void rest(long wakeAt) {
        if (!scheduler.batch.isEmpty()) {
            scheduler.batch.drain(); // W2
            return;
        }
        if (scheduler.pace().slept) {
            scheduler.pace().slept = false;
            emptyTurns++;
        }
        long due = Math.min(scheduler.timers.nextDue(), wakeAt);
        if (!scheduler.pollings().isEmpty()) {
            long nextAsk = scheduler.pollings().nextAsk();
            if (clock.nanos() >= nextAsk) {
                scheduler.pollings().askAll(); // I8
                return;
            }
            due = Math.min(due, nextAsk);
        }
        if (clock.isVirtual()) {
            jump(due);
            return;
        }
        scheduler.pace().lookNext();
        long t = clock.nanos();
        if (due <= t) {
            return;
        }
        IdleStrategy s = strategy;
        if (s instanceof IdleStrategy.Block) {
            sleep(due, t);
        } else if (s instanceof IdleStrategy.Spin) {
            spin();
        } else if (s instanceof IdleStrategy.Backoff b) {
            if (since < 0) {
                since = t;
            }
            if (t - since < EventLoop.nanos(b.time())) {
                spin();
            } else {
                sleep(due, t);
            }
        } else if (s instanceof IdleStrategy.Powersave p) {
            t = restInSlice(p, due, t);
            if (due > t) {
                sleep(due, t);
            }
            lastWake = clock.nanos();
        }
    }

    private long restInSlice(IdleStrategy.Powersave p, long due, long t) {
        long end = Math.min(due, LoopClock.saturatedSum(lastWake, EventLoop.nanos(p.slice())));
        if (t < end) {
            inSlice = Thread.currentThread(); // before the looks: whoever changes what they see finds it here
            for (; t < end && strategy == p && !loop.isToEnd(); t = clock.nanos()) {
                scheduler.sleeper().holdInterrupt();
                LockSupport.parkNanos(this, end - t);
            }
            inSlice = null;
        }
        return t;
    }

    /** Looks at the inbox mostly: whoever asks the system or the clock at that moment is late by what the answer takes. */
    private void spin() {
        boolean watching = scheduler.sleeper().isWatching();
        spin(watching ? SPINS_BETWEEN_POLLS : SPINS_BETWEEN_CLOCKS);
        if (watching) {
            scheduler.sleeper().look();
        }
    }

    private void spin(int times) {
        for (int i = times; i > 0 && scheduler.inbox.isEmpty(); i--) {
            Thread.onSpinWait();
        }
    }

    private void sleep(long due, long t) {
        if (due - t < SHORT_REST) {
            spin(SPINS_BETWEEN_CLOCKS);
            return;
        }
        Sleeper sleeper = scheduler.sleeper();
        if (sleeper.owesLook()) {
            sleeper.look();
        } else {
            sleeper.sleep(due == Long.MAX_VALUE ? -1 : due - t);
            scheduler.pace().slept = true;
        }
        scheduler.slept();
    }

    /** V1: time jumps to the next due moment, but not while foreign work is under way. */
    private void jump(long due) {
        if (due <= clock.nanos()) {
            return;
        }
        Sleeper sleeper = scheduler.sleeper();
        boolean workElsewhere = loop.elsewhere.holdsTime(loop.isClosing());
        if (sleeper.isWatching() && sleeper.look() > 0) {
            return;
        }
        if (!workElsewhere && due != Long.MAX_VALUE) {
            ((LoopClock.Virtual) clock).advanceTo(due);
            return;
        }
        if (!workElsewhere && !sleeper.isWatching() && scheduler.inbox.isEmpty()) {
            loop.refuseDeadlock(); // S12
        }
        sleeper.sleep(loop.isClosing() ? CLOSING_SLICE : -1); // S11: the end is bounded in real time
    }
}
