package io.fastio.tools.demo;

/**
 * How long a thread that looks at the clock all the time was kept from it at most: by other programs, by the host of a
 * virtual machine, by its JVM. No scheduler inside the process can answer while that lasts. One thread at a time.
 */
final class Gaps {
    private long last;
    private long longest;

    /** Begins to look, or begins again after something that may take its time. */
    long start() {
        last = System.nanoTime();
        return last;
    }

    /** {@link System#nanoTime()}, and a note of how far it is from the look before. */
    long look() {
        long now = System.nanoTime();
        longest = Math.max(longest, now - last);
        last = now;
        return now;
    }

    /** Nanoseconds of the longest gap since the last call of this method, or the beginning. */
    long takeLongest() {
        long nanos = longest;
        longest = 0;
        return nanos;
    }
}
