package io.fastio;

/** Whoever made a task as a part of something larger, and joins it: a group, a gather. */
interface Joiner {
    /**
     * A child ended. On the loop, once.
     *
     * @return whether its failure, if it failed, is taken care of
     */
    boolean childEnded(LoopTask<?> child);

    /** The task that joins, and so waits for the child (C5). */
    LoopTask<?> parent();
}
