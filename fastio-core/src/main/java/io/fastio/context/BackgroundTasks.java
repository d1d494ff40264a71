package io.fastio.context;

import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.LoopError;
import io.fastio.Signal;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Chores that run between the steps of a loop and at {@linkplain io.fastio.Asyncio#checkpoint checkpoints}: once a tick, or
 * as soon as somebody asks (B1 to B4; CircuitPython's background tasks). They run one at a time, as callbacks: short, and
 * without fastio's waits. A loop has one set of them.
 *
 * <p>All methods are for any thread; none waits.
 */
public final class BackgroundTasks {
    /** When a background task runs. */
    public enum When {
        /** Once a tick of the loop ({@link EventLoop#tick()}), however many ticks passed; and when asked for. */
        EVERY_TICK,
        /** Only when asked for. */
        ON_REQUEST
    }

    /** Ticks without a finished batch after which {@link #ok()} is false. */
    private static final int STALE_TICKS = 1024;

    /** A background task of a loop. All methods are for any thread. */
    public static final class Registration implements AutoCloseable {
        private final BackgroundTasks home;
        private final Runnable task;
        private final boolean everyTick;
        private final Signal request;
        private volatile boolean removed;

        /** It is in a batch and has not begun. Loop only. */
        private boolean queued;

        private Registration(BackgroundTasks home, EventLoop loop, Runnable task, boolean everyTick) {
            this.home = home;
            this.task = task;
            this.everyTick = everyTick;
            this.request = new Signal(loop) {
                @Override
                protected void act() {
                    home.asked(Registration.this);
                }
            };
        }

        /** Asks for it; see {@link BackgroundTasks#requestSoon}. */
        public void requestSoon() {
            home.requestSoon(this);
        }

        /** Takes it out: it does not begin any more, asked for or not. Idempotent. */
        @Override
        public void close() {
            home.remove(this);
        }

        @Override
        public String toString() {
            return "Registration[" + task + (everyTick ? ", every tick" : ", on request") + (removed ? ", removed" : "")
                    + "]";
        }
    }

    private final EventLoop loop;
    private final Handle batch;
    private final Signal tick;
    private final Signal allowed;
    private final CopyOnWriteArrayList<Registration> everyTick = new CopyOnWriteArrayList<>();
    private final AtomicInteger prevented = new AtomicInteger();
    private final Object tickLock = new Object();
    private volatile int tickDisabled;
    private volatile long lastFinished;

    // The loop's.
    private boolean tickDue;
    private boolean running;
    private ArrayDeque<Registration> asked = new ArrayDeque<>();
    private ArrayDeque<Registration> current = new ArrayDeque<>();

    private BackgroundTasks(EventLoop loop) {
        this.loop = loop;
        this.batch = loop.betweenSteps(this::runBatch);
        this.tick = new Signal(loop) {
            @Override
            protected void act() {
                tickDue = true;
                schedule();
            }
        };
        this.allowed = new Signal(loop) {
            @Override
            protected void act() {
                schedule();
            }
        };
        this.lastFinished = loop.time();
        loop.onClose(this::runLast);
    }

    /** The background tasks of {@code loop}. */
    public static BackgroundTasks of(EventLoop loop) {
        Objects.requireNonNull(loop, "loop");
        return loop.attachment(BackgroundTasks.class, BackgroundTasks::new);
    }

    /**
     * Adds {@code task}. What it throws is reported, and disables nothing (B3).
     *
     * @throws IllegalStateException if the loop is closed
     */
    public Registration add(Runnable task, When when) {
        Objects.requireNonNull(task, "task");
        boolean ticks = Objects.requireNonNull(when, "when") == When.EVERY_TICK;
        if (loop.isClosed()) {
            throw new IllegalStateException("event loop is closed");
        }
        Registration r = new Registration(this, loop, task, ticks);
        if (ticks) {
            synchronized (tickLock) {
                everyTick.add(r);
                settleTick();
            }
        }
        return r;
    }

    private void remove(Registration r) {
        synchronized (tickLock) {
            r.removed = true;
            if (everyTick.remove(r)) {
                settleTick();
            }
        }
    }

    /**
     * Has {@code r} run before the next step of the loop, or at the next checkpoint, without waiting for a tick; an idle loop
     * is woken. Once however often it is asked for before it begins; asked for afterwards, once more in the next batch (B2).
     *
     * @return false if it was removed, or the loop is closed
     */
    public boolean requestSoon(Registration r) {
        Objects.requireNonNull(r, "r");
        if (r.home != this) {
            throw new IllegalArgumentException(r + " belongs to another loop");
        }
        return !r.removed && r.request.raise();
    }

    /** Nothing begins until {@link #allow}; what is asked for and what falls due meanwhile is kept. Nests (B3). */
    public void prevent() {
        prevented.getAndIncrement();
    }

    /**
     * Ends one {@link #prevent}.
     *
     * @throws IllegalStateException if there is none
     */
    public void allow() {
        int left = prevented.decrementAndGet();
        if (left < 0) {
            prevented.getAndIncrement();
            throw new IllegalStateException("allow() without prevent()");
        }
        if (left == 0) {
            allowed.raise();
        }
    }

    /** Ends one {@link #disableTick}; without one it does nothing. */
    public void enableTick() {
        synchronized (tickLock) {
            tickDisabled = Math.max(0, tickDisabled - 1);
            settleTick();
        }
    }

    /** Stops the tick: every-tick tasks run only on request until {@link #enableTick}. Counted (B1). */
    public void disableTick() {
        synchronized (tickLock) {
            tickDisabled++;
            settleTick();
        }
    }

    /** The source of ticks runs only while somebody needs it. */
    private void settleTick() {
        boolean on = tickDisabled == 0 && !everyTick.isEmpty();
        if (on) {
            lastFinished = loop.time();
        }
        tick.everyTick(on);
    }

    /** Whether the every-tick tasks keep up: a batch has ended in the last 1,024 ticks, or none was due. */
    public boolean ok() {
        synchronized (tickLock) {
            return tickDisabled > 0
                    || everyTick.isEmpty()
                    || loop.time() - lastFinished < STALE_TICKS * loop.tick().toNanos();
        }
    }

    // ---- on the loop

    private void asked(Registration r) {
        if (!r.queued) {
            r.queued = true;
            asked.add(r);
            schedule();
        }
    }

    private void schedule() {
        if (!running && prevented.get() == 0 && !loop.isClosed() && !batch.scheduled()) {
            batch.callSoon();
        }
    }

    private boolean isDue() {
        return tickDue || !asked.isEmpty() || !current.isEmpty();
    }

    private void runBatch() {
        if (running || prevented.get() > 0) {
            return; // B3; its end, or allow(), brings it up again
        }
        running = true;
        try {
            if (current.isEmpty()) {
                gather();
            }
            for (Registration r; prevented.get() == 0 && (r = current.poll()) != null; ) {
                r.queued = false; // asked for from here on, it is for the next batch
                run(r);
            }
        } finally {
            running = false;
        }
        lastFinished = loop.time();
        if (isDue()) {
            schedule();
        }
    }

    /** What was accepted before the loop was closed runs (S13), the rest of a batch that {@link #prevent} held up first. */
    private void runLast() {
        for (Registration r; (r = current.isEmpty() ? asked.poll() : current.poll()) != null; ) {
            r.queued = false;
            run(r);
        }
    }

    /** Makes a batch of what was asked for, in that order, and then of what is due at a tick. */
    private void gather() {
        ArrayDeque<Registration> empty = current;
        current = asked;
        asked = empty;
        if (tickDue) {
            tickDue = false;
            if (tickDisabled > 0) {
                return;
            }
            for (Registration r : everyTick) {
                if (!r.queued) {
                    r.queued = true;
                    current.add(r);
                }
            }
        }
    }

    private void run(Registration r) {
        if (r.removed) {
            return;
        }
        try {
            r.task.run();
        } catch (Throwable e) {
            loop.report(new LoopError("background task " + r.task + " threw " + e, e, null));
        }
    }

    @Override
    public String toString() {
        return "BackgroundTasks[" + loop.name() + ", " + everyTick.size() + " every tick, " + prevented + " prevented]";
    }
}
