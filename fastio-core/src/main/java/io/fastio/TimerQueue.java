package io.fastio;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is due when: earliest first, equal times in order of insertion (S2). Loop only.
 *
 * <p>A 4-ary heap. The due times stand in an array of their own beside the entries, so that a sift compares four
 * neighbouring longs and touches an entry only to note its place. An entry knows its place: taking one out is a sift,
 * O(log n), and leaves nothing behind (S9); the arrays shrink when three quarters of them are free. Four children per
 * node halve the depth of a binary heap and fit one cache line of keys (LaMarca and Ladner, "The Influence of Caches on
 * the Performance of Heaps", 1996).
 */
final class TimerQueue {
    private static final int SMALLEST = 16;

    private long[] dues = new long[SMALLEST];
    private @Nullable Timed[] entries = new Timed[SMALLEST];
    private int size;
    private long order;

    int size() {
        return size;
    }

    /** For how many entries there is room; follows the size down too (S9). */
    int capacity() {
        return dues.length;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** When the first one is due; {@link Long#MAX_VALUE}, "never", if there is none. */
    long nextDue() {
        return size == 0 ? Long.MAX_VALUE : dues[0];
    }

    Timed first() {
        return at(0);
    }

    /** Adds {@code t}, which is in no queue, by its {@link Timed#due}. */
    void add(Timed t) {
        if (size == dues.length) {
            resize(size * 2);
        }
        t.order = order++;
        siftUp(size, t);
        size++;
    }

    /** Takes {@code t}, which is in this queue, out. */
    @SuppressWarnings("NullAway") // every place below size is taken
    void remove(Timed t) {
        int i = t.place;
        int end = size - 1;
        Timed last = entries[end];
        if (last != t) {
            int parent = (i - 1) >> 2;
            boolean up = i > 0
                    && (last.due < dues[parent] || last.due == dues[parent] && last.order < entries[parent].order);
            if (up) {
                siftUp(i, last);
            } else {
                siftDown(i, last, end);
            }
        }
        size = end;
        entries[end] = null;
        t.place = -1;
        if (dues.length > SMALLEST && size < dues.length >> 2) {
            resize(dues.length >> 1);
        }
    }

    private Timed at(int i) {
        return Objects.requireNonNull(entries[i]);
    }

    // The queue must hold together also where the stack of a task overflows, which it can wherever a method is called:
    // so
    // these two call none.

    @SuppressWarnings("NullAway") // every place below size is taken
    private void siftUp(int i, Timed t) {
        long due = t.due;
        long[] d = dues;
        @Nullable Timed[] e = entries;
        while (i > 0) {
            int parent = (i - 1) >> 2;
            Timed p = e[parent];
            if (d[parent] < due || d[parent] == due && p.order <= t.order) {
                break;
            }
            d[i] = d[parent];
            e[i] = p;
            p.place = i;
            i = parent;
        }
        d[i] = due;
        e[i] = t;
        t.place = i;
    }

    @SuppressWarnings("NullAway") // as above
    private void siftDown(int i, Timed t, int n) {
        long due = t.due;
        long[] d = dues;
        @Nullable Timed[] e = entries;
        while (true) {
            int child = (i << 2) + 1;
            if (child >= n) {
                break;
            }
            int best = child;
            int end = child + 4 < n ? child + 4 : n;
            for (int c = child + 1; c < end; c++) {
                if (d[c] < d[best] || d[c] == d[best] && e[c].order < e[best].order) {
                    best = c;
                }
            }
            Timed b = e[best];
            if (due < d[best] || due == d[best] && t.order <= b.order) {
                break;
            }
            d[i] = d[best];
            e[i] = b;
            b.place = i;
            i = best;
        }
        d[i] = due;
        e[i] = t;
        t.place = i;
    }

    private void resize(int capacity) {
        dues = Arrays.copyOf(dues, capacity);
        entries = Arrays.copyOf(entries, capacity);
    }
}
