package io.fastio.sync;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.Priority;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A watchdog (Y4): it expires a set time after it was last triggered, then calls back and sets its event. Triggering costs
 * a move in the loop's timers and allocates nothing. Answers to MicroPython's {@code Delay_ms}.
 */
public final class RetriggerableDelay {
    private final long nanos;
    private final Handle handle;
    private final Event expired = new Event();
    private final @Nullable Runnable callback;

    /**
     * A delay on the running loop that is not running yet. For tasks and callbacks.
     *
     * @param delay longer than zero
     * @param callback called on the loop at the end of the delay; null: none. What it throws goes to the loop's exception
     *     handler
     */
    public RetriggerableDelay(Duration delay, @Nullable Runnable callback) {
        this(Asyncio.runningLoop(), delay, callback);
    }

    /** A delay on {@code loop}. Any thread. */
    public RetriggerableDelay(EventLoop loop, Duration delay, @Nullable Runnable callback) {
        Objects.requireNonNull(loop, "loop");
        if (Objects.requireNonNull(delay, "delay").isZero() || delay.isNegative()) {
            throw new IllegalArgumentException("delay must be longer than zero: " + delay);
        }
        this.nanos = delay.compareTo(Duration.ofNanos(Long.MAX_VALUE)) > 0 ? Long.MAX_VALUE : delay.toNanos();
        this.callback = callback;
        this.handle = loop.handle(Priority.NORMAL, this::expire);
    }

    /** Starts it, or starts it anew if it runs, and clears its event. Any thread; does not wait. */
    public void trigger() {
        expired.clear();
        handle.callLaterNanos(nanos);
    }

    /** Stops it without expiring; it can be triggered again. Any thread; does not wait. */
    public void stop() {
        handle.cancel();
    }

    /** Whether it is on its way to expire; one that lasts for ever never is. On the loop exact, from another thread as last seen. */
    public boolean running() {
        return handle.scheduled();
    }

    /** Waits until it has expired since it was last triggered. For tasks. */
    public void await() {
        expired.await();
    }

    /** The event that is set when it expires: for {@link WaitAny} and {@link WaitAll}. */
    public Event event() {
        return expired;
    }

    private void expire() {
        expired.set();
        if (callback != null) {
            callback.run();
        }
    }

    @Override
    public String toString() {
        return "RetriggerableDelay[" + Duration.ofNanos(nanos) + ", " + (running() ? "running" : "not running") + "]";
    }
}
