package io.fastio;

import io.fastio.poll.Poller;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How a loop sleeps, and how it is woken. While tasks wait for readiness it sleeps in the poller; else it parks, which
 * wakes a third sooner, and a loop that never watches anything needs no poller at all. Loop only, but for {@link #wake}.
 */
final class Sleeper {
    private final Inbox inbox;
    private final Poller.Kind kind;
    private volatile @Nullable Poller poller;

    // Written before the inbox says SLEEPING, read by whoever replaced that: see Inbox.
    private boolean inPoller;
    private @Nullable Thread sleeping;

    // For LoopCounters; read by other threads as they are.
    long sleeps;
    long wakes;
    long polls;

    /** Tasks that wait for readiness; with none the poller is not asked between steps. */
    private int watching;

    /** Those of them that become URGENT: for their sake it is asked often. */
    private int watchingUrgently;

    private boolean owesLook;

    /** The thread was interrupted since it began to carry the loop. */
    private boolean interrupted;

    /** A poller that was asked for by name is opened at once, so that its refusal is seen at once. */
    Sleeper(Inbox inbox, Poller.Kind kind) {
        this.inbox = inbox;
        this.kind = kind;
        if (kind != Poller.Kind.AUTO) {
            try {
                poller();
            } catch (IOException e) {
                throw new IllegalStateException("cannot open the poller of an event loop: " + e.getMessage(), e);
            }
        }
    }

    /** So many more wait for readiness; {@code urgently}: to become URGENT. */
    void watch(int change, boolean urgently) {
        watching += change;
        if (urgently) {
            watchingUrgently += change;
        }
    }

    /** Whether somebody waits for readiness to become URGENT. */
    boolean isWatchingUrgently() {
        return watchingUrgently > 0;
    }

    /** Whether somebody waits for readiness. */
    boolean isWatching() {
        return watching > 0;
    }

    /**
     * A watch was closed, and its channel will be. A selector lets go of a closed channel, and thus of its port and
     * connection, when it selects again: that look is owed even if nothing else waits for readiness.
     */
    void watchClosed(Poller p) {
        if (!p.supportsFds() && !owesLook) {
            owesLook = true;
            watching++;
        }
    }

    /**
     * Keeps the thread from being interrupted for as long as it carries the loop: an interrupted thread would not park but
     * spin (F97), and a selector would close what it watches.
     */
    void holdInterrupt() {
        if (Thread.interrupted()) {
            interrupted = true;
        }
    }

    /** Whether the thread was interrupted while it carried the loop; it is over. */
    boolean takeInterrupt() {
        holdInterrupt();
        Poller p = poller;
        if (p != null && p.takeInterrupted()) {
            interrupted = true;
        }
        boolean owed = interrupted;
        interrupted = false;
        return owed;
    }

    boolean owesLook() {
        return owesLook;
    }

    /** The poller, opened when it is first needed. */
    Poller poller() throws IOException {
        Poller p = poller;
        if (p == null) {
            p = Poller.open(kind);
            poller = p;
        }
        return p;
    }

    /** Looks at readiness without waiting; returns the number of reports. */
    int look() {
        if (owesLook) {
            owesLook = false;
            watching--;
        }
        return poll(0);
    }

    /**
     * Sleeps until something is posted, or something watched is ready, for {@code nanos} at most, negative for ever.
     * Returns at once if something is in the inbox. May end early.
     */
    void sleep(long nanos) {
        boolean readiness = watching > 0;
        inPoller = readiness;
        sleeping = Thread.currentThread();
        if (!inbox.prepareSleep()) {
            return;
        }
        sleeps++;
        try {
            if (readiness) {
                poll(nanos);
            } else {
                holdInterrupt();
                if (nanos < 0) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, nanos);
                }
            }
        } finally {
            if (inbox.endSleep()) {
                wakes++;
            }
        }
    }

    /**
     * Ends a sleep. For whoever replaced the mark SLEEPING of the inbox, once. Any thread.
     *
     * @return false if the way to wake was broken and has been repaired (F92)
     */
    boolean wake() {
        Poller p = poller;
        if (inPoller && p != null) {
            return p.wake();
        }
        LockSupport.unpark(sleeping);
        return true;
    }

    private int poll(long nanos) {
        polls++;
        try {
            return poller().poll(nanos);
        } catch (IOException e) {
            throw new IllegalStateException("the poller of the event loop failed: " + e.getMessage(), e);
        }
    }

    void close() {
        Poller p = poller;
        if (p != null) {
            p.close();
        }
    }

    @Override
    public String toString() {
        Poller p = poller;
        return p != null ? p.toString() : "no poller yet: nothing was watched";
    }
}
