package io.fastio;

import io.fastio.carrier.Carrier;
import io.fastio.time.LoopClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The task: a fiber with a body, a result, and everything that can end its waits.
 *
 * <p>Three things can end a wait before its wake: the deadline of the wait itself, a strike of a {@link Scope} on the
 * task's stack, and {@link #cancel()}. The last two are <em>cancels</em>; all of them arrive on the loop and go through
 * {@link #endWait}. A cancel that finds no wait stays pending and is delivered by the next one: {@link #begin} for those
 * that count at once, {@link #suspend} for expired timeouts too (C3). Between its wake and its next step a task is
 * <em>woken</em>; a cancel then still wins, and the hook passes on what the task was woken for (C6).
 *
 * <p>All fields belong to the loop, but for {@link #state} with {@link #result}, {@link #latch} and {@link #outsiders}.
 */
final class LoopTask<T extends @Nullable Object> extends Fiber implements Task<T>, Wait.Hook {
    private static final int CANCEL = 2;
    private static final int WAKE = 4;
    private static final int START = 8;

    private static final int PENDING = 0;
    private static final int SUCCEEDED = 1;
    private static final int FAILED = 2;
    private static final int CANCELLED = 3;

    /** Why the wait in progress ended; NOT_YET while it goes on. */
    private static final byte NOT_YET = 0;

    private static final byte BY_WAKE = 1;
    private static final byte BY_DEADLINE = 2;
    private static final byte BY_CANCEL = 3;

    /** Operations satisfied at once in one step before the next gives way, and how often the clock is looked at (S14). */
    private static final int OPERATIONS_PER_STEP = 256;

    private static final int OPERATIONS_PER_CLOCK = 16;
    private static final long NANOS_PER_STEP = 1_000_000;

    /** The wait of a yield, and of a sleep: nobody keeps account of them. */
    private static final Wait.Hook YIELD = new Nobody();

    private static final Wait.Hook SLEEP = new Nobody();
    private static final Wait.Hook CHECKPOINT = new Nobody();

    private static final class Nobody implements Wait.Hook {
        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            return true;
        }
    }

    private static final AtomicReferenceFieldUpdater<LoopTask<?>, @Nullable CountDownLatch> LATCH = latchUpdater();
    private static final AtomicIntegerFieldUpdater<LoopTask<?>> OUTSIDERS = outsidersUpdater();
    private static final AtomicLongFieldUpdater<LoopTask<?>> WAKE_TICKET = ticketUpdater();

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static AtomicReferenceFieldUpdater<LoopTask<?>, @Nullable CountDownLatch> latchUpdater() {
        return (AtomicReferenceFieldUpdater)
                AtomicReferenceFieldUpdater.newUpdater(LoopTask.class, CountDownLatch.class, "latch");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static AtomicIntegerFieldUpdater<LoopTask<?>> outsidersUpdater() {
        return (AtomicIntegerFieldUpdater) AtomicIntegerFieldUpdater.newUpdater(LoopTask.class, "outsiders");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static AtomicLongFieldUpdater<LoopTask<?>> ticketUpdater() {
        return (AtomicLongFieldUpdater) AtomicLongFieldUpdater.newUpdater(LoopTask.class, "wakeTicket");
    }

    private final @Nullable String name;
    private final Priority priority;
    private final long deadlineNanos;
    private @Nullable Callable<T> body;

    // How it ended.
    private volatile int state;
    private @Nullable Object result;
    private volatile @Nullable CountDownLatch latch;

    /** How many threads that are no tasks wait for its end at present, at {@link #latch}. */
    private volatile int outsiders;

    private @Nullable List<Consumer<? super Task<T>>> doneCallbacks;
    private boolean threadDone;

    /** How often what it failed with was handed out (G3), and the task from which it took that failure over. */
    int retrievals;

    private @Nullable LoopTask<?> failedLike;
    private boolean reported;

    // The tasks of the loop, and whoever joins it.
    @Nullable
    LoopTask<?> previousTask;

    @Nullable
    LoopTask<?> nextTask;

    boolean listed;

    @Nullable
    Joiner joiner;

    // The wait in progress.
    private Wait.@Nullable Hook hook;
    private @Nullable Priority wakeClass;
    private byte reason;
    long ticket;
    private volatile long wakeTicket;

    @Nullable
    WaitList waitList;

    @Nullable
    LoopTask<?> previousWaiter;

    @Nullable
    LoopTask<?> nextWaiter;

    // Awaiting one another.
    private @Nullable WaitList awaiters;
    private @Nullable Visitor visitors;
    private @Nullable LoopTask<?> awaiting;
    private boolean awaitShielded;

    // Cancels.
    private boolean cancelRequested;
    private @Nullable String cancelledBy;
    private volatile @Nullable String cancelledFromOutsideBy;
    private boolean interrupted;
    private boolean interruptLeft;
    private @Nullable Scope scope;
    private int pendingScopes;
    private int shields;

    // Share of this step (S14), and classes lent to it (Y2).
    private int operations;
    private long operationsSince;
    private int lentUrgent;
    private int lentNormal;

    LoopTask(EventLoop loop, TaskOptions options, Callable<T> body) {
        super(loop, options.name());
        this.name = options.name();
        this.priority = options.priority();
        this.deadlineNanos = options.deadline() == null ? 0 : Math.max(1, EventLoop.nanos(options.deadline()));
        this.body = Objects.requireNonNull(body, "body");
    }

    // ---- the current task

    static LoopTask<?> current() {
        LoopTask<?> task = currentOrNull();
        if (task == null) {
            throw new IllegalStateException(
                    EventLoop.currentOrNull() == null
                            ? "no running event loop: this must be called from a task (Asyncio.run starts the first one)"
                            : "no running task: waits need a task of their own, not a callback or a library's thread");
        }
        return task;
    }

    static @Nullable LoopTask<?> currentOrNull() {
        Thread thread = Thread.currentThread();
        return Carrier.schedulerOf(thread) instanceof LoopTask<?> task && task.thread == thread ? task : null;
    }

    // ---- life

    /** Makes it ready for its first step. Any thread. */
    void start() {
        Carrier.markStarted(thread);
        if (loop.isCurrent()) {
            arrive();
        } else {
            loop.post(this, START);
        }
    }

    /** Becomes one of the loop's tasks. */
    private void arrive() {
        if (loop.isClosing()) {
            cancelRequested = true;
            cancelledBy = "the end of the event loop";
        }
        loop.live.add(this);
        loop.scheduler.ready(this, ownClass());
    }

    @Override
    void deliver(int signals) {
        if ((signals & START) != 0) {
            arrive();
        } else if ((signals & CONTINUE) != 0) {
            goOn();
        }
        if ((signals & CANCEL) != 0 && !done()) {
            String by = cancelledFromOutsideBy;
            cancelOnLoop(by == null ? "another thread" : by);
        }
        if ((signals & WAKE) != 0 && wakeTicket == ticket) {
            wakeIfWaiting();
        }
    }

    @Override
    void goOn() {
        if (phase == NEW) { // a thread of threadFactory(), started
            if (!listed) {
                arrive();
            }
            return;
        }
        super.goOn();
        if (readyIn == ReadyQueues.LOW && isPending(true)) {
            loop.scheduler.requeue(this, ReadyQueues.NORMAL); // C2
        }
    }

    @Override
    void body() {
        Callable<T> b = Objects.requireNonNull(body);
        body = null;
        int end;
        Object value;
        if (cancelRequested) { // C3: cancelled before its first run
            end = CANCELLED;
            value = takeCancel();
        } else {
            try {
                value = b.call();
                end = SUCCEEDED;
            } catch (CancelledError e) {
                value = e;
                end = CANCELLED;
            } catch (Throwable e) {
                value = e;
                end = FAILED;
                if (interrupted && cancelRequested && e instanceof Exception) { // C2: what the ended JDK call threw
                    CancelledError c = takeCancel();
                    c.addSuppressed(e);
                    value = c;
                    end = CANCELLED;
                }
            }
        }
        ended(end, value);
        threadDone = true;
    }

    private void ended(int end, @Nullable Object value) {
        result = value;
        if (failedLike != null && failedLike.result != value) {
            failedLike = null;
        }
        state = end; // a full fence: whoever now looks for the result finds it, and we find whoever looked before
        loop.live.remove(this);
        boolean awaited = false;
        if (awaiters != null) {
            for (Task<?> t; (t = awaiters.poll()) != null; awaited = true) {
                ((LoopTask<?>) t).wakeIfWaiting();
            }
        }
        for (Visitor v = visitors; v != null; v = v.next, awaited = true) {
            v.listed = false;
            v.wake();
        }
        visitors = null;
        Joiner j = joiner;
        if (j != null) {
            joiner = null;
            awaited |= j.childEnded(this);
        }
        List<Consumer<? super Task<T>>> callbacks = doneCallbacks;
        if (callbacks != null) {
            doneCallbacks = null;
            for (Consumer<? super Task<T>> c : callbacks) {
                loop.soon(() -> c.accept(this));
            }
        }
        CountDownLatch gate = latch;
        if (gate != null) {
            awaited |= outsiders > 0;
            gate.countDown();
        }
        if (!awaited) {
            reportSoon();
        }
        scope = null;
    }

    /** G3: reports its failure one round later, unless somebody has taken it by then. On the loop. */
    void reportSoon() {
        if (state == FAILED && retrievals == 0) {
            loop.soon(this::reportIfUnretrieved);
        }
    }

    private void reportIfUnretrieved() {
        LoopTask<?> source = this; // where what it failed with comes from: several may have failed by awaiting that one
        while (source.failedLike != null) {
            source = source.failedLike;
        }
        if (retrievals == 0 && !source.reported) {
            source.reported = true;
            retrievals++;
            loop.report(new LoopError(
                    "exception in " + name() + " was never retrieved",
                    (Throwable) Objects.requireNonNull(result),
                    this));
        }
    }

    @Override
    boolean bodyEnded() {
        return threadDone;
    }

    @Override
    byte ownClass() {
        return (byte) effectivePriority().ordinal();
    }

    @Override
    long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    void runStep() {
        operations = 0;
        super.runStep();
        if (hook == YIELD && phase == WAITING) {
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
        if (cancelRequested || pendingScopes > 0) {
            CancelledError e = takePending(false);
            if (e != null) {
                throw e;
            }
            dropInterrupt(); // it would close the channel that is read next
        }
        if (++operations % OPERATIONS_PER_CLOCK == 0) {
            shareOfStep();
        }
    }

    /** S14: gives way after so many operations, or so long a time, in one step. */
    private void shareOfStep() {
        long now = loop.time();
        if (operations == OPERATIONS_PER_CLOCK) {
            operationsSince = now;
        } else if (operations >= OPERATIONS_PER_STEP || now - operationsSince > NANOS_PER_STEP) {
            yieldNow();
        }
    }

    /** Gives way and goes to the end of its class. */
    void yieldNow() {
        if (cancelRequested || pendingScopes > 0) {
            CancelledError e = takePending(true);
            if (e != null) {
                throw e;
            }
        }
        if (loop.scheduler.isNothingElseReady()) {
            operations = 0;
            deliverPending(true);
            return;
        }
        waitFor(YIELD, null);
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
            if (h.abandon(this, false)) {
                throw Objects.requireNonNull(takePending(true));
            }
            noteRefusal();
        }
        if (deadline != Wait.FOREVER) {
            loop.scheduler.setTimer(this, deadline);
        }
        waitFor(h, wakeAs);
        return reason == BY_DEADLINE ? Wait.Reason.DEADLINE : Wait.Reason.WOKEN;
    }

    private void waitFor(Wait.Hook h, @Nullable Priority wakeAs) {
        hook = h;
        wakeClass = wakeAs;
        reason = NOT_YET;
        ticket++;
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
        h.abandon(this, false);
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
        if (hook == null || reason != NOT_YET || readyIn != ReadyQueues.NONE) { // the last: it yielded, and will run
            return false;
        }
        reason = BY_WAKE;
        loop.scheduler.cancelTimer(this);
        loop.scheduler.ready(this, wakeClass());
        return true;
    }

    void wakeFromAnywhere(long wanted) {
        if (loop.isCurrent()) {
            if (wanted == ticket) {
                wakeIfWaiting();
            }
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
                h.abandon(this, false);
            }
            loop.scheduler.enqueue(this, wakeClass(), due);
        }
    }

    /** Whether the yield in progress still waits to be queued. */
    boolean isYielding() {
        return hook == YIELD && reason == NOT_YET && readyIn == ReadyQueues.NONE;
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
        waitFor(CHECKPOINT, null);
        return true;
    }

    // ---- cancelling

    @Override
    public boolean cancel() {
        if (done()) {
            return false; // C1
        }
        LoopTask<?> canceller = currentOrNull();
        String by =
                canceller != null ? canceller.name() : Thread.currentThread().getName();
        if (loop.isCurrent()) {
            cancelOnLoop(by.isEmpty() ? "a callback" : by);
        } else {
            cancelledFromOutsideBy = by;
            loop.postIfOpen(this, CANCEL);
        }
        return true;
    }

    /** Cancels it, and before that the one it awaits, if nobody else waits for that (C5): innermost first. */
    void cancelOnLoop(String by) {
        LoopTask<?> t = this;
        for (LoopTask<?> inner = t.passesCancelTo(); inner != null; inner = t.passesCancelTo()) {
            t = inner;
        }
        while (t != this) {
            LoopTask<?> waiting =
                    (LoopTask<?>) Objects.requireNonNull(t.awaiters).peek();
            t.requestCancel(by);
            if (waiting == null) { // timers that fell due meanwhile have ended the waits between us
                break;
            }
            t = waiting;
        }
        requestCancel(by);
    }

    /** The task that its cancel goes on to (C5); none while it is shielded. */
    private @Nullable LoopTask<?> passesCancelTo() {
        return shields == 0 ? soleAwaited() : null;
    }

    private void requestCancel(String by) {
        if (done()) {
            return;
        }
        cancelRequested = true;
        cancelledBy = by;
        if (shields == 0) {
            endWait(null);
        }
    }

    /** The task that it awaits, if it alone does. */
    private @Nullable LoopTask<?> soleAwaited() {
        LoopTask<?> a = awaiting;
        return a != null
                        && reason == NOT_YET
                        && !awaitShielded
                        && a.awaiters != null
                        && a.awaiters.size() == 1
                        && a.outsiders == 0
                        && a.visitors == null
                        && (a.joiner == null || a.joiner.parent() == this)
                ? a
                : null;
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

    /** A cancel has come, from {@code struck} or, if null, from {@link #cancel()}: ends the wait, if it is in one. */
    private void endWait(@Nullable Scope struck) {
        Wait.Hook h = hook;
        if (h == null) {
            if (readyIn == ReadyQueues.LOW) { // before its first step, or after a JDK call
                loop.scheduler.requeue(this, ReadyQueues.NORMAL);
            } else if (phase == BLOCKED && readyIn == ReadyQueues.NONE) {
                loop.interruptLater(this);
            }
        } else if (reason == NOT_YET) {
            if (h.abandon(this, false)) {
                reason = BY_CANCEL;
                if (readyIn == ReadyQueues.NONE) {
                    loop.scheduler.cancelTimer(this);
                    loop.scheduler.ready(this, cancelClass());
                } else if (readyIn == ReadyQueues.LOW) {
                    loop.scheduler.requeue(this, ReadyQueues.NORMAL); // a yielding LOW task
                }
            } else if (struck != null) {
                struck.refused = true;
            }
        } else if (reason != BY_CANCEL && (struck == null || struck.atOnce())) { // C6: woken, but not yet running
            if (reason == BY_DEADLINE || h.abandon(this, true)) {
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

    private boolean isPending(boolean suspends) {
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
        CancelledError e = new CancelledError(s.describe(), s);
        for (Scope i = scope; i != s && i != null; i = i.outer) {
            i.passed = e;
        }
        return e;
    }

    private CancelledError takeCancel() {
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
            hook.classChanged(this, before);
        }
    }

    Priority effectivePriority() {
        return lentUrgent > 0
                ? Priority.URGENT
                : lentNormal > 0 && priority == Priority.LOW ? Priority.NORMAL : priority;
    }

    // ---- results

    @Override
    public T await() throws Exception {
        return await(false);
    }

    /** Waits for its end; {@code shielded}: a cancel of the waiting one does not pass on to it (C5). */
    T await(boolean shielded) throws Exception {
        LoopTask<?> me = current();
        me.begin();
        if (!done()) {
            if (me.loop != loop) {
                visit(me, shielded, Wait.FOREVER);
            } else {
                refuseCircle(me);
                if (awaiters == null) {
                    awaiters = new WaitList();
                }
                awaiters.add(me);
                me.awaiting = this;
                me.awaitShielded = shielded;
                try {
                    me.suspend(this, null, Wait.FOREVER);
                } finally {
                    me.awaiting = null;
                }
            }
        }
        if (state == FAILED) {
            me.failedLike = this;
        }
        return valueOrThrow();
    }

    /** Waits from another loop. */
    private Wait.Reason visit(LoopTask<?> me, boolean shielded, long deadline) {
        Visitor visitor = new Visitor(this, me, me.ticket + 1);
        visitor.join();
        return me.suspend(
                (task, woken) -> {
                    if (!woken) {
                        visitor.leave(!shielded && me.reason == NOT_YET);
                    }
                    return true;
                },
                null,
                deadline);
    }

    /** On this loop: a task of another one awaits this task. */
    void visited(Visitor v) {
        if (done()) {
            v.wake();
            return;
        }
        v.next = visitors;
        if (visitors != null) {
            visitors.previous = v;
        }
        visitors = v;
        v.listed = true;
    }

    /** It does not any more. */
    void left(Visitor v, boolean passCancel) {
        if (!v.listed) {
            return;
        }
        v.listed = false;
        if (v.previous == null) {
            visitors = v.next;
        } else {
            v.previous.next = v.next;
        }
        if (v.next != null) {
            v.next.previous = v.previous;
        }
        if (passCancel
                && visitors == null
                && (awaiters == null || awaiters.isEmpty())
                && outsiders == 0
                && joiner == null) {
            cancelOnLoop(v.waiter.name()); // C5
        }
    }

    /** A task that awaited this one does not any more. */
    @Override
    public boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            Objects.requireNonNull(awaiters).remove(task);
        } else {
            reportSoon(); // it will not take what it was woken for
        }
        return true;
    }

    /** How many tasks of its own loop await it. */
    int waiterCount() {
        return awaiters == null ? 0 : awaiters.size();
    }

    private void refuseCircle(LoopTask<?> me) {
        for (LoopTask<?> t = this; t != null; t = t.awaiting) {
            if (t == me) {
                StringBuilder circle = new StringBuilder("tasks await each other: ").append(me.name());
                for (LoopTask<?> c = this; c != null && c != me; c = c.awaiting) {
                    circle.append(" -> ").append(c.name());
                }
                throw new IllegalStateException(
                        circle.append(" -> ").append(me.name()).toString()); // S12
            }
        }
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // T says whether null is a value
    T valueOrThrow() throws Exception {
        switch (state) {
            case SUCCEEDED -> {
                return (T) result;
            }
            case FAILED -> {
                retrievals++;
                throw sneaky((Throwable) Objects.requireNonNull(result));
            }
            case CANCELLED -> {
                CancelledError e = (CancelledError) Objects.requireNonNull(result);
                CancelledError mine =
                        new CancelledError(e.getMessage() == null ? name() + " was cancelled" : e.getMessage(), null);
                mine.initCause(e);
                throw mine;
            }
            default -> throw new IllegalStateException(name() + " has not ended");
        }
    }

    /** What it failed with; null if it did not. */
    @Nullable
    Throwable failureOrNull() {
        return state == FAILED ? (Throwable) result : null;
    }

    /** How it ended. */
    Outcome<T> outcome() {
        return switch (state) {
            case SUCCEEDED -> new Outcome.Success<>(resultNow());
            case FAILED -> {
                retrievals++;
                Throwable e = (Throwable) Objects.requireNonNull(result);
                yield new Outcome.Failure<>(e instanceof Exception x ? x : new ExecutionException(e));
            }
            case CANCELLED -> new Outcome.Cancelled<>();
            default -> throw new IllegalStateException(name() + " has not ended");
        };
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        try {
            return get(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long nanos = unit.toNanos(timeout);
        LoopTask<?> me = currentOrNull();
        if (!done()) {
            if (me != null) {
                awaitAnyEnd(nanos);
            } else if (Thread.currentThread() == loop.carrier()) {
                throw new IllegalStateException("the loop thread cannot wait for " + name());
            } else {
                awaitOutside(nanos);
            }
        }
        return getNow();
    }

    /**
     * For {@code get} in a thread that is no task. Who leaves before the end is not counted any more, and then looks
     * again: the end has either seen it leave (G3, C5), or is seen.
     */
    private void awaitOutside(long nanos) throws InterruptedException, TimeoutException {
        CountDownLatch gate = latch;
        if (gate == null) {
            LATCH.compareAndSet(this, null, new CountDownLatch(1));
            gate = Objects.requireNonNull(latch);
        }
        OUTSIDERS.incrementAndGet(this);
        if (done()) {
            return;
        }
        InterruptedException interruption = null;
        try {
            if (gate.await(nanos, TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            interruption = e;
        }
        OUTSIDERS.decrementAndGet(this);
        if (!done()) {
            if (interruption != null) {
                throw interruption;
            }
            throw new TimeoutException(name() + " did not end within " + nanos + " ns");
        }
        if (interruption != null) {
            Thread.currentThread().interrupt();
        }
    }

    /** For {@code get} in a task: waits for the end, whatever it is; a timeout leaves this task alone. */
    private void awaitAnyEnd(long nanos) throws TimeoutException {
        LoopTask<?> me = current();
        me.begin();
        refuseCircle(me);
        long deadline = LoopClock.saturatedSum(me.loop.time(), Math.max(0, nanos));
        Wait.Reason why;
        if (me.loop != loop) {
            why = visit(me, false, deadline);
        } else {
            if (awaiters == null) {
                awaiters = new WaitList();
            }
            awaiters.add(me);
            me.awaiting = this;
            me.awaitShielded = false;
            try {
                why = me.suspend(this, null, deadline);
            } finally {
                me.awaiting = null;
            }
        }
        if (why == Wait.Reason.DEADLINE && !done()) {
            throw new TimeoutException(name() + " did not end within " + nanos + " ns");
        }
    }

    private T getNow() throws ExecutionException {
        switch (state) {
            case FAILED -> {
                retrievals++;
                throw new ExecutionException((Throwable) Objects.requireNonNull(result));
            }
            case CANCELLED -> {
                CancellationException e = new CancellationException(name() + " was cancelled");
                e.initCause((Throwable) result);
                throw e;
            }
            default -> {
                return resultNow();
            }
        }
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // T says whether null is a value
    public T resultNow() {
        if (state != SUCCEEDED) {
            throw new IllegalStateException(name() + " has no value");
        }
        return (T) result;
    }

    @Override
    public Throwable exceptionNow() {
        if (state != FAILED) {
            throw new IllegalStateException(name() + " has not failed");
        }
        retrievals++;
        return (Throwable) Objects.requireNonNull(result);
    }

    @Override
    public State state() {
        return switch (state) {
            case SUCCEEDED -> State.SUCCESS;
            case FAILED -> State.FAILED;
            case CANCELLED -> State.CANCELLED;
            default -> State.RUNNING;
        };
    }

    @Override
    public @Nullable Throwable exception() {
        return switch (state) {
            case SUCCEEDED -> null;
            case FAILED -> exceptionNow();
            case CANCELLED -> throw (CancelledError) Objects.requireNonNull(result);
            default -> throw new IllegalStateException(name() + " has not ended");
        };
    }

    @Override
    public boolean done() {
        return state != PENDING;
    }

    @Override
    public boolean cancelled() {
        return state == CANCELLED;
    }

    @Override
    public String name() {
        return name != null ? name : "task-" + thread.threadId();
    }

    @Override
    public Priority priority() {
        return priority;
    }

    @Override
    public void addDoneCallback(Consumer<? super Task<T>> callback) {
        Objects.requireNonNull(callback, "callback");
        if (!loop.isCurrent()) {
            loop.callSoon(() -> addDoneCallback(callback));
        } else if (done()) {
            loop.callSoon(() -> callback.accept(this));
        } else {
            if (doneCallbacks == null) {
                doneCallbacks = new ArrayList<>(1);
            }
            doneCallbacks.add(callback);
        }
    }

    @Override
    public void removeDoneCallback(Consumer<? super Task<T>> callback) {
        if (!loop.isCurrent()) {
            loop.callSoon(() -> removeDoneCallback(callback));
        } else if (doneCallbacks != null) {
            doneCallbacks.remove(callback);
        }
    }

    int doneCallbackCount() {
        return doneCallbacks == null ? 0 : doneCallbacks.size();
    }

    /** Ends it without its thread, which will never run again: at the end of the loop. */
    void abandonAtClose() {
        if (!done()) {
            ended(CANCELLED, new CancelledError(name() + " was abandoned at the end of the event loop", null));
        }
    }

    /** What it is doing, for warnings and trees. */
    String doing() {
        return switch (phase) {
            case NEW -> "not started";
            case RUNNING, LEAVING, RESUMING -> "running";
            case BLOCKED -> "in a blocking JDK call";
            case ENDED -> "ended";
            default ->
                awaiting != null
                        ? "awaiting " + awaiting.name()
                        : readyIn != ReadyQueues.NONE ? "ready" : hook == SLEEP ? "sleeping" : "waiting";
        };
    }

    @Override
    public String toString() {
        return "Task[" + name() + ", " + (done() ? state().toString().toLowerCase(java.util.Locale.ROOT) : doing())
                + "]";
    }

    /** Lets a throwable pass whatever its type: an awaiting task gets the very one (C, G). */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException sneaky(Throwable e) throws E {
        throw (E) e;
    }
}
