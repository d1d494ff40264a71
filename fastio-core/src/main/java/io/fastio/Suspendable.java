package io.fastio;

import io.fastio.time.LoopClock;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The part of a task that waits, and all that can end its waits.
 *
 * <p>Three things can end a wait before its wake: the deadline of the wait itself, a strike of a {@link Scope} on the
 * task's stack, and {@link Task#cancel()}. The last two are <em>cancels</em>; all of them arrive on the loop and go through
 * {@link #endWait}. A cancel that finds no wait stays pending and is delivered by the next one: {@link #begin} for those
 * that count at once, {@link #suspend} for expired timeouts too (C3). Between its wake and its next step a task is
 * <em>woken</em>; a cancel then still wins, and the hook passes on what the task was woken for (C6).
 *
 * <p>All fields belong to the loop, but for {@link #wakeTicket}.
 */
abstract sealed class Suspendable extends Fiber permits LoopTask {
    /** Signal of the inbox: {@link #wakeTicket} was set. */
    static final int WAKE = 4;

    /** Why the wait in progress ended; NOT_YET while it goes on. */
    private static final byte NOT_YET = 0;

    private static final byte BY_WAKE = 1;
    private static final byte BY_DEADLINE = 2;
    private static final byte BY_CANCEL = 3;

    /** The wait of a yield, and of a sleep: nobody keeps account of them. */
    private static final Wait.Hook YIELD = new Nobody(true);

    private static final Wait.Hook SLEEP = new Nobody(true);
    private static final Wait.Hook CHECKPOINT = new Nobody(true);

    /** The yield behind an operation that has taken effect, which no cancel ends (C6). */
    private static final Wait.Hook YIELD_BEHIND = new Nobody(false);

    private static final class Nobody implements Wait.Hook {
        private final boolean cancellable;

        Nobody(boolean cancellable) {
            this.cancellable = cancellable;
        }

        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            return cancellable;
        }
    }

    private static final AtomicLongFieldUpdater<Suspendable> WAKE_TICKET =
            AtomicLongFieldUpdater.newUpdater(Suspendable.class, "wakeTicket");

    private final Priority priority;

    // The wait in progress.
    private Wait.@Nullable Hook hook;
    private @Nullable Priority wakeClass;
    private byte reason;
    private volatile long wakeTicket;

    /** Names the wait in progress, or, if it was asked for, the one to come. */
    private long ticket;

    private boolean ticketAsked;
    private boolean wokenAhead;

    @Nullable
    WaitList waitList;

    @Nullable
    LoopTask<?> previousWaiter;

    @Nullable
    LoopTask<?> nextWaiter;

    // Cancels.
    private boolean cancelRequested;
    private @Nullable String cancelledBy;
    private boolean interrupted;
    private boolean interruptLeft;
    private @Nullable Scope scope;
    private int pendingScopes;
    private int shields;

    /** Its operations have been slow of late (S14). */
    private boolean slowOperations;

    // Classes lent to it (Y2).
    private int lentUrgent;
    private int lentNormal;

    Suspendable(EventLoop loop, @Nullable String name, Priority priority) {
        super(loop, name);
        this.priority = priority;
    }

    // ---- what the task around it knows

    abstract String name();

    abstract boolean done();

    /** The task that it awaits, if it alone does (C5). */
    abstract @Nullable LoopTask<?> soleAwaited();

    private Task<?> task() {
        return (LoopTask<?>) this;
    }

    @Override
    void runStep() {
        loop.share.begin();
        super.runStep();
        if ((hook == YIELD || hook == YIELD_BEHIND) && phase == WAITING) {
            loop.scheduler.yielded(this);
        } else if (phase == BLOCKED
                && readyIn == ReadyQueues.NONE
                && (cancelRequested || pendingScopes > 0)
                && owesInterrupt()) {
            loop.interruptLater(this); // C2: the cancel was there before the JDK call
        }
    }

    // ---- waiting

    /** The beginning of a waiting operation; see {@link Wait#begin()}. */
    void begin() {
        beginAtOnce();
        if (loop.share.takesOperation() && isShareUsedUp()) {
            goToEndOf(wakeClass); // not a wait of its own: what woke it still counts (S1)
        }
    }

    /** The beginning of an operation that takes effect at once; see {@link Wait#beginAtOnce()}. */
    void beginAtOnce() {
        if (cancelRequested || pendingScopes > 0) {
            CancelledError e = takePending(false);
            if (e != null) {
                throw e;
            }
            dropInterrupt(); // it would close the channel that is read next
        }
        if (ticketAsked || wokenAhead) {
            dropTicket(); // the wait that they are for was not begun
        }
    }

    /** The end of an operation that took effect at once; see {@link Wait#endAtOnce()}. */
    void endAtOnce() {
        if (!loop.share.takesOperation() || !isShareUsedUp()) {
            return;
        }
        if (loop.scheduler.isNothingElseReady()) {
            loop.share.begin();
        } else {
            nextWait();
            waitFor(YIELD_BEHIND, wakeClass);
        }
    }

    /** S14: whether the share of this step is used up, as far as one has to look. */
    private boolean isShareUsedUp() {
        StepShare share = loop.share;
        slowOperations = share.look(slowOperations);
        return share.isUsedUp();
    }

    /** Gives way and goes to the end of its class. */
    void yieldNow() {
        goToEndOf(null);
    }

    /** Gives way, and waits in the class that it would have after a wait for {@code wakeAs}. */
    private void goToEndOf(@Nullable Priority wakeAs) {
        if (cancelRequested || pendingScopes > 0) {
            CancelledError e = takePending(true);
            if (e != null) {
                throw e;
            }
        }
        if (loop.scheduler.isNothingElseReady()) {
            loop.share.begin();
            deliverPending(true);
            return;
        }
        nextWait();
        waitFor(YIELD, wakeAs);
    }

    /** Sleeps; zero and less is a yield (S3). {@link Priority#LOW} as class is {@code after} (S4). */
    void sleep(long nanos, @Nullable Priority wakeAs) {
        begin();
        if (nanos <= 0 && wakeAs == null) {
            yieldNow();
        } else {
            suspend(SLEEP, wakeAs, LoopClock.saturatedSum(loop.readClock(), Math.max(0, nanos)));
        }
    }

    Wait.Reason suspend(Wait.Hook h, @Nullable Priority wakeAs, long deadline) {
        reason = NOT_YET;
        if ((cancelRequested || pendingScopes > 0) && isPending(true)) {
            LoopTask<?> awaited = soleAwaited();
            if (awaited != null) {
                awaited.cancelOnLoop(name()); // C5
            }
            if (h.abandon(task(), wokenAhead)) {
                dropTicket();
                throw Objects.requireNonNull(takePending(true));
            }
            noteRefusal();
        }
        if ((ticketAsked || wokenAhead) && h != SLEEP) {
            boolean woken = wokenAhead;
            dropTicket();
            if (woken) {
                return Wait.Reason.WOKEN;
            }
        } else {
            nextWait();
        }
        if (deadline != Wait.FOREVER) {
            loop.scheduler.setTimer(this, deadline);
        }
        waitFor(h, wakeAs);
        return reason == BY_DEADLINE ? Wait.Reason.DEADLINE : Wait.Reason.WOKEN;
    }

    /** A wait that nobody has named begins; one that was named is yet to come. */
    private void nextWait() {
        if (!ticketAsked) {
            ticket++;
        }
    }

    private void waitFor(Wait.Hook h, @Nullable Priority wakeAs) {
        hook = h;
        wakeClass = wakeAs;
        reason = NOT_YET;
        boolean left;
        try {
            left = giveWay();
        } catch (StackOverflowError e) {
            endRefusedWait(h);
            throw e;
        }
        if (!left) {
            endRefusedWait(h);
            throw new IllegalStateException("cannot wait here: a native frame or a class initialiser on the stack pins "
                    + name() + " to the loop thread");
        }
        hook = null;
        if (reason == BY_CANCEL) {
            CancelledError e = takePending(true);
            throw e != null ? e : new CancelledError(name() + " was cancelled", null);
        }
    }

    /** The thread could not leave the loop. */
    private void endRefusedWait(Wait.Hook h) {
        phase = RUNNING;
        hook = null;
        loop.scheduler.cancelTimer(this);
        h.abandon(task(), false);
    }

    /** S1: the class in which the end of the present wait makes it ready. */
    private byte wakeClass() {
        Priority own = effectivePriority();
        Priority wait = wakeClass;
        if (wait == null) {
            return (byte) own.ordinal();
        }
        if (wait == Priority.LOW) { // after: low, unless somebody more urgent waits for what the task holds
            return lentUrgent + lentNormal > 0 ? (byte) own.ordinal() : ReadyQueues.LOW;
        }
        return (byte) own.orUrgenter(wait).ordinal();
    }

    /** Its wait has come to its end as it should; false if it is in none, or it has ended already. */
    boolean wakeIfWaiting() {
        boolean heldUp = phase == BLOCKED || phase == RUNNING && readyIn != ReadyQueues.NONE;
        if (hook == null && heldUp && !wokenAhead) {
            wokenAhead = true; // the JDK (a lock, a class being loaded) holds it up, or did, on its way into the wait
            return true;
        }
        if (hook == null || reason != NOT_YET || readyIn != ReadyQueues.NONE) { // the last: it yielded, and will run
            return false;
        }
        reason = BY_WAKE;
        loop.scheduler.cancelTimer(this);
        loop.scheduler.ready(this, wakeClass());
        return true;
    }

    /** A wake from outside has arrived. */
    final void deliverWake() {
        wakeNamed(wakeTicket);
    }

    /** See {@link Wait#nextTicket()}. */
    final long nextTicket() {
        if (!ticketAsked) {
            ticketAsked = true;
            ticket++;
        }
        return ticket;
    }

    private void wakeNamed(long wanted) {
        if (wanted != ticket) {
            return; // late: that wait is over
        }
        if (ticketAsked) {
            wokenAhead = true;
        } else {
            wakeIfWaiting();
        }
    }

    private void dropTicket() {
        ticketAsked = false;
        wokenAhead = false;
    }

    void wakeFromAnywhere(long wanted) {
        if (loop.isCurrent()) {
            wakeNamed(wanted);
            return;
        }
        for (long seen = wakeTicket; seen < wanted; seen = wakeTicket) { // the latest wait is the one that counts
            if (WAKE_TICKET.compareAndSet(this, seen, wanted)) {
                break;
            }
        }
        loop.postIfOpen(this, WAKE);
    }

    /** The deadline of its own wait. */
    @Override
    void timeReached() {
        Wait.Hook h = hook;
        if (h != null && reason == NOT_YET) {
            reason = BY_DEADLINE;
            if (h != SLEEP) {
                h.abandon(task(), false);
            }
            loop.scheduler.enqueue(this, wakeClass(), due);
        }
    }

    /** Whether the yield in progress still waits to be queued. */
    boolean isYielding() {
        return (hook == YIELD || hook == YIELD_BEHIND) && reason == NOT_YET && readyIn == ReadyQueues.NONE;
    }

    /** Whether it gave way at a checkpoint and nothing else has ended that wait. */
    boolean wakesItself() {
        return hook == CHECKPOINT && reason == NOT_YET && readyIn == ReadyQueues.NONE;
    }

    byte yieldClass() {
        return wakeClass();
    }

    /** B4: lets everything more urgent run, and goes on first of its class. */
    boolean checkpoint() {
        if (cancelRequested || pendingScopes > 0) {
            CancelledError e = takePending(true);
            if (e != null) {
                throw e;
            }
        }
        if (!loop.scheduler.isDueBefore(ownClass())) {
            return false;
        }
        loop.scheduler.checkpointed(this);
        nextWait();
        waitFor(CHECKPOINT, null);
        return true;
    }

    // ---- cancelling

    /** Cancels it, and nothing that it awaits. */
    void requestCancel(String by) {
        if (done()) {
            return;
        }
        cancelRequested = true;
        cancelledBy = by;
        if (shields == 0) {
            endWait(null);
        }
    }

    /** A scope of its stack was struck. */
    void scopeStruck(Scope s) {
        pendingScopes++;
        if (!shieldedFrom(s)) {
            LoopTask<?> awaited = soleAwaited();
            if (awaited != null) {
                awaited.cancelOnLoop(s.describe());
            }
            endWait(s);
        }
    }

    private boolean shieldedFrom(Scope s) {
        if (shields > 0) {
            for (Scope i = scope; i != s && i != null; i = i.outer) {
                if (i.shields()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A cancel has come, from {@code struck} or, if null, from {@link Task#cancel()}: ends the wait, if it is in one. */
    private void endWait(@Nullable Scope struck) {
        Wait.Hook h = hook;
        if (h == null) {
            if (readyIn == ReadyQueues.LOW) { // before its first step, or after a JDK call
                loop.scheduler.requeue(this, ReadyQueues.NORMAL);
            } else if (phase == BLOCKED && readyIn == ReadyQueues.NONE) {
                loop.interruptLater(this);
            }
        } else if (reason == NOT_YET) {
            if (h.abandon(task(), false)) {
                reason = BY_CANCEL;
                if (readyIn == ReadyQueues.NONE) {
                    loop.scheduler.cancelTimer(this);
                    loop.scheduler.ready(this, cancelClass());
                } else if (readyIn == ReadyQueues.LOW) {
                    loop.scheduler.requeue(this, ReadyQueues.NORMAL); // a yielding LOW task
                }
            } else if (struck != null && h != YIELD_BEHIND) {
                struck.refused = true;
            }
        } else if (reason != BY_CANCEL && (struck == null || struck.atOnce())) { // C6: woken, but not yet running
            if (reason == BY_DEADLINE || h.abandon(task(), true)) {
                reason = BY_CANCEL;
                if (readyIn == ReadyQueues.LOW) {
                    loop.scheduler.requeue(this, ReadyQueues.NORMAL);
                }
            }
        }
    }

    /** C2: NORMAL or better. */
    private byte cancelClass() {
        return (byte) effectivePriority().orUrgenter(Priority.NORMAL).ordinal();
    }

    private void noteRefusal() {
        if (cancelRequested && shields == 0) {
            return;
        }
        Scope s = outermostPending(true);
        if (s != null) {
            s.refused = true;
        }
    }

    /** In a JDK call when it was to be cancelled; on a runner, since interrupting may run foreign code (C2). */
    void interruptIfBlocked() {
        if (phase == BLOCKED && readyIn == ReadyQueues.NONE && isPending(true)) {
            if (cancelRequested && shields == 0) {
                interrupted = true;
            } else {
                Scope s = outermostPending(true);
                if (s != null) {
                    s.interrupted = true;
                }
            }
            interruptLeft = true;
            thread.interrupt();
        }
    }

    /**
     * Whether a pending cancel has yet to interrupt a JDK call. Once is enough, also for a level-wise scope until it is
     * delivered: a call that waits on in spite of it, as {@code Lock.lock()} does, would make the loop spin (F23).
     */
    private boolean owesInterrupt() {
        if (cancelRequested && shields == 0) {
            return !interrupted;
        }
        Scope s = outermostPending(true);
        return s != null && !s.interrupted;
    }

    /** An interrupt of ours that no JDK call took must not hit what comes next. */
    private void dropInterrupt() {
        if (interruptLeft) {
            interruptLeft = false;
            Thread.interrupted();
        }
    }

    boolean isPending(boolean suspends) {
        return cancelRequested && shields == 0 || pendingScopes > 0 && outermostPending(suspends) != null;
    }

    private @Nullable Scope outermostPending(boolean suspends) {
        Scope found = null;
        for (Scope s = scope; s != null; s = s.outer) {
            if (s.pending() && (suspends || s.atOnce())) {
                found = s;
            }
            if (s.shields()) {
                break;
            }
        }
        return found;
    }

    /** The cancel to be thrown now, taken off what is pending; null if there is none. */
    private @Nullable CancelledError takePending(boolean suspends) {
        if (cancelRequested && shields == 0) {
            CancelledError e = takeCancel();
            for (Scope s = scope; s != null; s = s.outer) {
                s.passed = e;
            }
            return e;
        }
        Scope s = pendingScopes > 0 ? outermostPending(suspends) : null;
        if (s == null) {
            return null;
        }
        if (!s.levelWise()) {
            s.delivered = true;
            pendingScopes--;
        }
        s.interrupted = false;
        dropInterrupt();
        CancelledError e = new CancelledError(s.verdict(), s);
        for (Scope i = scope; i != s && i != null; i = i.outer) {
            i.passed = e;
        }
        return e;
    }

    CancelledError takeCancel() {
        cancelRequested = false;
        interrupted = false;
        dropInterrupt();
        return new CancelledError(name() + " was cancelled by " + cancelledBy, null);
    }

    /** Throws a cancel that came while it was in a wait that had to finish; {@code suspended}: it did wait (C3). */
    void deliverPending(boolean suspended) {
        CancelledError e = takePending(suspended);
        if (e != null) {
            throw e;
        }
    }

    /** Throws its own cancel, if that has interrupted a JDK call and is still pending. */
    void deliverInterrupting(@Nullable Throwable thrown) {
        if (cancelRequested && interrupted && shields == 0) {
            CancelledError e = Objects.requireNonNull(takePending(true));
            if (thrown != null) {
                e.addSuppressed(thrown);
            }
            throw e;
        }
    }

    /** Makes a cancel that was thrown pending again: something else has to be thrown in its place (G2). */
    void putBack(CancelledError e) {
        Scope s = e.origin;
        if (s == null) {
            cancelRequested = true;
        } else if (s.entered && s.delivered && !s.levelWise()) {
            s.delivered = false;
            s.refused = true; // it counts as having had its effect (T2)
            pendingScopes++;
        }
    }

    /** Whether {@code e} is, or comes from, what a JDK call throws when its thread is interrupted. */
    static boolean isInterruption(Throwable e) {
        int depth = 0;
        for (Throwable t = e; t != null && depth < 16; t = t.getCause(), depth++) {
            if (t instanceof InterruptedException
                    || t instanceof java.io.InterruptedIOException
                    || t instanceof java.nio.channels.ClosedByInterruptException
                    || t instanceof java.net.SocketException && "Closed by interrupt".equals(t.getMessage())) {
                return true;
            }
        }
        return false;
    }

    void enter(Scope s, long deadline) {
        s.outer = scope;
        s.entered = true;
        scope = s;
        if (s.struck) {
            pendingScopes++;
        } else if (deadline != Long.MAX_VALUE) {
            loop.scheduler.setTimer(s, deadline);
        }
    }

    void leave(Scope s) {
        if (!s.entered) {
            throw new IllegalStateException("the scope has been left");
        }
        while (scope != s) { // a StackOverflowError kept those further in from being left
            leaveInnermost(Objects.requireNonNull(scope));
        }
        leaveInnermost(s);
    }

    private void leaveInnermost(Scope s) {
        loop.scheduler.cancelTimer(s);
        boolean pending = s.pending();
        boolean shielding = s.shields();
        // From here to the last line nothing is called: where the stack overflows it is left, or not at all.
        s.entered = false;
        scope = s.outer;
        if (pending) {
            pendingScopes--;
        }
        if (shielding) {
            shields--;
        }
        if (s.interrupted && !(cancelRequested && interrupted)) {
            dropInterrupt();
        }
    }

    void shieldChanged(boolean on) {
        shields += on ? 1 : -1;
    }

    // ---- classes lent to it

    void lend(Priority p, int change) {
        Priority before = effectivePriority();
        if (p == Priority.URGENT) {
            lentUrgent += change;
        } else if (p == Priority.NORMAL) {
            lentNormal += change;
        }
        if (readyIn != ReadyQueues.NONE) { // F122
            byte due = hook == null ? ownClass() : reason == BY_CANCEL ? cancelClass() : wakeClass();
            if (due == ReadyQueues.LOW && isPending(true)) {
                due = ReadyQueues.NORMAL;
            }
            if (due != (readyIn == ReadyQueues.DEADLINE ? ReadyQueues.URGENT : readyIn)) {
                loop.scheduler.requeue(this, due);
            }
        }
        if (effectivePriority() != before && hook != null && reason == NOT_YET) {
            hook.classChanged(task(), before);
        }
    }

    Priority effectivePriority() {
        return lentUrgent > 0
                ? Priority.URGENT
                : lentNormal > 0 && priority == Priority.LOW ? Priority.NORMAL : priority;
    }

    /** Its cancel stands; a thread that has not run yet never will. */
    void cancelBeforeFirstStep(String by) {
        cancelRequested = true;
        cancelledBy = by;
    }

    /** A wait is about to begin, and is to be seen before it does. */
    void openWait() {
        reason = NOT_YET;
    }

    /** Whether nothing has ended the wait in progress yet. */
    boolean isWaitOpen() {
        return reason == NOT_YET;
    }

    /** See {@link Wait#isGivenUp}. */
    boolean isGivenUp() {
        return hook != null && reason > BY_WAKE;
    }

    boolean isShielded() {
        return shields > 0;
    }

    boolean isCancelRequested() {
        return cancelRequested;
    }

    /** Whether its own cancel has interrupted a JDK call and is still pending. */
    boolean isInterruptedByCancel() {
        return interrupted && cancelRequested;
    }

    /** Its body is over. */
    void leaveAllScopes() {
        scope = null;
    }

    /** In which wait it is, for people. */
    String waitingFor() {
        Wait.Hook h = hook;
        if (readyIn != ReadyQueues.NONE) {
            return "ready";
        }
        return h == SLEEP ? "sleeping" : h == null ? "waiting" : "waiting (" + ownerOf(h) + ")";
    }

    /** The outermost class that the hook was written in, for hooks are lambdas and inner classes: Event, Lock, Watch. */
    private static String ownerOf(Wait.Hook h) {
        String name = h.getClass().getName();
        int end = name.indexOf('$');
        return name.substring(name.lastIndexOf('.', end < 0 ? name.length() : end) + 1, end < 0 ? name.length() : end);
    }

    Priority ownPriority() {
        return priority;
    }
}
