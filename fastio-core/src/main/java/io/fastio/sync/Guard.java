package io.fastio.sync;

/** What is held, in a {@code try} block: leaving the block releases it. Made by {@link Lock#hold()} and its like. */
@FunctionalInterface
public interface Guard extends AutoCloseable {
    /** Releases. Does not wait. */
    @Override
    void close();
}
