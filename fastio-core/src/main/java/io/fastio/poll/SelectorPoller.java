package io.fastio.poll;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The portable poller, on an NIO {@link Selector}. Loop thread only, except {@link #wake()}.
 *
 * <p><b>Level-triggered, armed once.</b> {@code arm} sets interest bits of the key and a report clears them, so
 * readiness that nobody waits for costs nothing and cannot make the loop spin. The JDK carries changes of interest to
 * the kernel at the next select: a report followed by an {@code arm} before the next poll makes no system call.
 *
 * <p><b>Time.</b> A Selector counts whole milliseconds. What is left is rounded up: a poll with 1 ns left waits 1 ms,
 * which makes timers late by up to a millisecond but never makes the loop spin towards them.
 *
 * <p><b>A select that ends for no reason (F98)</b>, {@value #SPIN_LIMIT} times in a row, is cured by moving all
 * registrations to a new selector. The interrupt status, which would have the same effect, is cleared (F97).
 *
 * <p><b>Caveats.</b> NIO hides errors and hang-ups: they are reported as plain readiness and show at the next
 * operation. {@link Selector#wakeup} takes a lock inside the JDK for the length of one system call, so tasks of the
 * loop itself should not call {@link #wake()}; they have no need to, as the loop is awake while they run. Channels
 * that are closed without closing their registration give their descriptor back at the next poll.
 */
final class SelectorPoller implements Poller {
    /** So many selects in a row that end early with nothing are a fault of the selector, not chance. */
    static final int SPIN_LIMIT = 512;

    /** Opens the selector; tests put in one that misbehaves. */
    @FunctionalInterface
    interface Source {
        Selector open() throws IOException;
    }

    private final String why;
    private final Source source;
    private final Consumer<SelectionKey> deliver = this::deliver;
    // Written by the loop thread only. wake() reads it after setting `woken`, rebuild() reads `woken` after writing it:
    // one
    // of the two sees the other, so a wake that goes to the old selector is not lost.
    private volatile Selector selector;
    private volatile boolean woken;
    private boolean interruptTaken;
    private final Delivery delivery = new Delivery();
    private boolean selecting;
    private int spins;
    private int rebuilds;
    // Registrations that report in the next poll without asking the selector, because their channel is closed.
    private @Nullable Entry firstPending;
    private @Nullable Entry lastPending;
    // Registrations closed while their selector was busy, whose keys are cancelled after the batch: a key cancelled
    // during
    // the batch would keep its channel from being registered anew before the next select.
    private @Nullable Entry firstDropped;

    SelectorPoller(String why) throws IOException {
        this(why, Selector::open);
    }

    SelectorPoller(String why, Source source) throws IOException {
        this.why = why;
        this.source = source;
        this.selector = source.open();
    }

    private final class Entry implements Registration {
        final SelectableChannel channel;
        final Target target;
        final int valid;
        // Set right after the registration with the selector, and replaced when that is rebuilt.
        @Nullable
        SelectionKey key;

        int armed;
        boolean closed;
        boolean pending;

        @Nullable
        Entry nextPending;

        @Nullable
        Entry nextDropped;

        Entry(SelectableChannel channel, Target target) {
            this.channel = channel;
            this.target = target;
            this.valid = Interest.validFor(channel);
        }

        @Override
        public void arm(int interest) {
            if (closed) {
                throw new IllegalStateException("the registration of " + channel + " is closed");
            }
            Interest.check(interest, valid);
            armed |= interest;
            setInterest();
        }

        @Override
        public void disarm(int interest) {
            armed &= ~interest;
            if (!closed) {
                setInterest();
            }
        }

        @Override
        public void drained(int interest) {
            // The selector asks the kernel afresh at every select.
        }

        @Override
        public void shortRead() {
            // As drained.
        }

        @Override
        public int fd() {
            return -1;
        }

        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            armed = 0;
            SelectionKey k = key;
            if (k == null || !k.isValid()) {
                return;
            }
            if (selecting) {
                try {
                    k.interestOps(0);
                } catch (CancelledKeyException e) {
                    return; // its channel was closed by another thread just now: the selector forgets it by itself
                }
                nextDropped = firstDropped;
                firstDropped = this;
            } else {
                k.cancel();
            }
        }

        /**
         * Makes the key say what is armed; a key that is gone means a closed channel, which the target must find out.
         */
        void setInterest() {
            SelectionKey k = key;
            try {
                if (k != null && k.isValid()) {
                    k.interestOps(Interest.toOps(armed, channel));
                    return;
                }
            } catch (CancelledKeyException e) {
                // Closed by another thread since isValid: as below.
            }
            if (armed != 0 && !pending) {
                pending = true;
                if (lastPending == null) {
                    firstPending = this;
                } else {
                    lastPending.nextPending = this;
                }
                lastPending = this;
            }
        }
    }

    @Override
    public Registration register(SelectableChannel ch, Target target) throws IOException {
        Selector s = selector;
        SelectionKey old = ch.keyFor(s);
        Entry entry = new Entry(ch, target);
        if (old != null && old.isValid()) {
            if (old.attachment() instanceof Entry e && !e.closed) {
                throw new IllegalStateException(ch + " is registered already");
            }
            // Closed in the batch that is being delivered, its key not cancelled yet: it serves the new registration.
            old.attach(entry);
            entry.key = old;
            return entry;
        }
        if (old != null && !selecting) {
            // The cancelled key of an earlier registration is in the way until the next select. Readiness seen here is
            // not lost: a level-triggered selector finds it again.
            s.selectNow();
            s.selectedKeys().clear();
        }
        entry.key = ch.register(s, 0, entry);
        return entry;
    }

    @Override
    public Registration register(int fd, Target target) {
        throw new UnsupportedOperationException("file descriptor " + fd + " cannot be waited for by " + this
                + ": only the epoll poller (Linux) takes descriptors that are no NIO channels");
    }

    @Override
    public int poll(long timeoutNanos) throws IOException {
        Selector s = selector;
        if (!s.isOpen()) {
            throw new IllegalStateException("poller is closed");
        }
        delivery.begin();
        try {
            boolean block = timeoutNanos != 0 && firstPending == null && !woken;
            reportPending();
            select(s, block, timeoutNanos);
        } finally {
            delivery.end();
        }
        return delivery.result();
    }

    private void select(Selector s, boolean block, long timeoutNanos) throws IOException {
        boolean timed = block && timeoutNanos > 0;
        long start = timed ? System.nanoTime() : 0;
        int found;
        selecting = true;
        try {
            if (!block) {
                found = s.selectNow(deliver);
            } else if (timed) {
                found = s.select(deliver, millisRoundedUp(timeoutNanos));
            } else {
                found = s.select(deliver);
            }
        } catch (ClosedSelectorException e) {
            return; // a target closed the poller, and with it all registrations
        } finally {
            selecting = false;
        }
        dropClosed();
        boolean interrupted = Thread.interrupted();
        interruptTaken |= interrupted;
        boolean wasWoken = woken;
        if (wasWoken) {
            woken = false;
        }
        if (!block || found != 0 || wasWoken || interrupted || (timed && System.nanoTime() - start >= timeoutNanos)) {
            spins = 0;
        } else if (++spins >= SPIN_LIMIT) {
            spins = 0;
            rebuild(s);
        }
    }

    /** Nanoseconds to the milliseconds of a select, where 0 would mean for ever. */
    static long millisRoundedUp(long nanos) {
        long millis = nanos / 1_000_000;
        return millis * 1_000_000 == nanos ? millis : millis + 1;
    }

    private void deliver(SelectionKey key) {
        if (key.attachment() instanceof Entry e && !e.closed) {
            int events = Interest.fromOps(key.readyOps()) & e.armed;
            e.armed &= ~events;
            try {
                key.interestOps(Interest.toOps(e.armed, e.channel));
            } catch (CancelledKeyException gone) {
                // Closed by another thread since the select: the target finds that out when it tries.
                events |= e.armed;
                e.armed = 0;
            }
            if (events != 0) {
                delivery.report(e.target, events);
            }
        }
    }

    private void reportPending() {
        Entry e = firstPending;
        firstPending = null;
        lastPending = null;
        while (e != null) {
            Entry next = e.nextPending;
            e.nextPending = null;
            e.pending = false;
            int events = e.armed;
            if (events != 0) {
                e.armed = 0;
                delivery.report(e.target, events | ERROR | HANGUP);
            }
            e = next;
        }
    }

    private void dropClosed() {
        Entry e = firstDropped;
        firstDropped = null;
        while (e != null) {
            Entry next = e.nextDropped;
            e.nextDropped = null;
            SelectionKey k = e.key;
            if (k != null && k.attachment() == e) {
                k.cancel();
            }
            e = next;
        }
    }

    /**
     * F98: a new selector with all registrations of the old one. The next poll does not block if a wake came
     * meanwhile.
     */
    private void rebuild(Selector old) throws IOException {
        Selector fresh = source.open();
        for (SelectionKey k : old.keys()) {
            if (k.isValid() && k.attachment() instanceof Entry e && !e.closed) {
                e.key = e.channel.register(fresh, Interest.toOps(e.armed, e.channel), e);
            }
        }
        selector = fresh;
        rebuilds++;
        old.close();
    }

    @Override
    public boolean takeInterrupted() {
        boolean was = interruptTaken;
        interruptTaken = false;
        return was;
    }

    @Override
    public boolean wake() {
        woken = true;
        try {
            selector.wakeup(); // harmless on a closed one
            return true;
        } catch (InternalError e) {
            // How the JDK reports a wake-up write that failed.
            throw new UncheckedIOException(new IOException("the loop could not be woken", e));
        }
    }

    @Override
    public boolean supportsFds() {
        return false;
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How often the selector had to be replaced. */
    int rebuilds() {
        return rebuilds;
    }

    @Override
    public String toString() {
        return "selector (" + why + ")";
    }
}
