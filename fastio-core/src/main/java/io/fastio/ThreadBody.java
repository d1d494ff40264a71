package io.fastio;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The body of a thread that was made for somebody else: what a {@link java.util.concurrent.ThreadFactory} was given. */
record ThreadBody(Runnable body) implements Callable<@Nullable Void> {
    @Override
    public @Nullable Void call() {
        body.run();
        return null;
    }

    /**
     * The thread is cancelled before it ran (C3): whoever waits for its result has to be told. Work of {@link
     * CompletableFuture} hides the future that it completes, so it must run, with the cancel pending.
     *
     * @return whether it is not to run
     */
    boolean cancelled() {
        if (body instanceof CompletableFuture.AsynchronousCompletionTask) {
            return false;
        }
        if (body instanceof Future<?> f) {
            f.cancel(false);
        }
        return true;
    }
}
