package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TimerQueueTest {
    private final TimerQueue queue = new TimerQueue();

    private static final class Item extends Timed {
        Item(long due) {
            this.due = due;
        }

        @Override
        void timeReached() {
            throw new AssertionError("nobody runs this queue");
        }

        @Override
        void deliver(int signals) {
            throw new AssertionError("nobody posts this entry");
        }
    }

    /** Grows and shrinks over and over, with few different due times, and compares every answer with a sorted set. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void S2_itIsASortedSetWhateverComesAndGoes(int seed) {
        Random random = new Random(seed);
        TreeSet<Timed> model =
                new TreeSet<>(Comparator.<Timed>comparingLong(t -> t.due).thenComparingLong(t -> t.order));
        List<Timed> in = new ArrayList<>();
        int range = seed % 2 == 0 ? 10 : 1_000_000;
        for (int i = 0; i < 20_000; i++) {
            boolean growing = i / 2_500 % 2 == 0;
            if (in.isEmpty() || random.nextInt(10) < (growing ? 7 : 3)) {
                Item e = new Item(random.nextInt(range));
                queue.add(e);
                assertThat(model.add(e)).isTrue();
                in.add(e);
            } else if (random.nextBoolean()) {
                Timed first = queue.first();
                assertThat(first).isSameAs(model.first());
                queue.remove(first);
                model.remove(first);
                in.remove(first);
            } else {
                Timed any = in.remove(random.nextInt(in.size()));
                queue.remove(any);
                assertThat(any.slot).isEqualTo(-1);
                assertThat(model.remove(any)).isTrue();
            }
            assertThat(queue.size()).isEqualTo(model.size());
            assertThat(queue.nextDue()).isEqualTo(model.isEmpty() ? Long.MAX_VALUE : model.first().due);
        }
        while (!model.isEmpty()) {
            Timed first = queue.first();
            assertThat(first).isSameAs(model.pollFirst());
            queue.remove(first);
        }
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.capacity()).isLessThanOrEqualTo(32);
    }

    @Test
    void S2_equalTimesComeInOrderOfInsertion() {
        List<Timed> entries = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Item e = new Item(7);
            entries.add(e);
            queue.add(e);
        }
        List<Timed> out = new ArrayList<>();
        while (!queue.isEmpty()) {
            out.add(queue.first());
            queue.remove(queue.first());
        }
        assertThat(out).isEqualTo(entries);
    }
}
