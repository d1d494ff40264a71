package io.fastio;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is due when: earliest first, equal times in order of insertion (S2). Loop only.
 *
 * <p>A 4-ary heap of numbers. Each entry has a slot for as long as it is in; the heap holds due times and, beside them,
 * slots, and {@link #places} tells where in the heap a slot stands. So a sift moves numbers between three dense arrays and
 * touches no entry: with very many timers those are anywhere in memory, and noting its place in each one that moves cost
 * more than all the rest, as did the collector's card marks. Taking an entry out is a sift, O(log n), and leaves nothing
 * behind (S9); the arrays shrink when three quarters of them are free. Four children per node halve the depth of a binary
 * heap and fit one cache line of keys (LaMarca and Ladner, "The Influence of Caches on the Performance of Heaps", 1996).
 *
 * <pre>
 *   place in the heap   0 1 2 ... size-1 | size ... capacity-1
 *   dues                due times        | unused
 *   slots               of the entries   | free slots            (always a permutation of all slots)
 *
 *   slot                0 1 2 ... capacity-1
 *   places              where it stands in slots
 *   entries             who has it, or null
 * </pre>
 */
final class TimerQueue {
    private static final int SMALLEST = 16;

    private long[] dues = new long[SMALLEST];
    private int[] slots = new int[SMALLEST];
    private int[] places = new int[SMALLEST];
    private @Nullable Timed[] entries = new Timed[SMALLEST];
    private int size;
    private long order;

    TimerQueue() {
        for (int i = 0; i < SMALLEST; i++) {
            slots[i] = i;
            places[i] = i;
        }
    }

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
        return Objects.requireNonNull(entries[slots[0]]);
    }

    /** Adds {@code t}, which is in no queue, by its {@link Timed#due}. */
    void add(Timed t) {
        if (size == dues.length) {
            resize(size * 2);
        }
        t.order = order++;
        siftUp(size, slots[size], t);
        size++;
    }

    /** Takes {@code t}, which is in this queue, out. */
    @SuppressWarnings("NullAway") // every slot below size is taken
    void remove(Timed t) {
        int slot = t.slot;
        int i = places[slot];
        int end = size - 1;
        if (i != end) {
            int lastSlot = slots[end];
            Timed last = entries[lastSlot];
            int parent = (i - 1) >> 2;
            boolean up = i > 0
                    && (last.due < dues[parent]
                            || last.due == dues[parent] && last.order < entries[slots[parent]].order);
            if (up) {
                siftUp(i, lastSlot, last);
            } else {
                siftDown(i, lastSlot, last, end);
            }
            slots[end] = slot;
            places[slot] = end;
        }
        size = end;
        entries[slot] = null;
        t.slot = -1;
        if (dues.length > SMALLEST && size < dues.length >> 2) {
            resize(dues.length >> 1);
        }
    }

    // The queue must hold together also where the stack of a task overflows, which it can wherever a method is called:
    // so these two call none, and the last one calls none once it has begun to change anything.

    @SuppressWarnings("NullAway") // as above
    private void siftUp(int place, int slot, Timed t) {
        long due = t.due;
        long[] d = dues;
        int[] s = slots;
        int[] p = places;
        int i = place;
        while (i > 0) {
            int parent = (i - 1) >> 2;
            if (d[parent] < due || d[parent] == due && entries[s[parent]].order <= t.order) {
                break;
            }
            d[i] = d[parent];
            s[i] = s[parent];
            p[s[i]] = i;
            i = parent;
        }
        d[i] = due;
        s[i] = slot;
        p[slot] = i;
        entries[slot] = t;
        t.slot = slot;
    }

    @SuppressWarnings("NullAway") // as above
    private void siftDown(int place, int slot, Timed t, int n) {
        long due = t.due;
        long[] d = dues;
        int[] s = slots;
        int[] p = places;
        int i = place;
        while (true) {
            int child = (i << 2) + 1;
            if (child >= n) {
                break;
            }
            int best = child;
            int end = child + 4 < n ? child + 4 : n;
            for (int c = child + 1; c < end; c++) {
                if (d[c] < d[best] || d[c] == d[best] && entries[s[c]].order < entries[s[best]].order) {
                    best = c;
                }
            }
            if (due < d[best] || due == d[best] && t.order <= entries[s[best]].order) {
                break;
            }
            d[i] = d[best];
            s[i] = s[best];
            p[s[i]] = i;
            i = best;
        }
        d[i] = due;
        s[i] = slot;
        p[slot] = i;
    }

    /** Gives each entry the slot of its place, so that those in use are the first ones whatever the new size. */
    @SuppressWarnings("NullAway") // as above
    private void resize(int capacity) {
        long[] d = Arrays.copyOf(dues, capacity);
        int[] s = new int[capacity];
        int[] p = new int[capacity];
        @Nullable Timed[] e = new Timed[capacity];
        for (int i = 0; i < capacity; i++) {
            s[i] = i;
            p[i] = i;
        }
        for (int i = 0; i < size; i++) {
            e[i] = entries[slots[i]];
            e[i].slot = i;
        }
        dues = d;
        slots = s;
        places = p;
        entries = e;
    }
}
