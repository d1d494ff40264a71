package io.fastio;

/** A task body without a value. */
@FunctionalInterface
public interface Action {
    /** Does the work; may wait, and may throw anything. */
    void run() throws Exception;
}
