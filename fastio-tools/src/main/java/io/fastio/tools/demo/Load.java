package io.fastio.tools.demo;

import java.time.Duration;

/**
 * What every case has to serve: ten tasks that hog the processor and give way after every piece of work, three periodic
 * timers, a task of least importance that counts its steps, and an echo server whose client is another process. The
 * numbers are those of fast_io's documents.
 */
final class Load {
    static final int HOGS = 10;
    static final int TIMERS = 3;
    static final long TIMER_MILLIS = 30;

    /** Longest pause of the client between a reply and the next request, so that it hits a hog's work anywhere. */
    static final Duration LONGEST_PAUSE = Duration.ofMillis(10);

    /** Round trips of the client before the hogs start, for both just-in-time compilers. */
    static final int WARM_UP_REQUESTS = 3_000;

    /** A piece of a hog's work that calls {@code checkpoint()}, in nanoseconds: about a thousand calls a millisecond. */
    private static final long SLICE = 1_000;

    private Load() {}

    /** What is measured while the hogs work for so long at a time. */
    enum Phase {
        TIMERS(Duration.ofMillis(10)),
        ECHO(Duration.ofMillis(4));

        private final Duration hogging;

        Phase(Duration hogging) {
            this.hogging = hogging;
        }

        /** How long a hog works between two waits. */
        Duration hogging() {
            return hogging;
        }
    }

    /** Keeps the processor busy for so long. */
    static void hog(Duration time, Gaps gaps) {
        hog(time, gaps, () -> {});
    }

    /** Keeps the processor busy for so long, and calls {@code betweenSlices} about once a microsecond. */
    static void hog(Duration time, Gaps gaps, Runnable betweenSlices) {
        long end = System.nanoTime() + time.toNanos();
        long now = gaps.start();
        while (now - end < 0) {
            long sliceEnd = now + SLICE;
            do {
                now = gaps.look();
            } while (now - sliceEnd < 0);
            betweenSlices.run();
            now = gaps.start();
        }
    }
}
