package io.fastio;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that live no longer than the block that made them (G2): {@link Asyncio#taskGroup} returns when all of them
 * ended. The first one that fails cancels the others and the body, and its exception is thrown, with those of the rest
 * as suppressed. Answers to {@code asyncio.TaskGroup} and Trio's nursery.
 */
public final class TaskGroup {
    /**
     * The body of a group.
     *
     * @param <T> the type of its value
     */
    @FunctionalInterface
    public interface Body<T extends @Nullable Object> {
        T run(TaskGroup group) throws Exception;
    }

    private final LoopTask<?> parent;
    private final GroupScope scope;
    private final Set<LoopTask<?>> children = new LinkedHashSet<>();
    private final List<Throwable> failures = new ArrayList<>(0);
    private boolean bodyEnded;
    private boolean aborting;
    private boolean ended;
    private String why = "";

    private final class GroupScope extends Scope implements Joiner {
        GroupScope(LoopTask<?> task) {
            super(task);
        }

        @Override
        public boolean childEnded(LoopTask<?> child) {
            TaskGroup.this.childEnded(child);
            return true;
        }

        @Override
        public LoopTask<?> parent() {
            return task;
        }

        @Override
        boolean levelWise() {
            return false;
        }

        @Override
        boolean atOnce() {
            return true;
        }

        @Override
        String describe() {
            return "task group of " + task.name();
        }

        @Override
        String verdict() {
            return "task group of " + task.name() + " was cancelled " + why;
        }
    }

    private TaskGroup(LoopTask<?> parent) {
        this.parent = parent;
        this.scope = new GroupScope(parent);
    }

    static <T extends @Nullable Object> @Nullable T run(Body<T> body) throws Exception {
        TaskGroup group = new TaskGroup(LoopTask.current());
        return group.runBody(body);
    }

    private <T extends @Nullable Object> @Nullable T runBody(Body<T> body) throws Exception {
        parent.enter(scope, Long.MAX_VALUE);
        T value = null;
        Throwable thrown = null;
        try {
            value = body.run(this);
        } catch (Throwable e) {
            thrown = e;
        }
        bodyEnded = true;
        boolean ownCancel = thrown instanceof CancelledError c && c.origin == scope
                || thrown instanceof Exception && scope.interrupted && LoopTask.isInterruption(thrown);
        if (thrown != null) {
            abort("because its body threw");
        }
        boolean joined = !children.isEmpty();
        while (!children.isEmpty()) {
            parent.join(scope, this::abandonJoin);
        }
        ended = true;
        parent.leave(scope);
        if (thrown != null && !ownCancel && !(thrown instanceof CancelledError)) {
            failures.remove(thrown); // the body may have awaited the child that failed
            failures.addFirst(thrown);
        }
        if (!failures.isEmpty()) {
            Throwable first = failures.getFirst();
            for (Throwable other : failures) {
                if (other != first) {
                    first.addSuppressed(other);
                }
            }
            if (scope.passed != null) {
                parent.putBack(scope.passed);
            }
            if (first != thrown && !(first instanceof VirtualMachineError)) {
                AwaitTrace.add(first, parent.name());
            }
            throw LoopTask.sneaky(first);
        }
        if (thrown != null && !ownCancel) {
            throw LoopTask.sneaky(thrown);
        }
        parent.deliverPending(joined); // the parent was cancelled while it waited for the children
        if (scope.passed != null) {
            throw scope.passed;
        }
        return value;
    }

    /** The parent's wait for the children: a cancel cancels them, again if it comes again, and waits on. */
    private boolean abandonJoin(Task<?> task, boolean woken) {
        if (!woken) {
            if (!aborting) {
                aborting = true;
                why = "with its parent";
            }
            cancelChildren();
        }
        return false;
    }

    /**
     * Starts a child. The parent's loop; also a child may add to its group. A child added while the group aborts is
     * cancelled before it runs.
     *
     * @throws IllegalStateException if the group has ended
     */
    public <C extends @Nullable Object> Task<C> createTask(Callable<C> body) {
        return createTask(TaskOptions.defaults(), body);
    }

    /** {@link #createTask(Callable)} with a name. */
    public <C extends @Nullable Object> Task<C> createTask(String name, Callable<C> body) {
        return createTask(TaskOptions.named(name), body);
    }

    /** {@link #createTask(Callable)} for a body without a value. */
    public Task<@Nullable Void> createTask(Action body) {
        return createTask(TaskOptions.defaults(), body);
    }

    /** {@link #createTask(Callable)} for a body without a value, with a name. */
    public Task<@Nullable Void> createTask(String name, Action body) {
        return createTask(TaskOptions.named(name), body);
    }

    /** {@link #createTask(Callable)} for a body without a value, with options. */
    public Task<@Nullable Void> createTask(TaskOptions options, Action body) {
        return createTask(options, Asyncio.callable(body));
    }

    /** {@link #createTask(Callable)} with options. */
    public <C extends @Nullable Object> Task<C> createTask(TaskOptions options, Callable<C> body) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(body, "body");
        parent.loop.requireCurrent(scope.describe());
        if (ended) {
            throw new IllegalStateException("the task group has ended");
        }
        LoopTask<C> child = new LoopTask<>(parent.loop, options, body);
        child.joiner = scope;
        children.add(child);
        child.start();
        if (aborting) {
            child.cancelOnLoop(scope.describe() + ", which was cancelled " + why);
        }
        return child;
    }

    /**
     * Ends the group early, without an error: children and body are cancelled, and the group returns the body's value if
     * it has one, else null. The group's loop.
     */
    public void cancel() {
        parent.loop.requireCurrent(scope.describe());
        if (!ended) {
            abort("by " + LoopTask.nameOfCaller());
        }
    }

    private void abort(String reason) {
        if (aborting) {
            return;
        }
        aborting = true;
        why = reason;
        cancelChildren();
        if (!bodyEnded) {
            scope.strike();
        }
    }

    private void cancelChildren() {
        for (LoopTask<?> child : new ArrayList<>(children)) {
            child.cancelOnLoop(scope.describe() + ", which was cancelled " + why);
        }
    }

    private void childEnded(LoopTask<?> child) {
        children.remove(child);
        Throwable failure = child.failureOrNull();
        if (failure != null) {
            child.retrievals++;
            failures.add(failure);
            abort("because " + child.name() + " failed");
        }
        if (bodyEnded && children.isEmpty()) {
            parent.wakeIfWaiting();
        }
    }
}
