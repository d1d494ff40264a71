package io.fastio;

import org.jspecify.annotations.Nullable;

/** The idle runners of a loop, the one that was busy last first. Loop only. */
final class Runners {
    private final EventLoop loop;
    private @Nullable Runner idle;

    Runners(EventLoop loop) {
        this.loop = loop;
    }

    /** Runs a callback, and its neighbours, on a runner. On the carrier. */
    void run(Handle first) {
        Runner r = idle;
        if (r == null) {
            r = new Runner(loop);
        } else {
            idle = r.nextIdle;
            r.nextIdle = null;
        }
        r.run(first);
    }

    /** {@code r} has nothing to do any more. */
    void add(Runner r) {
        r.nextIdle = idle;
        idle = r;
    }

    /** Lets the threads of all idle runners end. On the carrier. */
    void dismiss() {
        while (idle != null) {
            Runner r = idle;
            idle = r.nextIdle;
            r.dismiss();
        }
    }
}
