package io.fastio.sync;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** What a queue holds, and in which order it gives it out. Grows as needed; allocates nothing else. Loop only. */
sealed interface Store<T> {
    void add(T item);

    /** Takes the next one out; there must be one. */
    T take();

    /** The next one, which stays; there must be one. */
    T peek();

    int size();

    /** First in, first out; a ring. */
    final class Fifo<T> implements Store<T> {
        private @Nullable Object[] items = new Object[16];
        private int head;
        private int size;

        @Override
        public void add(T item) {
            if (size == items.length) {
                Object[] bigger = new Object[2 * size];
                System.arraycopy(items, head, bigger, 0, size - head);
                System.arraycopy(items, 0, bigger, size - head, head);
                items = bigger;
                head = 0;
            }
            items[(head + size++) & (items.length - 1)] = item;
        }

        @Override
        public T take() {
            T item = peek();
            items[head] = null;
            head = (head + 1) & (items.length - 1);
            size--;
            return item;
        }

        @Override
        @SuppressWarnings({"unchecked", "NullAway"}) // between head and head + size there are only items
        public T peek() {
            return (T) items[head];
        }

        @Override
        public int size() {
            return size;
        }
    }

    /** Last in, first out. */
    final class Lifo<T> implements Store<T> {
        private @Nullable Object[] items = new Object[16];
        private int size;

        @Override
        public void add(T item) {
            if (size == items.length) {
                items = java.util.Arrays.copyOf(items, 2 * size);
            }
            items[size++] = item;
        }

        @Override
        public T take() {
            T item = peek();
            items[--size] = null;
            return item;
        }

        @Override
        @SuppressWarnings({"unchecked", "NullAway"}) // below size there are only items
        public T peek() {
            return (T) items[size - 1];
        }

        @Override
        public int size() {
            return size;
        }
    }

    /** Least first, equal ones first in, first out; a binary heap. */
    final class Least<T> implements Store<T> {
        private final Comparator<? super T> order;
        private @Nullable Object[] items = new Object[16];
        private long[] arrivals = new long[16];
        private long arrived;
        private int size;

        Least(Comparator<? super T> order) {
            this.order = order;
        }

        @Override
        public void add(T item) {
            if (size == items.length) {
                items = java.util.Arrays.copyOf(items, 2 * size);
                arrivals = java.util.Arrays.copyOf(arrivals, 2 * size);
            }
            int place = size;
            while (place > 0 && order.compare(item, at((place - 1) >> 1)) < 0) {
                place = (place - 1) >> 1;
            }
            for (int i = size++; i > place; i = (i - 1) >> 1) { // nothing moves before the comparator has had its say
                move((i - 1) >> 1, i);
            }
            items[place] = item;
            arrivals[place] = arrived++;
        }

        @Override
        public T take() {
            T least = at(0);
            int last = size - 1;
            T item = at(last);
            long arrival = arrivals[last];
            int i = 0;
            for (int child = 1; child < last; child = 2 * i + 1) {
                if (child + 1 < last && before(at(child + 1), arrivals[child + 1], child)) {
                    child++;
                }
                if (before(item, arrival, child)) {
                    break;
                }
                move(child, i);
                i = child;
            }
            items[i] = item;
            arrivals[i] = arrival;
            items[last] = null;
            size = last;
            return least;
        }

        @Override
        public T peek() {
            return at(0);
        }

        @Override
        public int size() {
            return size;
        }

        private boolean before(T item, long arrival, int i) {
            int c = order.compare(item, at(i));
            return c < 0 || c == 0 && arrival < arrivals[i];
        }

        private void move(int from, int to) {
            items[to] = items[from];
            arrivals[to] = arrivals[from];
        }

        @SuppressWarnings({"unchecked", "NullAway"}) // below size there are only items
        private T at(int i) {
            return (T) items[i];
        }
    }
}
