package io.fastio;

import io.fastio.time.LoopClock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;

/**
 * A callback of a loop: scheduled, cancelled and scheduled anew as often as wanted, without allocating. Runs on the loop,
 * in the one order of tasks and callbacks (S2); a callback may block by the JDK's means, but has no task and cannot use
 * fastio's waits. Answers to asyncio's {@code Handle} and {@code TimerHandle}.
 *
 * <p>Every method is for any thread; none waits. A handle is scheduled at most once at a time: scheduling it anew
 * replaces the moment it was to run at.
 */
public final class Handle extends Entry {
    private static final int ASKED = 1;
    private static final long SOON = -1;
    private static final long CANCEL = -2;
    private static final long NOTHING = -3;
    private static final VarHandle ASKED_LAST;

    static {
        try {
            ASKED_LAST = MethodHandles.lookup().findVarHandle(Handle.class, "asked", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop loop;
    private final Runnable callback;
    private final byte readyClass;

    /** What was last asked for from outside the loop and is still in the inbox: when to run, SOON, or CANCEL. */
    private volatile long asked = NOTHING;

    Handle(EventLoop loop, Runnable callback, Priority priority) {
        this(loop, callback, (byte) priority.ordinal());
    }

    Handle(EventLoop loop, Runnable callback, byte readyClass) {
        this.loop = loop;
        this.callback = Objects.requireNonNull(callback, "callback");
        this.readyClass = readyClass;
    }

    /** Has the callback called once, as soon as all that is ready before it has run. */
    public void callSoon() {
        schedule(SOON);
    }

    /**
     * Has the callback called once, {@code d} from now.
     *
     * @param d zero or negative: at once; what overflows: never
     */
    public void callLater(Duration d) {
        callLaterNanos(LoopClock.saturatedNanos(d));
    }

    /** {@link #callLater(Duration)} in nanoseconds. */
    public void callLaterNanos(long nanos) {
        schedule(nanos <= 0 ? SOON : LoopClock.saturatedSum(loop.readClock(), nanos));
    }

    /** Has the callback called once at that moment of {@link EventLoop#time()}; the past is at once. */
    public void callAt(long loopNanos) {
        schedule(Math.max(0, loopNanos));
    }

    /**
     * Takes it off the schedule. Cancelled from another thread, a callback that is about to begin may still run.
     *
     * @return whether it was scheduled; from another thread, whether it may have been
     */
    public boolean cancel() {
        if (loop.isCurrent()) {
            boolean wasAsked = overrule() >= SOON;
            return unschedule() || wasAsked;
        }
        asked = CANCEL;
        return loop.postIfOpen(this, ASKED);
    }

    /** Whether it is scheduled and has not begun; what is due never ({@link Long#MAX_VALUE}) is not. On the loop exact, from another thread as last seen. */
    public boolean scheduled() {
        return slot >= 0 || readyIn != ReadyQueues.NONE;
    }

    boolean isUrgent() {
        return readyClass == ReadyQueues.URGENT;
    }

    private void schedule(long when) {
        if (loop.isCurrent()) {
            loop.requireOpen();
            overrule();
            arrange(when);
        } else {
            asked = when;
            loop.post(this, ASKED);
        }
    }

    /** What the loop itself says now is the latest word: takes what is still in the inbox off. */
    private long overrule() {
        return asked == NOTHING ? NOTHING : (long) ASKED_LAST.getAndSet(this, NOTHING);
    }

    private void arrange(long when) {
        unschedule();
        if (when == SOON) {
            loop.scheduler.ready(this, readyClass);
        } else if (when != Long.MAX_VALUE) {
            loop.scheduler.setTimer(this, when);
        }
    }

    private boolean unschedule() {
        if (readyIn != ReadyQueues.NONE) {
            loop.scheduler.unready(this);
            return true;
        }
        if (slot >= 0) {
            loop.scheduler.cancelTimer(this);
            return true;
        }
        return false;
    }

    @Override
    void deliver(int signals) {
        long when = overrule();
        if (when == CANCEL) {
            unschedule();
        } else if (when != NOTHING) {
            arrange(when);
        }
    }

    @Override
    void timeReached() {
        loop.scheduler.enqueue(this, readyClass, due);
    }

    @Override
    void runStep() {
        loop.runners.run(this);
    }

    /** Calls the callback; on a runner. */
    void call() {
        try {
            callback.run();
        } catch (Throwable e) {
            loop.report(new LoopError("callback " + callback + " threw " + e, e, null));
        }
    }
}
