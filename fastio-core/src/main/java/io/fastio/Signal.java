package io.fastio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * Something that any thread can raise and that the loop then acts upon: the way of a wake from outside (W1). Raised again
 * before the loop has acted it coalesces; raising allocates nothing and takes no lock, so a native upcall or a signal
 * handler may do it.
 */
public abstract class Signal extends Posted {
    private static final VarHandle RAISES;

    static {
        try {
            RAISES = MethodHandles.lookup().findVarHandle(Signal.class, "raises", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop loop;
    private final boolean batched;

    /** How often it was raised since the loop last acted; whoever makes it 1 brings it to the loop. */
    @SuppressWarnings("unused") // through RAISES
    private volatile long raises;

    /** A signal for {@code loop} that wakes it at once. */
    protected Signal(EventLoop loop) {
        this(loop, WakePolicy.AT_ONCE);
    }

    /** A signal for {@code loop}. */
    protected Signal(EventLoop loop, WakePolicy policy) {
        this.loop = Objects.requireNonNull(loop, "loop");
        this.batched = Objects.requireNonNull(policy, "policy") == WakePolicy.BATCHED;
        if (batched) {
            Ticker.prepare();
        }
    }

    /**
     * Acts on the signal, on the loop, possibly on its carrier thread: must be short, take no lock, log nothing, throw
     * nothing, and not wait. Resuming tasks is what it is for.
     */
    protected abstract void act();

    /**
     * Raises it. From a task or callback of the loop it acts at once; from any other thread as soon as the step in
     * progress is over, by waking the loop if it sleeps, or as late as {@link WakePolicy#BATCHED} says.
     *
     * @return false if the loop is closed: nothing will happen
     */
    public final boolean raise() {
        if (loop.isCurrent()) {
            act();
            return true;
        }
        if ((long) RAISES.getAndAdd(this, 1L) > 0) {
            return !loop.isClosed();
        }
        if (batched ? loop.pushBatched(this) : loop.push(this)) {
            return true;
        }
        RAISES.setVolatile(this, 0L);
        return false;
    }

    /**
     * Whether it is raised at every tick of the loop ({@link EventLoop.Builder#tick}), once however many passed. The source
     * of ticks runs only while somebody wants them. Any thread; idempotent; does not wait.
     */
    public final void everyTick(boolean on) {
        loop.ticks.ring(this, on);
    }

    /** The loop it acts on. */
    public final EventLoop loop() {
        return loop;
    }

    @Override
    final void deliver(int signals) {
        loop.coalesced += (long) RAISES.getAndSet(this, 0L) - 1;
        act();
    }
}
