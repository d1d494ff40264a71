package io.fastio;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Several bodies at once, each in a task of its own, and the wait for all of them (G1). */
final class Gather<T extends @Nullable Object> implements Wait.Hook, Joiner {
    private final LoopTask<?> parent;
    private final List<LoopTask<T>> children;
    private final boolean throwFirst;
    private int running;
    private @Nullable LoopTask<T> failed;
    private boolean cancelled;

    /** The cancel that is pending has been passed to the children already; the next wait finds it once more. */
    private boolean passedOn;

    private boolean joining;

    private Gather(LoopTask<?> parent, int size, boolean throwFirst) {
        this.parent = parent;
        this.children = new ArrayList<>(size);
        this.throwFirst = throwFirst;
    }

    static <T extends @Nullable Object> List<T> values(List<? extends Callable<? extends T>> bodies) throws Exception {
        Gather<T> g = Gather.<T>of(bodies, true);
        g.join();
        if (g.failed != null) {
            g.failed.await();
        }
        List<T> values = new ArrayList<>(g.children.size());
        for (LoopTask<T> child : g.children) {
            values.add(child.resultNow());
        }
        return values;
    }

    static <T extends @Nullable Object> List<Outcome<T>> outcomes(List<? extends Callable<? extends T>> bodies) {
        Gather<T> g = Gather.<T>of(bodies, false);
        g.join();
        List<Outcome<T>> outcomes = new ArrayList<>(g.children.size());
        for (LoopTask<T> child : g.children) {
            outcomes.add(child.outcome());
        }
        return outcomes;
    }

    private static <T extends @Nullable Object> Gather<T> of(
            List<? extends Callable<? extends T>> bodies, boolean throwFirst) {
        LoopTask<?> me = LoopTask.current();
        me.begin();
        List<Callable<? extends T>> checked = Asyncio.checked(bodies, "bodies");
        Gather<T> g = new Gather<>(me, checked.size(), throwFirst);
        TaskOptions options = TaskOptions.of(me.priority());
        for (Callable<? extends T> body : checked) {
            LoopTask<T> child = new LoopTask<>(me.loop, options, body::call);
            g.children.add(child);
            g.running++;
            child.joiner = g;
        }
        for (LoopTask<T> child : g.children) {
            child.start();
        }
        return g;
    }

    private void join() {
        joining = true;
        try {
            while (running > 0 && (failed == null || cancelled)) {
                parent.join(this, this);
            }
        } finally {
            joining = false;
        }
        if (cancelled) {
            parent.deliverPending(true);
        }
    }

    @Override
    public LoopTask<?> parent() {
        return parent;
    }

    @Override
    public boolean childEnded(LoopTask<?> child) {
        running--;
        if (!joining) {
            return false; // the gather has thrown: a later failure is reported (G1)
        }
        boolean takes = !cancelled && !throwFirst;
        boolean over = running == 0;
        if (throwFirst && failed == null && child.state() != Future.State.SUCCESS) {
            @SuppressWarnings("unchecked")
            LoopTask<T> mine = (LoopTask<T>) child;
            failed = mine;
            takes = !cancelled;
            over |= !cancelled;
        }
        if (over) {
            parent.wakeIfWaiting();
        }
        return takes;
    }

    /** A cancel of the gather cancels all children, and waits for them. */
    @Override
    public boolean abandon(Task<?> task, boolean woken) {
        for (LoopTask<T> child : children) {
            child.reportSoon(); // what has failed so far will not be taken
        }
        if (running == 0) {
            return true;
        }
        cancelled = true;
        if (passedOn) { // C4: or it would hit what they do in their finally blocks
            passedOn = false;
            return false;
        }
        passedOn = woken;
        for (LoopTask<T> child : children) {
            child.cancelOnLoop(parent.name());
        }
        return false;
    }
}
