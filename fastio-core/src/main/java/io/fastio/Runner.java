package io.fastio;

import org.jspecify.annotations.Nullable;

/**
 * A virtual thread that runs callbacks, so that none of them runs on the carrier thread (a callback that waited there for
 * a lock held by a parked task would stop the loop for ever). It runs neighbours in the ready queue in one go; when a
 * callback parks in a JDK call the loop takes another runner for the next ones.
 */
final class Runner extends Fiber {
    private static final byte IDLE = 0;
    private static final byte BUSY = 1;
    private static final byte DISMISSED = 2;

    /** The next idle one; link of the loop's stack of runners. */
    @Nullable
    Runner nextIdle;

    private @Nullable Handle first;
    private byte state = IDLE;
    private boolean over;

    Runner(EventLoop loop) {
        super(loop, "fastio-runner");
    }

    /** Runs {@code h}, and its neighbours. On the carrier. */
    void run(Handle h) {
        first = h;
        boolean fresh = phase == NEW;
        if (fresh) {
            io.fastio.carrier.Carrier.markStarted(thread);
        }
        state = BUSY;
        runStep();
    }

    /** Lets its thread end. On the carrier, while it is idle. */
    void dismiss() {
        if (phase != NEW) {
            state = DISMISSED;
            runStep();
        }
    }

    @Override
    public void run() {
        while (state != DISMISSED) {
            for (Handle h = first; h != null; h = loop.scheduler.nextNeighbour()) {
                h.call();
            }
            first = null;
            state = IDLE;
            loop.runners.add(this);
            if (!giveWay()) {
                throw new IllegalStateException("a callback runner is pinned");
            }
        }
        over = true;
    }

    @Override
    boolean bodyEnded() {
        return over;
    }

    @Override
    byte ownClass() {
        return ReadyQueues.NORMAL;
    }

    @Override
    void timeReached() {
        throw new AssertionError("a runner has no timer");
    }
}
