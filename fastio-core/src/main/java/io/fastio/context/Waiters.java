package io.fastio.context;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Those who wait for something that whoever comes first may take: tasks of any loop and foreign threads alike. A wake goes
 * to the one that has waited longest and hands nothing over; it tries again itself. Whoever is woken and will not try
 * passes the wake on, so none is lost (C6). Takes no lock of the JDK.
 */
final class Waiters {
    private final ConcurrentLinkedDeque<Waiter> queue = new ConcurrentLinkedDeque<>();

    /**
     * Waits until {@code attempt} succeeds.
     *
     * @param clock on whose time {@code deadline} is
     * @param interruptible whether an interrupt of a thread that is no task ends the wait; it is kept
     * @return false if the deadline passed, or the thread was interrupted
     * @throws io.fastio.CancelledError if the task was cancelled; the attempt has not succeeded
     */
    boolean await(BooleanSupplier attempt, LongSupplier clock, long deadline, boolean interruptible) {
        Waiter.begin();
        if (attempt.getAsBoolean()) {
            return true;
        }
        boolean overtaken = false;
        while (true) {
            Waiter w = new Waiter();
            if (overtaken) {
                queue.addFirst(w); // it keeps its place
            } else {
                queue.addLast(w);
                overtaken = true;
            }
            boolean succeeded = false;
            boolean woken = false;
            try {
                succeeded = attempt.getAsBoolean(); // after the enqueuing: what came before it need not have seen us
                woken = succeeded || w.await(clock, deadline, interruptible);
            } finally {
                if (succeeded || !woken) {
                    queue.remove(w);
                    if (w.isGranted()) {
                        wakeNext();
                    }
                }
            }
            if (succeeded || !woken) {
                return succeeded;
            }
            if (attempt.getAsBoolean()) {
                return true;
            }
        }
    }

    /** There may be something for one of them. Any thread. */
    void wakeNext() {
        for (Waiter w = queue.pollFirst(); w != null && !w.grant(); ) {
            w = queue.pollFirst();
        }
    }

    /** There is something for all of them. Any thread. */
    void wakeAll() {
        for (Waiter w = queue.pollFirst(); w != null; w = queue.pollFirst()) {
            w.grant();
        }
    }
}
