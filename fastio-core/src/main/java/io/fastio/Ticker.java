package io.fastio;

import io.fastio.poll.LoopThread;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The tick source of all loops: one daemon thread that rings each loop which asked for it once a tick, and sleeps for good
 * while none does. A loop of its own accord would have to look at the clock to notice a tick, which costs more than a
 * short step; so it only looks at its inbox, as it does anyway.
 */
final class Ticker {
    private static final VarHandle NEWCOMERS;

    static {
        try {
            NEWCOMERS = MethodHandles.lookup().findStaticVarHandle(Ticker.class, "newcomers", Ticks.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Stack of loops that the thread does not know yet. */
    private static volatile @Nullable Ticks newcomers;

    private static final Thread THREAD =
            Thread.ofPlatform().daemon().name("fastio-ticker").start(Ticker::run);

    private Ticker() {}

    /** Starts the thread, so that {@link #add} need not: that may be called in an upcall. */
    static void prepare() {
        assert THREAD.isDaemon();
    }

    /** Has {@code t} rung from the next tick on; the caller has armed it, so it is in here once. Any thread. */
    static void add(Ticks t) {
        Ticks first;
        do {
            first = newcomers;
            t.nextNewcomer = first;
        } while (!NEWCOMERS.compareAndSet(first, t));
        LockSupport.unpark(THREAD);
    }

    /** Has the thread look for loops that are closed, and forget them, however long their ticks are. Any thread. */
    static void look() {
        LockSupport.unpark(THREAD);
    }

    private static void run() {
        LoopThread.setTimerSlack(1);
        List<Ticks> active = new ArrayList<>();
        while (true) {
            for (Ticks t = (Ticks) NEWCOMERS.getAndSet((Ticks) null); t != null; ) {
                Ticks next = t.nextNewcomer;
                t.nextNewcomer = null;
                t.next = System.nanoTime() + t.period;
                active.add(t);
                t = next;
            }
            if (active.isEmpty()) {
                LockSupport.park(THREAD);
                continue;
            }
            long now = System.nanoTime();
            long soonest = Long.MAX_VALUE;
            for (Iterator<Ticks> i = active.iterator(); i.hasNext(); ) {
                Ticks t = i.next();
                if (t.isOver()) {
                    i.remove();
                    continue;
                }
                if (t.next - now <= 0) {
                    if (!t.ring()) {
                        i.remove();
                        continue;
                    }
                    t.next += ((now - t.next) / t.period + 1) * t.period; // however many passed, one is rung (B1)
                }
                soonest = Math.min(soonest, t.next - now);
            }
            if (soonest != Long.MAX_VALUE) {
                LockSupport.parkNanos(THREAD, soonest);
            }
        }
    }
}
