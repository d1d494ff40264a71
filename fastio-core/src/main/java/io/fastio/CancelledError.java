package io.fastio;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a wait of a task that was cancelled (C). An {@link Error}, so that {@code catch (Exception e)} does not
 * swallow it by accident; a body that catches it goes on, and its next waits work normally (C4). Answers to asyncio's
 * {@code CancelledError}.
 *
 * <p>The message tells who cancelled; the stack trace shows the wait that was ended.
 */
public final class CancelledError extends Error {
    private static final long serialVersionUID = 1L;

    /** The scope whose cancel this is; null for {@link Task#cancel()}. */
    transient @Nullable Scope origin;

    CancelledError(String message, @Nullable Scope origin) {
        super(message);
        this.origin = origin;
    }

    /** Its scope has been left: who keeps the error is not to keep the task. */
    void forgetOrigin() {
        origin = null;
    }
}
