package io.fastio;

import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The scope of {@code waitFor} (T). */
final class Timeout extends Scope {
    private final long nanos;

    private Timeout(LoopTask<?> task, long nanos) {
        super(task);
        this.nanos = nanos;
    }

    /** Runs {@code body} in the calling task for at most {@code nanos}; {@link Long#MAX_VALUE}: no limit. */
    static <T extends @Nullable Object> T waitFor(Callable<T> body, long nanos) throws Exception {
        LoopTask<?> me = LoopTask.current();
        Timeout scope = new Timeout(me, nanos);
        scope.struck = nanos <= 0; // T1: it runs to its first real wait
        me.enter(scope, nanos <= 0 ? Long.MAX_VALUE : LoopClock.saturatedSum(me.loop.time(), nanos));
        T value;
        try {
            value = body.call();
        } catch (Throwable e) {
            me.leave(scope);
            throw scope.failure(e);
        }
        me.leave(scope);
        if (scope.passed != null) {
            throw scope.passed; // T4: also if the body swallowed it; an external cancel wins over a timeout
        }
        me.deliverInterrupting(null); // T4, where a JDK call took it
        if (scope.delivered || scope.refused || scope.interrupted) {
            throw scope.timeout(null); // T2: also if the body swallowed it
        }
        return value;
    }

    private Exception failure(Throwable e) throws Exception {
        if (e instanceof CancelledError c) {
            if (c.origin == this) {
                c.forgetOrigin();
                return timeout(c); // it shows in which wait the time was over
            }
            throw c;
        }
        if (interrupted && e instanceof Exception) { // C2: what an interrupted JDK call throws
            task.deliverInterrupting(e); // C6: an external cancel wins
            return timeout(e);
        }
        if (delivered || refused) {
            e.addSuppressed(timeout(null)); // T2
        }
        throw LoopTask.sneaky(e);
    }

    private TimeoutException timeout(@Nullable Throwable cause) {
        TimeoutException e = new TimeoutException(describe());
        if (cause != null) {
            e.initCause(cause);
        }
        return e;
    }

    @Override
    boolean levelWise() {
        return false;
    }

    @Override
    boolean atOnce() {
        return false;
    }

    @Override
    String verdict() {
        return describe() + " is over";
    }

    @Override
    String describe() {
        return "timeout of " + Duration.ofNanos(Math.max(0, nanos)) + " in " + task.name();
    }
}
