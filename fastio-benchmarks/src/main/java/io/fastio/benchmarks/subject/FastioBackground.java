package io.fastio.benchmarks.subject;

import io.fastio.Asyncio;
import io.fastio.context.BackgroundTasks;
import io.fastio.context.BackgroundTasks.Registration;
import io.fastio.context.BackgroundTasks.When;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A CPU-bound program with background tasks beside it, and what they cost it. */
final class FastioBackground {
    private static final int TASKS = 3;
    private static final long SLICE_NANOS = 20_000_000;
    private static final int PASSES_PER_LOOK = 200;
    private static final int WARM_UP_SLICES = 10;

    private final Pystone program = new Pystone();
    private final List<Chore> chores = new ArrayList<>();
    private long sink;

    private FastioBackground() {
        for (int i = 0; i < TASKS; i++) {
            chores.add(new Chore());
        }
    }

    /** What a background task does: a few hundred nanoseconds, as looking after a display or a queue would take. */
    private static final class Chore implements Runnable {
        private final int[] state = new int[64];
        private long runs;

        @Override
        public void run() {
            for (int i = 1; i < state.length; i++) {
                state[i] = state[i - 1] * 31 + i;
            }
            state[0] = state[state.length - 1];
            runs++;
        }
    }

    private interface Slice {
        void pass();
    }

    /**
     * {@code pairs} times in turn: the program alone, with checkpoints and tasks once a tick, and with all tasks run after
     * every pass. Nanoseconds per pass each, the median of the pairs' ratios, and how often a task ran per millisecond.
     */
    static Reading measure(int pairs) throws Exception {
        return Asyncio.run(() -> new FastioBackground().run(pairs));
    }

    private Reading run(int pairs) {
        BackgroundTasks background = BackgroundTasks.of(Asyncio.runningLoop());
        double[] alone = new double[pairs];
        double[] ticked = new double[pairs];
        double[] always = new double[pairs];
        double[] tickedRatio = new double[pairs];
        double[] alwaysRatio = new double[pairs];
        long runs = 0;
        long nanos = 0;
        for (int i = -WARM_UP_SLICES; i < pairs; i++) {
            double plain = slice(() -> sink += program.pass());
            List<Registration> registrations = new ArrayList<>();
            for (Chore chore : chores) {
                registrations.add(background.add(chore, When.EVERY_TICK));
            }
            long before = chores.getFirst().runs;
            long start = System.nanoTime();
            double withTicks = slice(() -> {
                sink += program.pass();
                Asyncio.checkpoint();
            });
            nanos += System.nanoTime() - start;
            runs += chores.getFirst().runs - before;
            registrations.forEach(Registration::close);
            double withAll = slice(() -> {
                sink += program.pass();
                for (Chore chore : chores) {
                    chore.run();
                }
            });
            if (i >= 0) {
                alone[i] = plain;
                ticked[i] = withTicks;
                always[i] = withAll;
                tickedRatio[i] = withTicks / plain;
                alwaysRatio[i] = withAll / plain;
            }
        }
        return Reading.of(Map.of(
                "alone_ns", Samples.of(alone).median(),
                "ticked_ns", Samples.of(ticked).median(),
                "always_ns", Samples.of(always).median(),
                "ticked_ratio", Samples.of(tickedRatio).median(),
                "always_ratio", Samples.of(alwaysRatio).median(),
                "runs_per_ms", runs * 1e6 / nanos,
                "sink", sink * 1e-9));
    }

    private static double slice(Slice slice) {
        long start = System.nanoTime();
        long end = start + SLICE_NANOS;
        long passes = 0;
        long now;
        do {
            for (int i = 0; i < PASSES_PER_LOOK; i++) {
                slice.pass();
            }
            passes += PASSES_PER_LOOK;
            now = System.nanoTime();
        } while (now - end < 0);
        return (now - start) / (double) passes;
    }
}
