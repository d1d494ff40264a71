package io.fastio.poll;

import org.jspecify.annotations.Nullable;

/**
 * One poll's reports: counts them, and keeps what targets throw until the batch is done, since the rest of the batch
 * must not suffer from one target. Loop thread only.
 */
final class Delivery {
    private boolean running;
    private int reports;
    private @Nullable Throwable thrown;

    /** @throws IllegalStateException if called from a target */
    void begin() {
        if (running) {
            throw new IllegalStateException("poll called from inside a poll");
        }
        running = true;
        reports = 0;
    }

    @SuppressWarnings("ReferenceEquality") // the same object must not suppress itself
    void report(Poller.Target target, int events) {
        reports++;
        try {
            target.ready(events);
        } catch (RuntimeException | Error t) {
            if (thrown == null) {
                thrown = t;
            } else if (thrown != t) {
                thrown.addSuppressed(t);
            }
        }
    }

    /** Always to be called after {@link #begin()}, also when the poll itself failed. */
    void end() {
        running = false;
    }

    /** The number of reports since {@link #begin()}, or what the first target threw. */
    int result() {
        Throwable t = thrown;
        if (t != null) {
            thrown = null;
            if (t instanceof Error e) {
                throw e;
            }
            throw (RuntimeException) t;
        }
        return reports;
    }
}
