package io.fastio;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tasks in the order in which they end, for one task that waits for them. Their failures count as taken care of: they are
 * in the hands of the caller, who looks at them or does not.
 */
final class Completions<T extends @Nullable Object> implements Consumer<Task<T>>, Iterator<Task<T>>, Wait.Hook {
    private final LoopTask<?> me;
    private final Set<LoopTask<T>> pending = new LinkedHashSet<>();
    private final ArrayDeque<LoopTask<T>> ended = new ArrayDeque<>();
    private boolean waiting;

    Completions(Collection<? extends Task<T>> tasks) {
        me = LoopTask.current();
        for (Task<T> t : tasks) {
            LoopTask<T> task = (LoopTask<T>) Objects.requireNonNull(t, "task");
            if (task.done()) {
                take(task);
            } else if (pending.add(task)) {
                task.addDoneCallback(this);
            }
        }
    }

    /** One of them ended. On its loop. */
    @Override
    public void accept(Task<T> task) {
        if (me.loop.isCurrent()) {
            arrived((LoopTask<T>) task);
        } else if (!me.loop.isClosed()) {
            me.loop.callSoon(() -> arrived((LoopTask<T>) task));
        }
    }

    private void arrived(LoopTask<T> task) {
        if (pending.remove(task)) {
            take(task);
            if (waiting) {
                me.wakeIfWaiting();
            }
        }
    }

    private void take(LoopTask<T> task) {
        task.retrievals++;
        ended.add(task);
    }

    private Wait.Reason awaitOne(long deadline) {
        waiting = true;
        try {
            return me.suspend(this, null, deadline);
        } finally {
            waiting = false;
        }
    }

    @Override
    public boolean abandon(Task<?> task, boolean woken) {
        return true;
    }

    /** Wants to hear of no more ends. */
    private void forget() {
        for (LoopTask<T> t : pending) {
            if (!t.done()) {
                t.removeDoneCallback(this);
            }
        }
    }

    // ---- asCompleted

    @Override
    public boolean hasNext() {
        return !ended.isEmpty() || !pending.isEmpty();
    }

    @Override
    public Task<T> next() {
        if (LoopTask.current() != me) {
            throw new IllegalStateException("only " + me.name() + " may wait for these tasks");
        }
        me.begin();
        while (ended.isEmpty()) {
            if (pending.isEmpty()) {
                throw new NoSuchElementException("all tasks have been returned");
            }
            awaitOne(Wait.FOREVER);
        }
        return ended.remove();
    }

    // ---- wait

    static <T extends @Nullable Object> Waited<T> wait(
            Collection<? extends Task<T>> tasks, ReturnWhen when, long deadline) {
        LoopTask<?> me = LoopTask.current();
        me.begin();
        Completions<T> c = new Completions<>(tasks);
        try {
            while (!c.isEnough(when) && c.awaitOne(deadline) != Wait.Reason.DEADLINE) {
                // The next end may be the one that is enough.
            }
        } finally {
            c.forget();
        }
        Set<Task<T>> done = new LinkedHashSet<>(c.ended);
        Set<Task<T>> pending = new LinkedHashSet<>();
        for (LoopTask<T> t : c.pending) { // what ended since its callback was sent off is done as well
            (t.done() ? done : pending).add(t);
        }
        return new Waited<>(done, pending);
    }

    private boolean isEnough(ReturnWhen when) {
        return pending.isEmpty()
                || switch (when) {
                    case ALL_COMPLETED -> false;
                    case FIRST_COMPLETED -> !ended.isEmpty();
                    case FIRST_EXCEPTION -> ended.stream().anyMatch(t -> t.failureOrNull() != null);
                };
    }

    // ---- firstCompleted

    static <T extends @Nullable Object> T first(List<? extends Callable<? extends T>> bodies) throws Exception {
        List<Callable<? extends T>> own = Asyncio.checked(bodies, "bodies");
        if (own.isEmpty()) {
            throw new IllegalArgumentException("there is nothing to wait for");
        }
        LoopTask<?> me = LoopTask.current();
        me.begin();
        List<LoopTask<T>> winner = new ArrayList<>(1);
        TaskGroup.run(group -> {
            List<Task<T>> tasks = new ArrayList<>(own.size());
            for (Callable<? extends T> body : own) {
                tasks.add(group.createTask(TaskOptions.of(me.priority()), () -> body.call()));
            }
            Completions<T> c = new Completions<>(tasks);
            winner.add((LoopTask<T>) c.next());
            group.cancel();
            return true;
        });
        return winner.getFirst().valueOrThrow();
    }
}
