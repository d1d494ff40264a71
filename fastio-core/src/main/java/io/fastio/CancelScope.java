package io.fastio;

import io.fastio.time.LoopClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A part of a task's body that can be cancelled by itself, level-wise as in Trio (C8): once it is cancelled every wait
 * inside throws {@link CancelledError} until the scope is left, which swallows that error; except inside a shielded
 * scope. Made by {@link Asyncio#cancelScope}. Scopes nest with each other, with timeouts and with groups.
 */
public final class CancelScope extends Scope {
    /**
     * What runs in a scope.
     *
     * @param <T> the type of its value
     */
    @FunctionalInterface
    public interface Body<T extends @Nullable Object> {
        T run(CancelScope scope) throws Exception;
    }

    private boolean shield;
    private volatile boolean cancelCalled;
    private volatile @Nullable String cancelledBy;

    private CancelScope(LoopTask<?> task) {
        super(task);
    }

    static <T extends @Nullable Object> @Nullable T run(Body<T> body) throws Exception {
        LoopTask<?> me = LoopTask.current();
        CancelScope scope = new CancelScope(me);
        me.enter(scope, Long.MAX_VALUE);
        try {
            return body.run(scope);
        } catch (CancelledError e) {
            if (e.origin == scope) {
                return null;
            }
            throw e;
        } catch (Exception e) {
            if (scope.interrupted && LoopTask.isInterruption(e)) {
                return null; // C2: a JDK call that this scope's cancel interrupted
            }
            throw e;
        } finally {
            me.leave(scope);
        }
    }

    /** Cancels the scope; also before a wait that is yet to come. Any thread; again: no effect. */
    public void cancel() {
        if (!cancelCalled() && cancelledBy == null) {
            cancelledBy = LoopTask.nameOfCaller();
        }
        cancelCalled = true;
        strikeFromAnywhere();
    }

    /** Whether it was cancelled, by {@link #cancel()} or its deadline. Any thread. */
    public boolean cancelCalled() {
        return cancelCalled || struck;
    }

    /**
     * Cancels the scope after {@code d} from now, in place of any deadline before. The scope's task.
     *
     * @param d zero or negative: now; what overflows: never
     */
    public void deadline(Duration d) {
        deadlineAt(LoopClock.saturatedSum(task.loop.time(), Math.max(0, LoopClock.saturatedNanos(d))));
    }

    /** Cancels the scope at that moment of {@link EventLoop#time()}; {@link Long#MAX_VALUE}: never. The scope's task. */
    public void deadlineAt(long loopNanos) {
        ownerOnly();
        task.loop.scheduler.setTimer(this, loopNanos);
    }

    /**
     * Whether cancels from further out (scopes, timeouts, groups, and {@link Task#cancel()}) wait until this scope is
     * left; its own cancel works all the same. The scope's task.
     */
    public void shield(boolean on) {
        ownerOnly();
        if (shield != on) {
            shield = on;
            task.shieldChanged(on);
        }
    }

    private void ownerOnly() {
        if (!entered) {
            throw new IllegalStateException("the scope has been left");
        }
        if (LoopTask.currentOrNull() != task) {
            throw new IllegalStateException(
                    "only " + task.name() + ", whose scope it is, may change it, not " + LoopTask.nameOfCaller());
        }
    }

    @Override
    boolean shields() {
        return shield;
    }

    @Override
    boolean levelWise() {
        return true;
    }

    @Override
    boolean atOnce() {
        return true;
    }

    @Override
    String describe() {
        return "cancel scope of " + task.name();
    }

    @Override
    String verdict() {
        String by = cancelledBy;
        return describe() + " was cancelled by " + (by != null ? by : "its deadline");
    }
}
