package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;

/** What background tasks cost a program that computes and calls {@code checkpoint()} once a pass. */
final class BackgroundBenchmark implements Benchmark {
    private static final double GOAL = 1.005;
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final double STREAM_GOAL = 1.01;
    private static final String STREAM = "100-byte round trips, 3 tasks";
    private static final String CASE = "3 tasks, 1 ms tick";

    @Override
    public String name() {
        return "background";
    }

    @Override
    public String description() {
        return "a program of about 1 µs a pass, checkpoint() after each, three background tasks: ns per pass";
    }

    @Override
    public void run(Context context) throws Exception {
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            List<Reading> readings = session.measure("background " + context.pick(60, 30), 1, LIMIT)
                    .getOrDefault(Contender.FASTIO, List.of());
            context.emit(figure("limit", "pass", "ns", readings, "alone_ns"));
            // Less than a per cent is at stake: judged is the median of the ratios of neighbouring slices of 20 ms.
            // What
            // that ratio is between two slices without tasks shows what such a figure is worth on this machine.
            context.emit(figure("limit", "ratio", "", readings, "alone_ratio"));
            context.emit(figure("fastio", "pass", "ns", readings, "ticked_ns")
                    .judgedBy(Session.values(readings, "ticked_ratio").median(), GOAL));
            context.emit(figure("run at every checkpoint", "pass", "ns", readings, "always_ns"));
            context.emit(figure("run at every checkpoint", "ratio", "", readings, "always_ratio"));
            context.emit(figure("fastio", "ratio", "", readings, "ticked_ratio"));
            context.emit(figure("checkpoints alone", "ratio", "", readings, "checkpoint_ratio"));
            context.emit(figure("fastio", "runs_per_ms", "", readings, "runs_per_ms"));
            stream(context, session);
        }
    }

    /** A stream whose both ends are on the loop: what the background tasks take of its throughput. */
    private void stream(Context context, Session session) throws Exception {
        List<Reading> readings = session.measure("background_stream " + context.pick(60, 30), 1, LIMIT)
                .getOrDefault(Contender.FASTIO, List.of());
        context.emit(Result.of(name(), STREAM, "limit", "round_trip", "ns", Session.values(readings, "alone_ns")));
        context.emit(Result.of(name(), STREAM, "limit", "ratio", "", Session.values(readings, "alone_ratio")));
        Samples ratios = Session.values(readings, "ticked_ratio");
        context.emit(Result.of(name(), STREAM, "fastio", "round_trip", "ns", Session.values(readings, "ticked_ns"))
                .judgedBy(ratios.median(), STREAM_GOAL));
        context.emit(Result.of(name(), STREAM, "fastio", "ratio", "", ratios));
        context.emit(Result.of(name(), STREAM, "fastio", "runs_per_ms", "", Session.values(readings, "runs_per_ms")));
    }

    private Result figure(String who, String metric, String unit, List<Reading> readings, String value) {
        Samples values = Session.values(readings, value);
        return Result.of(name(), CASE, who, metric, unit, values);
    }
}
