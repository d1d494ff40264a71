package io.fastio.benchmarks.subject;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.context.BackgroundTasks;
import io.fastio.context.BackgroundTasks.Registration;
import io.fastio.context.BackgroundTasks.When;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** A CPU-bound program, or a stream, with background tasks beside it, and what they cost it. */
final class FastioBackground {
    private static final int TASKS = 3;
    private static final long SLICE_NANOS = 20_000_000;
    private static final int PASSES_PER_LOOK = 200;
    private static final int WARM_UP_ROUNDS = 10;
    private static final int STREAM_BYTES = 100;

    private final Pystone program = new Pystone();
    private final List<Chore> chores = new ArrayList<>();
    private long sink;
    private long ticksNanos;

    private FastioBackground() {
        for (int i = 0; i < TASKS; i++) {
            chores.add(new Chore());
        }
    }

    /** What a background task does: a few hundred nanoseconds, as looking after a display or a queue would take. */
    private static final class Chore implements Runnable {
        private final int[] state = new int[64];
        private boolean ticked;
        private long runsInTicks;

        @Override
        public void run() {
            for (int i = 1; i < state.length; i++) {
                state[i] = state[i - 1] * 31 + i;
            }
            state[0] = state[state.length - 1];
            runsInTicks += ticked ? 1 : 0;
        }
    }

    /**
     * Three slices of the program in turn, the middle one ticked, then one with checkpoints and nothing to do at them, and
     * one with all tasks run after every pass.
     */
    static Reading measure(int rounds) throws Exception {
        return Asyncio.run(() -> new FastioBackground().program(rounds));
    }

    /** Round trips over a stream of which both ends are on the loop, without and with background tasks, in turn. */
    static Reading stream(int rounds) throws Exception {
        return Asyncio.run(() -> new FastioBackground().served(rounds));
    }

    private Reading program(int rounds) throws Exception {
        Slices plain = new Slices(rounds);
        Slices ticked = new Slices(rounds);
        Slices quiet = new Slices(rounds);
        Slices always = new Slices(rounds);
        for (int i = -WARM_UP_ROUNDS; i < rounds; i++) {
            double before = passes(false, false);
            double between = withTicks(() -> passes(true, false));
            double after = passes(false, false);
            double checkpoints = passes(true, false);
            double all = passes(false, true);
            if (i >= 0) {
                plain.add(after, before);
                ticked.add(between, (before + after) / 2);
                quiet.add(checkpoints, (before + after) / 2);
                always.add(all, (before + after) / 2);
            }
        }
        return Reading.of(Map.of(
                "alone_ns", plain.nanos(),
                "ticked_ns", ticked.nanos(),
                "always_ns", always.nanos(),
                "alone_ratio", plain.ratio(),
                "ticked_ratio", ticked.ratio(),
                "checkpoint_ratio", quiet.ratio(),
                "always_ratio", always.ratio(),
                "runs_per_ms", chores.getFirst().runsInTicks * 1e6 / ticksNanos,
                "sink", sink * 1e-9));
    }

    private Reading served(int rounds) throws Exception {
        Slices plain = new Slices(rounds);
        Slices ticked = new Slices(rounds);
        byte[] message = new byte[STREAM_BYTES];
        try (Server server = Streams.startServer(FastioBackground::echo, "127.0.0.1", 0);
                Stream stream = Streams.openConnection("127.0.0.1", server.port())) {
            Callable<Double> trips = () -> slice(() -> {
                stream.write(message);
                for (int n = 0; n < message.length; ) {
                    n += stream.readInto(message, n, message.length - n);
                }
            });
            for (int i = -WARM_UP_ROUNDS; i < rounds; i++) {
                double before = trips.call();
                double between = withTicks(trips);
                double after = trips.call();
                if (i >= 0) {
                    plain.add(after, before);
                    ticked.add(between, (before + after) / 2);
                }
            }
        }
        return Reading.of(Map.of(
                "alone_ns", plain.nanos(),
                "ticked_ns", ticked.nanos(),
                "alone_ratio", plain.ratio(),
                "ticked_ratio", ticked.ratio(),
                "runs_per_ms", chores.getFirst().runsInTicks * 1e6 / ticksNanos));
    }

    private static void echo(StreamReader reader, StreamWriter writer) throws Exception {
        byte[] message = new byte[STREAM_BYTES];
        while (true) {
            int n = reader.readInto(message);
            if (n < 0) {
                return;
            }
            writer.write(message, 0, n);
        }
    }

    /** The result of {@code slice}, with the background tasks running once a tick meanwhile. */
    private double withTicks(Callable<Double> slice) throws Exception {
        BackgroundTasks background = BackgroundTasks.of(Asyncio.runningLoop());
        List<Registration> registrations = new ArrayList<>();
        for (Chore chore : chores) {
            chore.ticked = true;
            registrations.add(background.add(chore, When.EVERY_TICK));
        }
        long start = System.nanoTime();
        double result = slice.call();
        ticksNanos += System.nanoTime() - start;
        registrations.forEach(Registration::close);
        chores.forEach(chore -> chore.ticked = false);
        return result;
    }

    /**
     * Nanoseconds per pass. One method for all kinds of slices: two copies of the same program, compiled one after the
     * other, differ by more than what is measured here.
     */
    private double passes(boolean checkpoints, boolean all) {
        long start = System.nanoTime();
        long passes = 0;
        long now;
        do {
            for (int i = 0; i < PASSES_PER_LOOK; i++) {
                sink += program.pass();
                if (checkpoints) {
                    Asyncio.checkpoint();
                }
                if (all) {
                    for (Chore chore : chores) {
                        chore.run();
                    }
                }
            }
            passes += PASSES_PER_LOOK;
            now = System.nanoTime();
        } while (now - start < SLICE_NANOS);
        return (now - start) / (double) passes;
    }

    private static double slice(Action operation) throws Exception {
        long start = System.nanoTime();
        long count = 0;
        long now;
        do {
            operation.run();
            count++;
            now = System.nanoTime();
        } while (now - start < SLICE_NANOS);
        return (now - start) / (double) count;
    }

    /** Nanoseconds per operation in each of the slices, and how each compares with its neighbours. */
    private static final class Slices {
        private final double[] nanos;
        private final double[] ratios;
        private int size;

        Slices(int rounds) {
            nanos = new double[rounds];
            ratios = new double[rounds];
        }

        void add(double value, double neighbours) {
            nanos[size] = value;
            ratios[size++] = value / neighbours;
        }

        double nanos() {
            return Samples.of(nanos).median();
        }

        double ratio() {
            return Samples.of(ratios).median();
        }
    }
}
