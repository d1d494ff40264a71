package io.fastio.sync;

/**
 * A semaphore that never has more permits than it began with: one release too many is an {@link IllegalStateException}
 * at once, from whatever thread. Answers to {@code asyncio.BoundedSemaphore}.
 */
public final class BoundedSemaphore extends Semaphore {
    /**
     * A semaphore whose bound is what it begins with.
     *
     * @param permits zero or more
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public BoundedSemaphore(int permits) {
        super(permits, permits);
    }
}
