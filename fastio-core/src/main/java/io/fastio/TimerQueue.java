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
        siftUp(size++, t);
    }

    /** Takes {@code t}, which is in this queue, out. */
    void remove(Timed t) {
        int i = t.place;
        t.place = -1;
        Timed last = at(--size);
        entries[size] = null;
        if (last != t) {
            if (i > 0 && before(last, at((i - 1) >> 2))) {
                siftUp(i, last);
            } else {
                siftDown(i, last);
            }
        }
        if (dues.length > SMALLEST && size < dues.length >> 2) {
            resize(dues.length >> 1);
        }
    }

    private Timed at(int i) {
        return Objects.requireNonNull(entries[i]);
    }

    private static boolean before(Timed a, Timed b) {
        return a.due < b.due || (a.due == b.due && a.order < b.order);
    }

    private void put(int i, Timed t) {
        dues[i] = t.due;
        entries[i] = t;
        t.place = i;
    }

    private void siftUp(int i, Timed t) {
        while (i > 0) {
            int parent = (i - 1) >> 2;
            if (dues[parent] < t.due || !before(t, at(parent))) {
                break;
            }
            put(i, at(parent));
            i = parent;
        }
        put(i, t);
    }

    private void siftDown(int i, Timed t) {
        while (true) {
            int child = (i << 2) + 1;
            if (child >= size) {
                break;
            }
            int best = child;
            for (int c = child + 1, end = Math.min(child + 4, size); c < end; c++) {
                if (dues[c] < dues[best] || (dues[c] == dues[best] && at(c).order < at(best).order)) {
                    best = c;
                }
            }
            if (t.due < dues[best] || !before(at(best), t)) {
                break;
            }
            put(i, at(best));
            i = best;
        }
        put(i, t);
    }

    private void resize(int capacity) {
        dues = Arrays.copyOf(dues, capacity);
        entries = Arrays.copyOf(entries, capacity);
    }
}
