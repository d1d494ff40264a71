package io.fastio.sync;

/** Thrown by a queue that has been closed: to putters at once, to getters once it is empty (Y3). */
public final class QueueClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    QueueClosedException() {
        super("the queue is closed");
    }
}
