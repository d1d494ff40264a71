package io.fastio.tools.demo;

import java.util.Arrays;

/** Measured times in nanoseconds, as many as come; one thread at a time. */
final class Samples {
    private long[] values = new long[1024];
    private int size;

    void add(long nanos) {
        if (size == values.length) {
            values = Arrays.copyOf(values, 2 * size);
        }
        values[size++] = nanos;
    }

    long[] toArray() {
        return Arrays.copyOf(values, size);
    }
}
