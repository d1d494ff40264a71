package io.fastio.sync;

/** Thrown by a queue that has been closed: to putters at once, to getters once it is empty (Y3). */
public final class QueueClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    QueueClosedException() {
        this("the queue is closed");
    }

    /** For whoever else closes something like a queue. */
    public QueueClosedException(String message) {
        super(message);
    }
}
