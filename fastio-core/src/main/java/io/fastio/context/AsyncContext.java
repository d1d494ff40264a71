package io.fastio.context;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.LoopError;
import io.fastio.Priority;
import io.fastio.Signal;
import io.fastio.Wait;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Work that drivers, interrupt handlers and other threads hand to one place where it never runs at the same time (W3):
 * pico-sdk's {@code async_context}. There are three ways to drive it, and the rules are the same for all:
 *
 * <table>
 *   <caption>Ways to drive a context</caption>
 *   <tr><td>{@link #onOwnThread}</td><td>a loop on a daemon thread of its own</td></tr>
 *   <tr><td>{@link #polled}</td><td>a loop that a host drives by {@link #poll}</td></tr>
 *   <tr><td>{@link #on}</td><td>inside a loop that runs anyway</td></tr>
 * </table>
 *
 * <p>Workers run one at a time, each as a callback of the loop, while nobody holds {@linkplain #acquireLock the lock}. A
 * pass serves what was there when it began: calls of {@link #executeSync}, due {@link AtTimeWorker}s, earliest first and
 * equal times in the order of adding, then pending {@link WhenPendingWorker}s in the order of adding. What is added or
 * marked meanwhile is for the next pass, so no worker that re-adds itself keeps the others from their turn. Between two
 * workers the loop serves whatever is more urgent.
 *
 * <p>All methods are for any thread unless stated otherwise. Those that wait give the loop away when a task calls them and
 * block any other thread.
 */
public final class AsyncContext implements AutoCloseable {
    private enum Drive {
        OWN_THREAD,
        HOST,
        LOOP
    }

    private enum Phase {
        /** Between passes. */
        NONE,
        CALLS,
        AT_TIME,
        PENDING
    }

    private final EventLoop loop;
    private final Drive drive;
    private final ContextLock lock;
    private final ConcurrentSkipListMap<AtTimeWorker.Place, AtTimeWorker> atTime = new ConcurrentSkipListMap<>();
    private final ConcurrentSkipListMap<Long, WhenPendingWorker.Place> whenPending = new ConcurrentSkipListMap<>();
    private final ConcurrentLinkedQueue<SyncCall<?>> calls = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Waiter> watchers = new ConcurrentLinkedQueue<>();
    private final AtomicLong order = new AtomicLong();
    private final AtomicLong workEpoch = new AtomicLong();
    private final Signal poke;
    private final Handle serve;
    private final Handle alarm;
    private final Runnable atLoopsEnd = this::end;

    /** A worker has been marked since the pass in progress looked for marks. */
    private volatile boolean marked;

    /** Work was due while somebody had the lock; its release brings it up again. */
    private volatile boolean skipped;

    private volatile boolean closed;

    /** The thread that polls; null before the first poll. */
    private volatile @Nullable Thread host;

    // The pass in progress; whoever holds the lock on the loop.
    private volatile Phase phase = Phase.NONE;
    private long passTime;
    private long passOrder;
    private long lastPending;

    /** A worker runs, under one level of the lock that is not its own to release. The lock owner's. */
    private boolean working;

    private AsyncContext(EventLoop loop, Drive drive, Priority priority) {
        this.loop = Objects.requireNonNull(loop, "loop");
        this.drive = drive;
        this.lock = new ContextLock(loop);
        this.serve = loop.handle(priority, this::serve);
        this.alarm = loop.handle(priority, this::serve);
        this.poke = new Signal(loop) {
            @Override
            protected void act() {
                arrange();
            }
        };
        loop.onClose(atLoopsEnd);
    }

    /**
     * A context whose loop runs on a daemon thread of its own ({@code async_context_freertos}). Closing it closes the loop.
     *
     * @param name of the thread
     */
    public static AsyncContext onOwnThread(String name) {
        return onOwnThread(EventLoop.builder().name(name));
    }

    /** {@link #onOwnThread(String)} with settings of the loop. */
    public static AsyncContext onOwnThread(EventLoop.Builder settings) {
        Objects.requireNonNull(settings, "settings");
        EventLoop loop = settings.build();
        AsyncContext context = new AsyncContext(loop, Drive.OWN_THREAD, Priority.NORMAL);
        loop.start();
        return context;
    }

    /**
     * A context that runs only while a host thread calls {@link #poll} ({@code async_context_poll}). Closing it closes its
     * loop.
     */
    public static AsyncContext polled() {
        return polled(EventLoop.builder().name("fastio-polled"));
    }

    /** {@link #polled()} with settings of the loop. */
    public static AsyncContext polled(EventLoop.Builder settings) {
        Objects.requireNonNull(settings, "settings");
        return new AsyncContext(settings.build(), Drive.HOST, Priority.NORMAL);
    }

    /** A context inside a loop that is driven anyway. Closing it leaves the loop alone; closing the loop closes it. */
    public static AsyncContext on(EventLoop loop) {
        return on(loop, Priority.NORMAL);
    }

    /** {@link #on(EventLoop)}, with the class in which its work runs. */
    public static AsyncContext on(EventLoop loop, Priority priority) {
        return new AsyncContext(loop, Drive.LOOP, Objects.requireNonNull(priority, "priority"));
    }

    /** The loop that it runs on. */
    public EventLoop loop() {
        return loop;
    }

    /** That moment of the wall clock, as it stands now, on the clock of the loop. */
    private long loopTimeOf(Instant moment) {
        return loop.timeIn(Duration.between(Instant.now(), Objects.requireNonNull(moment, "moment")));
    }

    // ---- workers

    /**
     * Has {@code worker} run once, {@code delay} from now; zero or negative: in the next pass; what overflows: never.
     *
     * @return false if it is in a context already, or this one is closed
     */
    public boolean addAtTimeWorker(AtTimeWorker worker, Duration delay) {
        return addAtTimeWorkerAt(worker, loop.timeIn(Objects.requireNonNull(delay, "delay")));
    }

    /** {@link #addAtTimeWorker(AtTimeWorker, Duration)} at a moment of the wall clock, as that clock stands now. */
    public boolean addAtTimeWorker(AtTimeWorker worker, Instant moment) {
        return addAtTimeWorkerAt(worker, loopTimeOf(moment));
    }

    /** {@link #addAtTimeWorker(AtTimeWorker, Duration)} at a moment of {@link EventLoop#time()}; the past is at once. */
    public boolean addAtTimeWorkerAt(AtTimeWorker worker, long loopNanos) {
        Objects.requireNonNull(worker, "worker");
        AtTimeWorker.Place place = new AtTimeWorker.Place(this, loopNanos, order.getAndIncrement());
        if (closed || !worker.enter(place)) {
            return false;
        }
        atTime.put(place, worker);
        if (worker.place() != place) {
            atTime.remove(place); // removed between the two
        }
        Map.Entry<AtTimeWorker.Place, AtTimeWorker> first = atTime.firstEntry();
        if (first != null && first.getKey() == place) { // else an earlier one has the alarm already
            wakeWatchers();
            poke.raise();
        }
        if (closed) {
            evict(place, worker);
            return false;
        }
        return true;
    }

    private void evict(AtTimeWorker.Place place, AtTimeWorker worker) {
        worker.leave(place);
        atTime.remove(place);
    }

    /** Takes {@code worker} out; false if it is not in: it was never added, was removed, or has begun. */
    public boolean removeAtTimeWorker(AtTimeWorker worker) {
        Objects.requireNonNull(worker, "worker");
        AtTimeWorker.Place place = worker.place();
        if (place == null || place.context() != this || !worker.leave(place)) {
            return false;
        }
        atTime.remove(place);
        return true;
    }

    /**
     * Has {@code worker} run after each {@link #setWorkPending}, until it is removed.
     *
     * @return false if it is in a context already, or this one is closed
     */
    public boolean addWhenPendingWorker(WhenPendingWorker worker) {
        Objects.requireNonNull(worker, "worker");
        WhenPendingWorker.Place place = new WhenPendingWorker.Place(this, order.getAndIncrement(), worker);
        if (closed || !worker.enter(place)) {
            return false;
        }
        whenPending.put(place.order, place);
        if (worker.place() != place) {
            whenPending.remove(place.order); // removed between the two
        }
        if (closed) {
            takeOut(place);
            return false;
        }
        if (place.isMarked()) {
            bringUp(); // marked between the two: a pass may have looked for it and found nothing
        }
        return true;
    }

    /** Takes {@code worker} out, its mark included; false if it is not in. One that has begun goes on to its end. */
    public boolean removeWhenPendingWorker(WhenPendingWorker worker) {
        Objects.requireNonNull(worker, "worker");
        WhenPendingWorker.Place place = worker.place();
        return place != null && place.context == this && takeOut(place);
    }

    private boolean takeOut(WhenPendingWorker.Place place) {
        if (!place.leave()) {
            return false;
        }
        whenPending.remove(place.order);
        place.takeMark(); // a pass that still sees it finds no mark
        return true;
    }

    /**
     * Has {@code worker} run in the next pass; marks that come before it begins coalesce. Native upcalls and signal
     * handlers may do this: it takes no lock.
     *
     * @return false if the worker is not in this context, or the context is closed: nothing will happen
     */
    public boolean setWorkPending(WhenPendingWorker worker) {
        Objects.requireNonNull(worker, "worker");
        WhenPendingWorker.Place place = worker.place();
        if (closed || place == null || place.context != this) {
            return false;
        }
        place.mark();
        return bringUp() && !closed;
    }

    /** There is a mark: sees to it that a pass looks for it. False if the loop is closed. */
    private boolean bringUp() {
        marked = true;
        workEpoch.getAndIncrement();
        wakeWatchers();
        return poke.raise();
    }

    // ---- passes

    /** Whether a pass would find work. */
    private boolean hasWork() {
        if (marked || !calls.isEmpty()) {
            return true;
        }
        Map.Entry<AtTimeWorker.Place, AtTimeWorker> first = atTime.firstEntry();
        return first != null && first.getKey().due() <= loop.time();
    }

    /** Sees to it that a pass begins when there is work. On the loop, possibly on its carrier. */
    private void arrange() {
        if (closed || loop.isClosed()) {
            return;
        }
        if (phase != Phase.NONE || hasWork()) {
            if (!serve.scheduled()) {
                serve.callSoon();
            }
            return;
        }
        Map.Entry<AtTimeWorker.Place, AtTimeWorker> first = atTime.firstEntry();
        if (first != null) {
            alarm.callAt(first.getKey().due());
        }
    }

    /** Runs one worker; a callback of the loop. */
    private void serve() {
        if (closed) {
            return;
        }
        if (!lock.tryAcquire()) {
            skipped = true; // before the second try: the release that it sees has seen this
            if (!lock.tryAcquire()) {
                return;
            }
        }
        skipped = false;
        try {
            if (phase == Phase.NONE) {
                phase = Phase.CALLS;
                passTime = loop.time();
                passOrder = order.get();
            }
            Action work = nextWork();
            if (work != null) {
                workEpoch.getAndIncrement();
                working = true;
                try {
                    work.run();
                } catch (Throwable e) {
                    loop.report(new LoopError("a worker of an async context threw " + e, e, null));
                } finally {
                    working = false;
                }
            }
        } finally {
            while (lock.isMine() && !lock.release()) {
                // A worker that took the lock and kept it must not stop the others.
            }
        }
        arrange();
    }

    /** The next of this pass; null, and the pass is over, if there is none. Under the lock. */
    private @Nullable Action nextWork() {
        if (phase == Phase.CALLS) {
            SyncCall<?> call = calls.peek();
            if (call != null && call.order < passOrder) {
                calls.poll();
                return call::run;
            }
            phase = Phase.AT_TIME;
        }
        if (phase == Phase.AT_TIME) {
            for (Map.Entry<AtTimeWorker.Place, AtTimeWorker> e : atTime.entrySet()) {
                AtTimeWorker.Place place = e.getKey();
                if (place.due() > passTime) {
                    break;
                }
                if (place.order() < passOrder && e.getValue().leave(place)) {
                    atTime.remove(place);
                    return e.getValue().work();
                }
            }
            phase = Phase.PENDING;
            lastPending = -1;
            marked = false; // before the search: a mark that it does not find brings the next pass
        }
        for (WhenPendingWorker.Place place :
                whenPending.tailMap(lastPending, false).values()) {
            if (place.order >= passOrder) {
                break;
            }
            lastPending = place.order;
            if (place.takeMark()) {
                return place.work();
            }
        }
        if (whenPending.tailMap(passOrder).values().stream().anyMatch(WhenPendingWorker.Place::isMarked)) {
            marked = true; // added and marked before the search: for the next pass
        }
        phase = Phase.NONE;
        return null;
    }

    /**
     * Runs what is due, in the calling thread, which becomes the loop's carrier meanwhile. For the host of a {@link #polled}
     * context; for the others, which are driven already, it does nothing.
     *
     * @return whether anything ran
     * @throws IllegalStateException in a task, on a virtual thread, or if it is closed
     */
    public boolean poll() {
        return poll(Duration.ZERO);
    }

    /**
     * {@link #poll()}, for a host that gives it a share of its time: waits for something to come up, and runs what is due,
     * until {@code atMost} from now, and the worker in progress to its end. Workers that are left come first in the next call.
     *
     * @param atMost zero or negative: does not wait, and runs all that is due
     */
    public boolean poll(Duration atMost) {
        Objects.requireNonNull(atMost, "atMost");
        if (drive != Drive.HOST) {
            return false;
        }
        host = Thread.currentThread();
        long end = atMost.isPositive() ? loop.timeIn(atMost) : Long.MAX_VALUE;
        boolean ran = loop.poll(atMost);
        while (!closed && phase != Phase.NONE && loop.time() < end && loop.poll(Duration.ZERO)) {
            ran = true; // the pass that has begun
        }
        return ran;
    }

    // ---- the lock

    /**
     * Keeps workers from running until {@link #releaseLock}; waits for the one in progress. Recursive; the owner is the task
     * or thread that calls. Interrupts do not end the wait, and are kept.
     *
     * @throws io.fastio.CancelledError if the task was cancelled; the lock was not taken
     */
    public void acquireLock() {
        lock.acquire(Wait.FOREVER);
    }

    /**
     * Gives one level of the lock back. The outermost one brings up what was skipped meanwhile.
     *
     * @throws IllegalStateException if the caller does not own it
     */
    public void releaseLock() {
        if (lock.isMine() && working && lock.depth() == 1) {
            throw new IllegalStateException("a worker runs under the lock, which it did not take");
        }
        if (lock.release() && skipped) {
            skipped = false;
            if (!poke.raise()) {
                end();
            }
        }
    }

    /** Whether the caller owns the lock ({@code async_context_lock_check}). Workers do. */
    public boolean holdsLock() {
        return lock.isMine();
    }

    // ---- calls

    /**
     * Has {@code function} run where no worker runs meanwhile, and waits for its value ({@code async_context_execute_sync}).
     * A task or callback of the loop, and the host of a polled context, run it themselves under the lock; for any other
     * thread the loop runs it, as a callback.
     *
     * @throws Exception the very exception of {@code function}
     * @throws InterruptedException if the thread was interrupted: what had not begun never will
     * @throws io.fastio.CancelledError if the task was cancelled: the same
     * @throws IllegalStateException in a worker, while holding the lock, or if the context is closed
     */
    public <T extends @Nullable Object> T executeSync(Callable<T> function) throws Exception {
        return execute(function, Wait.FOREVER);
    }

    /**
     * {@link #executeSync(Callable)} for at most {@code timeout}. Who runs it himself gives up for as long as he waits for the
     * lock; once begun, it is his to end.
     *
     * @param timeout null: no limit
     * @throws TimeoutException if it did not end in time; what had not begun never will
     */
    public <T extends @Nullable Object> T executeSync(Callable<T> function, @Nullable Duration timeout)
            throws Exception {
        return execute(function, timeout == null ? Wait.FOREVER : loop.timeIn(timeout));
    }

    private <T extends @Nullable Object> T execute(Callable<T> function, long deadline) throws Exception {
        Objects.requireNonNull(function, "function");
        if (lock.isMine()) {
            throw new IllegalStateException("executeSync inside a worker or under the lock of its own context");
        }
        requireOpen();
        if (loop.isCurrent() || drive == Drive.HOST && isHost()) {
            return executeHere(function, deadline);
        }
        Waiter.begin();
        SyncCall<T> call = new SyncCall<>(loop, function, order.getAndIncrement());
        calls.add(call);
        wakeWatchers();
        if (!poke.raise() || closed) {
            call.refuse(closedError());
        }
        boolean answered = false;
        try {
            T value = call.await(deadline);
            answered = true;
            return value;
        } finally {
            if (!answered) {
                call.withdraw();
                calls.remove(call);
            }
        }
    }

    private boolean isHost() {
        Thread h = host;
        return h == null || h == Thread.currentThread();
    }

    private <T extends @Nullable Object> T executeHere(Callable<T> function, long deadline) throws Exception {
        if (!lock.acquire(deadline)) {
            throw new TimeoutException("executeSync did not get the lock in time");
        }
        try {
            requireOpen();
            return function.call();
        } finally {
            releaseLock();
        }
    }

    // ---- waiting

    /**
     * Waits until that moment; workers run meanwhile if the context has another thread, or the caller is a task ({@code
     * async_context_wait_until}). An interrupt of a thread that is no task ends the wait and is kept.
     *
     * @throws IllegalStateException in a worker, or while holding the lock
     */
    public void waitUntil(Instant moment) {
        waitUntil(loopTimeOf(moment));
    }

    /** {@link #waitUntil(Instant)} at a moment of {@link EventLoop#time()}. */
    public void waitUntil(long loopNanos) {
        refuseUnderLock("waitUntil");
        Waiter.begin();
        new Waiter().await(loop::time, loopNanos, true);
    }

    /**
     * Waits until there is work, or that moment has come; does not run the work: a host does that by {@link #poll} ({@code
     * async_context_wait_for_work_until}). An interrupt of a thread that is no task ends the wait and is kept.
     *
     * @return whether there is work, or was some meanwhile
     * @throws IllegalStateException in a worker, or while holding the lock
     */
    public boolean waitForWorkUntil(Instant moment) {
        return waitForWorkUntil(loopTimeOf(moment));
    }

    /** {@link #waitForWorkUntil(Instant)} at most {@code timeout} from now. */
    public boolean waitForWork(Duration timeout) {
        return waitForWorkUntil(loop.timeIn(Objects.requireNonNull(timeout, "timeout")));
    }

    /** {@link #waitForWorkUntil(Instant)} at a moment of {@link EventLoop#time()}. */
    public boolean waitForWorkUntil(long loopNanos) {
        refuseUnderLock("waitForWorkUntil");
        Waiter.begin();
        long epoch = workEpoch.get();
        while (true) {
            Waiter w = new Waiter();
            watchers.add(w); // before the look: whoever brings work afterwards finds it
            boolean goOn = false;
            try {
                if (hasWork() || workEpoch.get() != epoch) {
                    return true;
                }
                if (closed || loop.time() >= loopNanos) {
                    return false;
                }
                Map.Entry<AtTimeWorker.Place, AtTimeWorker> first = atTime.firstEntry();
                long next = first == null
                        ? loopNanos
                        : Math.min(loopNanos, first.getKey().due());
                goOn = w.await(loop::time, next, true) || !isInterrupted();
            } finally {
                watchers.remove(w);
            }
            if (!goOn) {
                return hasWork() || workEpoch.get() != epoch;
            }
        }
    }

    private static boolean isInterrupted() {
        return !Asyncio.inTask() && Thread.currentThread().isInterrupted();
    }

    private void refuseUnderLock(String what) {
        if (lock.isMine()) {
            throw new IllegalStateException(what + " inside a worker or under the lock of its own context");
        }
    }

    private void wakeWatchers() {
        for (Waiter w = watchers.poll(); w != null; w = watchers.poll()) {
            w.grant();
        }
    }

    // ---- the end

    /** Whether it is closed. */
    public boolean isClosed() {
        return closed;
    }

    private void requireOpen() {
        if (closed) {
            throw closedError();
        }
    }

    private static IllegalStateException closedError() {
        return new IllegalStateException("async context is closed");
    }

    /**
     * Ends it: from the return on no worker runs, {@link #setWorkPending} is false, and calls that have not begun fail. Waits
     * for the worker in progress, for at most the loop's {@link EventLoop#shutdownTimeout()}; a worker may close its own
     * context, and then ends itself. Closes the loop unless that was there before. Idempotent.
     */
    @Override
    public void close() {
        boolean inside = lock.isMine();
        boolean locked = !inside && !closed && acquireToClose();
        end();
        if (locked) {
            lock.release();
        }
        if (drive != Drive.LOOP) {
            loop.withdrawOnClose(atLoopsEnd);
            if (loop.isCurrent()) {
                Thread.ofPlatform().daemon().name(loop.name() + "-closer").start(loop::close);
            } else {
                loop.close();
            }
        } else {
            loop.withdrawOnClose(atLoopsEnd);
        }
    }

    private boolean acquireToClose() {
        return lock.acquire(loop.timeIn(loop.shutdownTimeout()));
    }

    private void end() {
        closed = true;
        for (SyncCall<?> c = calls.poll(); c != null; c = calls.poll()) {
            c.refuse(closedError());
        }
        atTime.forEach(this::evict);
        whenPending.values().forEach(this::takeOut);
        wakeWatchers();
    }

    /** Lets a throwable pass whatever its type: the caller gets the very one. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException unchecked(Throwable e) throws E {
        throw (E) e;
    }

    @Override
    public String toString() {
        return "AsyncContext[" + loop.name() + ", " + (closed ? "closed" : drive) + ", " + atTime.size() + " at time, "
                + whenPending.size() + " when pending]";
    }
}
