package io.fastio.benchmarks.subject;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/** An immutable, sorted set of measured values. Safe for any thread. Percentiles of an empty set are NaN. */
public final class Samples {
    private static final Samples NONE = new Samples(new double[0]);

    private final double[] sorted;

    private Samples(double[] sorted) {
        this.sorted = sorted;
    }

    public static Samples none() {
        return NONE;
    }

    public static Samples of(double... values) {
        double[] copy = values.clone();
        Arrays.sort(copy);
        return new Samples(copy);
    }

    /** The samples of both together. */
    public Samples plus(Samples other) {
        return of(DoubleStream.concat(values(), other.values()).toArray());
    }

    public int size() {
        return sorted.length;
    }

    public boolean isEmpty() {
        return sorted.length == 0;
    }

    /** Ascending. */
    public DoubleStream values() {
        return Arrays.stream(sorted);
    }

    public double min() {
        return percentile(0);
    }

    public double max() {
        return percentile(100);
    }

    /** The middle value; the mean of the two middle ones when their number is even. */
    public double median() {
        int n = sorted.length;
        if (n == 0) {
            return Double.NaN;
        }
        return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }

    /** Nearest rank: the smallest sample that {@code percent} (0 to 100) of all samples do not exceed. */
    public double percentile(double percent) {
        if (!(percent >= 0 && percent <= 100)) {
            throw new IllegalArgumentException("percent must be 0 to 100, was " + percent);
        }
        if (sorted.length == 0) {
            return Double.NaN;
        }
        int rank = (int) Math.ceil(percent / 100 * sorted.length);
        return sorted[Math.max(rank, 1) - 1];
    }
}
