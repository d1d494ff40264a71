package io.fastio;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The one way into a loop from outside: many threads push, the loop takes everything at once.
 *
 * <p>A stack of linked objects whose head also says whether the loop sleeps, so that the last check before sleeping and
 * the decision to wake are one compare-and-set on one word and no wake-up can fall between them (W1):
 *
 * <pre>
 *   head        loop                                   a pushing thread
 *   ---------   ------------------------------------   -----------------------------------------------------
 *   empty       busy; CAS to SLEEPING before it waits  CAS to its object: no wake needed
 *   objects     busy; the CAS to SLEEPING fails, and   CAS to its object, linked to the others: no wake needed
 *               it takes the objects instead
 *   SLEEPING    waits in the poller                    CAS to its object; whoever replaces SLEEPING wakes, once
 *   CLOSED      ended                                  refused
 * </pre>
 *
 * A wake that arrives after the loop woke by itself finds it in its next wait and costs that one a spurious turn; it is
 * never lost. Objects come out in the order in which they were pushed.
 */
final class Inbox {
    private static final AtomicReferenceFieldUpdater<Inbox, @Nullable Posted> HEAD =
            AtomicReferenceFieldUpdater.newUpdater(Inbox.class, Posted.class, "head");

    private static final class Mark extends Posted {
        @Override
        void deliver(int signals) {
            throw new AssertionError("a mark is not delivered");
        }
    }

    private static final Posted SLEEPING = new Mark();
    private static final Posted CLOSED = new Mark();

    /** How a push ended. */
    enum Push {
        /** In, and the loop is awake. */
        ACCEPTED,
        /** In, and the caller must wake the loop. */
        MUST_WAKE,
        /** The loop is closed. */
        REFUSED
    }

    private volatile @Nullable Posted head;

    /** Any thread. */
    Push push(Posted p) {
        while (true) {
            Posted h = head;
            if (h == CLOSED) {
                return Push.REFUSED;
            }
            p.nextPosted = h == SLEEPING ? null : h;
            if (HEAD.compareAndSet(this, h, p)) {
                return h == SLEEPING ? Push.MUST_WAKE : Push.ACCEPTED;
            }
        }
    }

    /** Whether something came. A plain read on x86; the loop, before every step. */
    boolean isEmpty() {
        Posted h = head;
        return h == null || h == SLEEPING || h == CLOSED;
    }

    /** Announces that the loop is about to sleep; false if something is in. The loop. */
    boolean prepareSleep() {
        return HEAD.compareAndSet(this, null, SLEEPING);
    }

    /**
     * The loop is awake again, for whatever reason: pushes need not wake it. The loop.
     *
     * @return whether a push ended the sleep, or was about to
     */
    boolean endSleep() {
        return head != SLEEPING || !HEAD.compareAndSet(this, SLEEPING, null);
    }

    /** Whether a push now would wake the loop. */
    boolean isSleeping() {
        return head == SLEEPING;
    }

    /** Delivers what is in; returns how many objects. The loop. */
    int drain() {
        Posted h = HEAD.getAndSet(this, null);
        if (h == null || h == SLEEPING) {
            return 0;
        }
        return deliver(h);
    }

    /** Refuses everything from now on and delivers what was accepted before. The loop. */
    int close() {
        Posted h = HEAD.getAndSet(this, CLOSED);
        return h == null || h == SLEEPING || h == CLOSED ? 0 : deliver(h);
    }

    private static int deliver(Posted newest) {
        Posted oldest = null;
        for (Posted p = newest; p != null; ) {
            Posted next = p.nextPosted;
            p.nextPosted = oldest;
            oldest = p;
            p = next;
        }
        int n = 0;
        for (Posted p = oldest; p != null; n++) {
            Posted next = p.nextPosted;
            p.nextPosted = null; // before the signals are taken: from then on it may be pushed again
            p.deliver(p.takeSignals());
            p = next;
        }
        return n;
    }
}
