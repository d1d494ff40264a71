package io.fastio.context;

import io.fastio.EventLoop;
import io.fastio.LoopError;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One {@code executeSync} of a thread that is not on the loop: what to do, who waits for it, and how it ended. */
final class SyncCall<T extends @Nullable Object> {
    private static final int WAITING = 0;
    private static final int BEGUN = 1;
    private static final int WITHDRAWN = 2;
    private static final int ENDED = 3;

    private final EventLoop loop;
    private final Callable<T> function;
    private final Waiter caller = new Waiter();
    private final AtomicInteger state = new AtomicInteger(WAITING);
    final long order;

    /** The caller has gone: an exception has nobody left to go to. */
    private volatile boolean abandoned;

    private @Nullable T value;
    private @Nullable Throwable failure;

    SyncCall(EventLoop loop, Callable<T> function, long order) {
        this.loop = loop;
        this.function = function;
        this.order = order;
    }

    /** Does it, unless it was withdrawn. On the loop, under the lock. */
    void run() {
        if (state.compareAndSet(WAITING, BEGUN)) {
            try {
                value = function.call();
            } catch (Throwable e) {
                failure = e;
            }
            end();
        }
    }

    /** Ends it with an error instead; no effect once it has begun. Any thread. */
    void refuse(RuntimeException why) {
        if (state.compareAndSet(WAITING, BEGUN)) {
            failure = why;
            end();
        }
    }

    private void end() {
        state.set(ENDED);
        if (!caller.grant() && abandoned && failure != null) {
            loop.report(new LoopError("executeSync failed after its caller had given up", failure, null));
        }
    }

    /** For its maker: waits until it is done. */
    T await(long deadline) throws Exception {
        boolean done = false;
        try {
            done = caller.await(loop::time, deadline, true);
        } finally {
            abandoned = !done;
        }
        if (!done) {
            boolean never = state.compareAndSet(WAITING, WITHDRAWN);
            String what =
                    never ? "executeSync was withdrawn before it began" : "executeSync goes on without its caller";
            if (Thread.interrupted()) {
                throw new InterruptedException(what);
            }
            throw new TimeoutException(what);
        }
        return result();
    }

    /** A cancelled task does not wait any more: what has not begun never will. */
    void withdraw() {
        state.compareAndSet(WAITING, WITHDRAWN);
    }

    @SuppressWarnings("NullAway") // T says whether null is a value
    private T result() throws Exception {
        if (failure != null) {
            throw AsyncContext.<RuntimeException>unchecked(failure);
        }
        return value;
    }
}
