package io.fastio;

/**
 * One step of a thread that a library started inside a task or callback: it runs on the loop in the class of the fiber
 * whose scheduler it inherited (S13).
 */
final class InsideStep extends Entry {
    private static final int ARRIVE = 1;
    private final Fiber parent;
    private final Runnable step;

    InsideStep(Fiber parent, Runnable step) {
        this.parent = parent;
        this.step = step;
    }

    /** Becomes ready. Any thread; must not reject. */
    void arrive() {
        if (parent.loop.isCurrent()) {
            becomeReady();
        } else {
            parent.loop.postIfOpen(this, ARRIVE);
        }
    }

    @Override
    void deliver(int signals) {
        becomeReady();
    }

    private void becomeReady() {
        EventLoop loop = parent.loop;
        if (loop.isVirtual()) {
            loop.elsewhere.threadQueued(step);
        }
        loop.scheduler.ready(this, parent.ownClass());
    }

    @Override
    void timeReached() {
        throw new AssertionError("a step has no timer");
    }

    @Override
    void runStep() {
        EventLoop loop = parent.loop;
        if (!loop.isVirtual()) {
            step.run();
            return;
        }
        loop.elsewhere.threadRuns(step);
        step.run();
        loop.elsewhere.threadLeft(step); // V1
    }
}
