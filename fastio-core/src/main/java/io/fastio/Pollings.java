package io.fastio;

import io.fastio.time.LoopClock;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The sources that have to be asked (I8): the URGENT ones at every look between steps, the others once a round, and all of
 * them at an interval while the loop is idle. Asking is user code, so it happens in callbacks. Loop only.
 */
final class Pollings {
    private final Scheduler scheduler;
    private final LoopClock clock;
    private final long interval;
    private final Handle askUrgent;
    private final Handle askNormal;
    private @Nullable Polling first;
    private int urgent;
    private int normal;
    private long lastUrgentAsk;
    private long lastAsk;

    /** @param interval nanoseconds between two questions of an idle loop */
    Pollings(EventLoop loop, Scheduler scheduler, LoopClock clock, long interval) {
        this.scheduler = scheduler;
        this.clock = clock;
        this.interval = interval;
        this.askUrgent = new Handle(loop, () -> ask(true), Priority.URGENT);
        this.askNormal = new Handle(loop, () -> ask(false), Priority.NORMAL);
    }

    boolean isEmpty() {
        return first == null;
    }

    boolean areUrgent() {
        return urgent > 0;
    }

    boolean areNormal() {
        return normal > 0;
    }

    void add(Polling p) {
        p.next = first;
        first = p;
        count(p, 1);
    }

    void remove(Polling p) {
        Polling before = null;
        for (Polling q = first; q != p; q = q.next) {
            before = Objects.requireNonNull(q);
        }
        if (before == null) {
            first = p.next;
        } else {
            before.next = p.next; // p keeps its own link: it may be the one that is being asked
        }
        count(p, -1);
    }

    private void count(Polling p, int change) {
        if (p.urgent) {
            urgent += change;
        } else {
            normal += change;
        }
    }

    /** There is a look at {@code now}. */
    void askUrgentEvery(long nanos, long now) {
        if (urgent > 0 && now - lastUrgentAsk >= nanos) {
            askSoon(askUrgent);
        }
    }

    /** A round of NORMAL steps begins with that of {@code e}. */
    void askOncePerRound(Entry e) {
        if (normal > 0 && e != askNormal) {
            askSoon(askNormal);
        }
    }

    /** When an idle loop is to ask. */
    long nextAsk() {
        return LoopClock.saturatedSum(lastAsk, interval);
    }

    /** The loop is idle. */
    void askAll() {
        if (urgent > 0) {
            askSoon(askUrgent);
        }
        if (normal > 0) {
            askSoon(askNormal);
        }
        lastAsk = clock.nanos();
    }

    private void askSoon(Handle h) {
        if (!h.scheduled()) {
            scheduler.enqueue(h, h == askUrgent ? ReadyQueues.URGENT : ReadyQueues.NORMAL, -1);
        }
    }

    /** Asks the sources of one class; on a runner. */
    private void ask(boolean urgentOnes) {
        for (Polling p = first; p != null; p = p.next) {
            if (p.urgent == urgentOnes) {
                p.ask();
            }
        }
        lastAsk = clock.nanos();
        if (urgentOnes) {
            lastUrgentAsk = lastAsk;
        }
    }
}
