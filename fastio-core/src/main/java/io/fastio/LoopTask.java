package io.fastio;

import io.fastio.carrier.Carrier;
import io.fastio.time.LoopClock;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The task: a body, its result, and those who wait for that. How it waits itself, and how its waits end, is {@link
 * Suspendable}.
 *
 * <p>All fields belong to the loop, but for {@link #state} with {@link #result}, {@link #latch} and {@link #outsiders}.
 */
final class LoopTask<T extends @Nullable Object> extends Suspendable implements Task<T>, Wait.Hook {
    private static final int CANCEL = 2;
    private static final int START = 8;

    private static final int PENDING = 0;
    private static final int SUCCEEDED = 1;
    private static final int FAILED = 2;
    private static final int CANCELLED = 3;

    private static final AtomicReferenceFieldUpdater<LoopTask<?>, @Nullable CountDownLatch> LATCH = latchUpdater();
    private static final AtomicIntegerFieldUpdater<LoopTask<?>> OUTSIDERS = outsidersUpdater();

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static AtomicReferenceFieldUpdater<LoopTask<?>, @Nullable CountDownLatch> latchUpdater() {
        return (AtomicReferenceFieldUpdater)
                AtomicReferenceFieldUpdater.newUpdater(LoopTask.class, CountDownLatch.class, "latch");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static AtomicIntegerFieldUpdater<LoopTask<?>> outsidersUpdater() {
        return (AtomicIntegerFieldUpdater) AtomicIntegerFieldUpdater.newUpdater(LoopTask.class, "outsiders");
    }

    private final @Nullable String name;
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
    private byte tracedAwaiters;
    private boolean reported;

    // The tasks of the loop, and whoever joins it.
    @Nullable
    LoopTask<?> previousTask;

    @Nullable
    LoopTask<?> nextTask;

    boolean listed;

    @Nullable
    Joiner joiner;

    // Awaiting one another.
    private @Nullable WaitList awaiters;
    private @Nullable Visitor visitors;
    // The first two are read by other loops too, as they are: see Circle.
    private @Nullable LoopTask<?> awaiting;
    private long awaits;
    private boolean awaitShielded;

    /** Why the await in progress closes a circle; null: it does not. */
    private @Nullable String circle;

    /** The group or gather for whose children it waits at present. */
    @Nullable
    Joiner joinsNow;

    private volatile @Nullable String cancelledFromOutsideBy;

    LoopTask(EventLoop loop, TaskOptions options, Callable<T> body) {
        super(loop, options.name(), options.priority());
        this.name = options.name();
        this.deadlineNanos = options.deadline() == null ? 0 : Math.max(1, EventLoop.nanos(options.deadline()));
        this.body = Objects.requireNonNull(body, "body");
    }

    // ---- the current task

    static LoopTask<?> current() {
        LoopTask<?> task = currentOrNull();
        if (task == null) {
            throw noTask("waits need a task of their own");
        }
        return task;
    }

    /** For {@code what}, which does not wait. */
    static LoopTask<?> current(String what) {
        LoopTask<?> task = currentOrNull();
        if (task == null) {
            throw noTask(what + " is for tasks");
        }
        return task;
    }

    private static IllegalStateException noTask(String why) {
        return new IllegalStateException(
                EventLoop.currentOrNull() == null
                        ? "no running event loop: this must be called from a task (Asyncio.run starts the first one)"
                        : "no running task: " + why + "; a callback, or a thread of a library, is none");
    }

    static @Nullable LoopTask<?> currentOrNull() {
        Thread thread = Thread.currentThread();
        return Carrier.schedulerOf(thread) instanceof LoopTask<?> task && task.thread == thread ? task : null;
    }

    /** Loads what a first task needs. */
    static void prepare() {
        var _ = OUTSIDERS;
    }

    /** The name of the calling task or thread, for people. */
    static String nameOfCaller() {
        LoopTask<?> task = currentOrNull();
        if (task != null) {
            return task.name();
        }
        Thread thread = Thread.currentThread();
        return !thread.getName().isEmpty() && !(Carrier.schedulerOf(thread) instanceof Runner)
                ? thread.getName()
                : thread.isVirtual() ? "a callback" : "thread " + thread.threadId();
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
            cancelBeforeFirstStep("the end of the event loop");
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
        if ((signals & WAKE) != 0) {
            deliverWake();
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
    public void run() {
        Callable<T> b = Objects.requireNonNull(body);
        body = null;
        int end;
        Object value;
        if (isCancelRequested() && !(b instanceof ThreadBody t && !t.cancelled())) { // C3: before its first run
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
                if (isInterruptedByCancel() && e instanceof Exception) { // C2: what the ended JDK call threw
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
        leaveAllScopes();
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

    // ---- cancelling

    @Override
    public boolean cancel() {
        if (done()) {
            return false; // C1
        }
        String by = nameOfCaller();
        if (loop.isCurrent()) {
            cancelOnLoop(by);
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
        return isShielded() ? null : soleAwaited();
    }

    /** The task that it awaits, if it alone does. */
    @Override
    @Nullable
    LoopTask<?> soleAwaited() {
        LoopTask<?> a = awaiting;
        return a != null
                        && a.loop == loop
                        && isWaitOpen()
                        && !awaitShielded
                        && a.awaiters != null
                        && a.awaiters.size() == 1
                        && a.outsiders == 0
                        && a.visitors == null
                        && (a.joiner == null || a.joiner.parent() == this)
                ? a
                : null;
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
            me.suspendFor(this, shielded, Wait.FOREVER);
        }
        if (state == FAILED) {
            me.failedLike = this;
        }
        return valueOrThrow();
    }

    /** Waits from another loop. */
    private Wait.Reason visit(LoopTask<?> me, boolean shielded, long deadline) {
        Visitor visitor = new Visitor(this, me, me.nextTicket());
        visitor.join();
        return me.suspend(
                (task, woken) -> {
                    if (!woken) {
                        visitor.leave(!shielded && me.isWaitOpen());
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

    @Nullable
    WaitList awaiters() {
        return awaiters;
    }

    /** The task that it awaits, unless something has ended that wait already. Any loop, see {@link Circle}. */
    @Nullable
    LoopTask<?> awaited() {
        return isWaitOpen() ? awaiting : null;
    }

    /** The number of its latest await. Any loop. */
    long awaits() {
        return awaits;
    }

    /** The group or gather that waits for its end at present. */
    @Nullable
    Joiner joinerNow() {
        Joiner j = joiner;
        return j != null && j.parent().joinsNow == j ? j : null;
    }

    /** Waits for the children of {@code group}; {@code hook} is told of cancels. */
    void join(Joiner group, Wait.Hook hook) {
        Circle.breakBefore(this, group); // S12
        joinsNow = group;
        try {
            suspend(hook, null, Wait.FOREVER);
        } finally {
            joinsNow = null;
        }
    }

    /** S12: what it awaits waits for it; its await ends with that error. */
    void endAwait(String why) {
        Objects.requireNonNull(Objects.requireNonNull(awaiting).awaiters).remove(this);
        circle = why;
        wakeIfWaiting();
    }

    /** Waits for the end of {@code t}, a task of the same loop, or of another one. */
    private Wait.Reason suspendFor(LoopTask<?> t, boolean shielded, long deadline) {
        openWait();
        awaits++;
        VarHandle.releaseFence(); // whoever sees the task sees that it is another await
        awaiting = t;
        awaitShielded = shielded;
        Wait.Reason why;
        String closed;
        try {
            Circle.refuse(this, t);
            if (t.loop != loop) {
                return t.visit(this, shielded, deadline);
            }
            if (t.awaiters == null) {
                t.awaiters = new WaitList();
            }
            t.awaiters.add(this);
            why = suspend(t, null, deadline);
        } finally {
            awaiting = null;
            closed = circle;
            circle = null;
        }
        if (closed != null) {
            throw new IllegalStateException(closed);
        }
        return why;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // T says whether null is a value
    T valueOrThrow() throws Exception {
        switch (state) {
            case SUCCEEDED -> {
                return (T) result;
            }
            case FAILED -> {
                retrievals++;
                throw sneaky(failureForAwaiting());
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

    /** What it failed with, with the stack of the calling task or thread, which has awaited it. */
    private Throwable failureForAwaiting() {
        Throwable e = (Throwable) Objects.requireNonNull(result);
        if (tracedAwaiters < AwaitTrace.MOST_AWAITERS && !(e instanceof VirtualMachineError)) {
            tracedAwaiters++; // two loops may race here: then one more is shown, or one less
            LoopTask<?> me = currentOrNull();
            AwaitTrace.add(
                    e,
                    me != null ? me.name() : "thread " + Thread.currentThread().getName());
        }
        return e;
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
        Objects.requireNonNull(unit, "unit");
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
        Wait.Reason why = me.suspendFor(this, false, LoopClock.saturatedSum(me.loop.time(), Math.max(0, nanos)));
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
        return ownPriority();
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
        Objects.requireNonNull(callback, "callback");
        if (!loop.isCurrent()) {
            loop.callSoon(() -> removeDoneCallback(callback));
        } else if (doneCallbacks != null) {
            doneCallbacks.remove(callback);
        }
    }

    int doneCallbackCount() {
        return doneCallbacks == null ? 0 : doneCallbacks.size();
    }

    /**
     * At the end of the loop: one that has not begun has its thread run to its end, without its body (S13); any other ends
     * without its thread, which will never run again.
     */
    void abandonAtClose() {
        if (phase == NEW && !done()) {
            if (readyIn != ReadyQueues.NONE) {
                loop.scheduler.unready(this);
            }
            cancelBeforeFirstStep("the end of the event loop");
            runStep();
        }
        if (!done()) {
            ended(CANCELLED, new CancelledError(name() + " was abandoned at the end of the event loop", null));
        }
    }

    /** S13: a thread of a factory that is started too late has a defined end, and whoever starts it is told. */
    @Override
    void loopIsClosed() {
        if (body instanceof ThreadBody b && !done()) {
            b.cancelled();
            ended(CANCELLED, new CancelledError(name() + " was started after the event loop was closed", null));
            throw new RejectedExecutionException("event loop is closed");
        }
    }

    /** What it is doing, for warnings and trees. */
    String doing() {
        return switch (phase) {
            case NEW -> "not started";
            case RUNNING, LEAVING, RESUMING -> "running";
            case BLOCKED -> "in a blocking JDK call";
            case ENDED -> "ended";
            default -> awaiting != null ? "awaiting " + awaiting.name() : waitingFor();
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
