package io.fastio;

/**
 * Under virtual time: the main task waits, and nothing is left that could ever wake it (S12). The message is the tree of
 * tasks with what each waits for.
 */
public final class DeadlockError extends Error {
    private static final long serialVersionUID = 1L;

    DeadlockError(String message) {
        super(message);
    }
}
