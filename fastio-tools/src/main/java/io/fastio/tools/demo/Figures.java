package io.fastio.tools.demo;

import java.util.Arrays;
import java.util.Optional;

/**
 * How a number of measured times are spread, in nanoseconds.
 *
 * @param n how many there were, at least one
 */
record Figures(long median, long p99, long max, int n) {
    /** The figures of these times; empty where nothing came. */
    static Optional<Figures> of(long[] nanos) {
        if (nanos.length == 0) {
            return Optional.empty();
        }
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return Optional.of(
                new Figures(quantile(sorted, 0.5), quantile(sorted, 0.99), sorted[sorted.length - 1], sorted.length));
    }

    /** The smallest value that is not exceeded by the given share of all. */
    private static long quantile(long[] sorted, double share) {
        return sorted[(int) Math.ceil(share * sorted.length) - 1];
    }
}
