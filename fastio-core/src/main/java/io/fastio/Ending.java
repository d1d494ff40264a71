package io.fastio;

import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The end of a loop (S11): its tasks are cancelled and run their {@code finally} blocks, bounded by the shutdown time; then
 * what was accepted before runs (S13), and what was left open is closed. On the thread that closes the loop, which carries
 * it meanwhile; {@link #onClose} and {@link #withdraw} are for any thread.
 */
final class Ending {
    private final EventLoop loop;
    private final Scheduler scheduler;
    private final LoopClock clock;
    private final long shutdownTimeout;
    private final ConcurrentLinkedQueue<Runnable> atClose = new ConcurrentLinkedQueue<>();

    Ending(EventLoop loop, LoopClock clock, long shutdownTimeout) {
        this.loop = loop;
        this.scheduler = loop.scheduler;
        this.clock = clock;
        this.shutdownTimeout = shutdownTimeout;
    }

    /** Cancels the tasks that are left and waits for them; new ones are cancelled before they run. */
    void endTasks() {
        scheduler.takeIn();
        for (Task<?> t : loop.live.all()) {
            ((LoopTask<?>) t).cancelOnLoop("the end of the event loop");
        }
        long end = LoopClock.saturatedSum(realNanos(), shutdownTimeout);
        long endOnClock = LoopClock.saturatedSum(clock.nanos(), shutdownTimeout);
        while (!loop.live.isEmpty() && realNanos() < end && clock.nanos() < endOnClock) {
            scheduler.turn(endOnClock);
        }
        end = Math.min(end, realNanos() + Elsewhere.GRACE.toNanos());
        while (!loop.elsewhere.strays().isEmpty() && realNanos() < end) {
            scheduler.turn(LoopClock.saturatedSum(clock.nanos(), Idle.CLOSING_SLICE));
        }
        for (Offload<?> stray : loop.elsewhere.strays()) {
            loop.soon(stray::reportIfBusy);
        }
        for (Task<?> t : loop.live.all()) {
            loop.report(new LoopError(
                    t.name() + " did not end within " + Duration.ofNanos(shutdownTimeout) + " of its cancel ("
                            + ((LoopTask<?>) t).doing() + "): abandoned",
                    null,
                    t));
        }
        // Reports of failures come one round later (G3), those of callbacks one more.
        for (int rounds = 0; rounds < 3; rounds++) {
            runRemainingCallbacks();
        }
    }

    private static long realNanos() {
        return System.nanoTime() & Long.MAX_VALUE;
    }

    /** The loop is marked closed: nothing comes in any more, and no task runs. */
    void afterLastTurn() {
        scheduler.inbox.close();
        scheduler.batch.close();
        for (Task<?> t : loop.live.all()) {
            ((LoopTask<?>) t).abandonAtClose();
        }
        runRemainingCallbacks();
        closeSources();
        announceClose();
        loop.runners.dismiss();
        scheduler.sleeper().close();
    }

    /** Runs what callbacks are ready, for one round: what was accepted before the close runs (S13). */
    private void runRemainingCallbacks() {
        ReadyQueues ready = scheduler.ready;
        for (int n = ready.normalSize() + ready.urgentSize() + ready.lowSize() + ready.betweenSize(); n > 0; n--) {
            Entry e = ready.firstBetween();
            if (e == null) {
                e = ready.firstUrgent();
            }
            if (e == null) {
                e = ready.firstNormal();
            }
            if (e == null) {
                e = ready.firstLow();
            }
            if (e == null) {
                return;
            }
            ready.remove(e);
            if (e instanceof Handle || e instanceof Runner) {
                e.runStep();
            }
        }
    }

    /** Streams left open are closed with their loop (S11); on a runner, since closing may run foreign code. */
    private void closeSources() {
        if (loop.locals.length > 0) {
            runNow(this::closeLocals);
        }
        if (loop.watches != null) {
            runNow(this::closeWatches);
        }
    }

    private void closeLocals() {
        for (Object value : loop.locals) {
            if (value instanceof AutoCloseable c) {
                close(c);
            }
        }
    }

    /** Closes something that was left open. */
    void close(AutoCloseable c) {
        try {
            c.close();
        } catch (Exception e) {
            loop.report(new LoopError("closing " + c + " with the event loop failed", e, null));
        }
    }

    private void closeWatches() {
        for (Watch w = loop.watches; w != null; w = loop.watches) {
            if (loop.debug()) {
                loop.report(new LoopError(w + " was left open at the end of the event loop", null, null));
            }
            w.closeWithLoop();
        }
    }

    private void announceClose() {
        for (Runnable r = atClose.poll(); r != null; r = atClose.poll()) {
            runNow(r);
        }
    }

    private void runNow(Runnable r) {
        new Handle(loop, r, Priority.NORMAL).runStep();
        runRemainingCallbacks();
    }

    /** See {@link EventLoop#onClose}. */
    void onClose(Runnable r) {
        atClose.add(r);
        if (loop.isClosed() && atClose.remove(r)) {
            r.run();
        }
    }

    /** See {@link EventLoop#withdrawOnClose}. */
    void withdraw(Runnable r) {
        atClose.remove(r);
    }
}
