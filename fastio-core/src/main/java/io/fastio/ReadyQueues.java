package io.fastio;

import org.jspecify.annotations.Nullable;

/**
 * What is ready to run, by class of service. First in, first out within a class (S2); URGENT entries with a deadline
 * come before those without, earliest deadline first (S6). Loop only; every operation is O(1) but for deadlines,
 * O(log n).
 */
final class ReadyQueues {
    static final byte NONE = -1;
    static final byte URGENT = 0;
    static final byte NORMAL = 1;
    static final byte LOW = 2;
    static final byte DEADLINE = 3;

    /** Background work, which goes between any two steps (B1). */
    static final byte BETWEEN = 4;

    private final Fifo urgent = new Fifo();
    private final Fifo normal = new Fifo();
    private final Fifo low = new Fifo();
    private final Fifo between = new Fifo();
    private final TimerQueue deadlines = new TimerQueue();

    private static final class Fifo {
        @Nullable
        Entry first;

        @Nullable
        Entry last;

        int size;
    }

    /** Appends {@code e}, which is in no queue, to class {@code c}. */
    void add(Entry e, byte c) {
        Fifo q = queue(c);
        Entry last = q.last;
        e.previousReady = last;
        if (last == null) {
            q.first = e;
        } else {
            last.nextReady = e;
        }
        q.last = e;
        q.size++;
        e.readyIn = c;
    }

    /** Adds {@code e}, which is in no queue, to the URGENT ones with a deadline, at {@link Entry#due}. */
    void addDeadline(Entry e) {
        deadlines.add(e);
        e.readyIn = DEADLINE;
    }

    /** Puts {@code e}, which is in no queue, before all others of class {@code c}: it keeps its place (B4). */
    void addFirst(Entry e, byte c) {
        Fifo q = queue(c);
        Entry first = q.first;
        e.nextReady = first;
        if (first == null) {
            q.last = e;
        } else {
            first.previousReady = e;
        }
        q.first = e;
        q.size++;
        e.readyIn = c;
    }

    /** Takes {@code e}, which is in one of the queues, out of it. */
    void remove(Entry e) {
        if (e.readyIn == DEADLINE) {
            deadlines.remove(e);
            e.readyIn = NONE;
            return;
        }
        Fifo q = queue(e.readyIn);
        Entry previous = e.previousReady;
        Entry next = e.nextReady;
        if (previous == null) {
            q.first = next;
        } else {
            previous.nextReady = next;
            e.previousReady = null;
        }
        if (next == null) {
            q.last = previous;
        } else {
            next.previousReady = previous;
            e.nextReady = null;
        }
        q.size--;
        e.readyIn = NONE;
    }

    private Fifo queue(byte c) {
        return c == NORMAL ? normal : c == URGENT ? urgent : c == LOW ? low : between;
    }

    @Nullable
    Entry firstUrgent() {
        return deadlines.isEmpty() ? urgent.first : (Entry) deadlines.first();
    }

    @Nullable
    Entry firstNormal() {
        return normal.first;
    }

    @Nullable
    Entry firstLow() {
        return low.first;
    }

    @Nullable
    Entry firstBetween() {
        return between.first;
    }

    /** Whether anything stands in the other queues. */
    boolean hasMoreThanBetween() {
        return normal.first != null || urgent.first != null || low.first != null || !deadlines.isEmpty();
    }

    int betweenSize() {
        return between.size;
    }

    int urgentSize() {
        return urgent.size + deadlines.size();
    }

    int normalSize() {
        return normal.size;
    }

    int lowSize() {
        return low.size;
    }

    boolean isEmpty() {
        return normal.first == null
                && urgent.first == null
                && low.first == null
                && between.first == null
                && deadlines.isEmpty();
    }
}
