package io.fastio;

import org.jspecify.annotations.Nullable;

/**
 * A task that awaits a task of another loop: comes to that loop through its inbox, stands in the list of the awaited one,
 * and leaves by the same way when it is cancelled (C5). Fields belong to the loop of the awaited task.
 */
final class Visitor extends Posted {
    private static final int JOIN = 1;
    private static final int LEAVE = 2;
    private static final int LEAVE_AND_CANCEL = 4;

    final LoopTask<?> waiter;
    private final LoopTask<?> awaited;
    private final long ticket;

    // The visitors of the awaited task.
    @Nullable
    Visitor previous;

    @Nullable
    Visitor next;

    boolean listed;

    Visitor(LoopTask<?> awaited, LoopTask<?> waiter, long ticket) {
        this.awaited = awaited;
        this.waiter = waiter;
        this.ticket = ticket;
    }

    /**
     * On the loop of the waiter. Whoever ends the awaited task says so and then, also if its loop stops running, looks into
     * the inbox; we are in the inbox, and then look whether it has ended.
     */
    void join() {
        boolean open = awaited.loop.postIfOpen(this, JOIN);
        if (awaited.done()) {
            wake();
        } else if (!open) {
            awaited.loop.requireOpen(); // it is about to be abandoned
        }
    }

    /** On the loop of the waiter; {@code passCancel}: the awaited task is cancelled if nobody else waits for it. */
    void leave(boolean passCancel) {
        awaited.loop.postIfOpen(this, passCancel ? LEAVE_AND_CANCEL : LEAVE);
    }

    void wake() {
        waiter.wakeFromAnywhere(ticket);
    }

    @Override
    void deliver(int signals) {
        if ((signals & JOIN) != 0) {
            awaited.visited(this);
        }
        if ((signals & (LEAVE | LEAVE_AND_CANCEL)) != 0) {
            awaited.left(this, (signals & LEAVE_AND_CANCEL) != 0);
        }
    }
}
