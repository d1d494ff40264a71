package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How long it takes from a set in another thread until the waiting task of an idle loop runs. */
final class WakeBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final double P50_GOAL = 1.10;
    private static final double P99_GOAL = 1.25;
    private static final double SPIN_P50_US = 1;
    private static final double SPIN_P99_US = 5;

    @Override
    public String name() {
        return "wake";
    }

    @Override
    public String description() {
        return "another thread, after 0.5 to 2 ms of quiet, sets a flag that a task waits for: µs until the task runs";
    }

    @Override
    public void run(Context context) throws Exception {
        long count = context.pick(1_000, 400);
        List<Contender> who =
                context.with(List.of(Contender.FASTIO, Contender.EVENTFD, Contender.PARK), Contender.PEERS);
        try (Session session = new Session(context, who, List.of())) {
            Map<Contender, List<Reading>> block = session.measure("wake " + count, 1, LIMIT);
            List<Reading> limit = block.getOrDefault(Contender.EVENTFD, List.of());
            block.forEach((contender, list) -> {
                boolean own = contender == Contender.FASTIO;
                double p50 = own ? Session.percentiles(limit, 50).median() : Double.NaN;
                double p99 = own ? Session.percentiles(limit, 99).median() : Double.NaN;
                report(context, "BLOCK", contender.who(), list, p50, P50_GOAL, p99, P99_GOAL);
            });
            session.measure("wake_watching " + count, 1, LIMIT).forEach((contender, list) -> {
                double p50 = Session.percentiles(limit, 50).median();
                double p99 = Session.percentiles(limit, 99).median();
                report(context, "BLOCK, server open", contender.who(), list, p50, P50_GOAL, p99, P99_GOAL);
            });
            session.measure("wake_spin " + count, 1, LIMIT).forEach((contender, list) -> {
                boolean own = contender == Contender.FASTIO;
                double p50 = own ? SPIN_P50_US : Double.NaN;
                double p99 = own ? SPIN_P99_US : Double.NaN;
                report(context, "SPIN", own ? contender.who() : "limit", list, p50, 1, p99, 1);
            });
            session.measure("wake_tick " + count, 1, LIMIT)
                    .forEach((contender, list) ->
                            report(context, "1 ms tick", contender.who(), list, Double.NaN, 0, Double.NaN, 0));
        }
        Optional<Path> program = context.launcher().program("wake");
        if (program.isEmpty()) {
            context.note("C eventfd: no gcc here, left out");
            return;
        }
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < context.reps(); i++) {
            try (Child child = new Child("C eventfd", List.of(program.get().toString(), Long.toString(count)))) {
                readings.add(child.await("wake", LIMIT));
            }
        }
        report(context, "BLOCK", "c-eventfd", readings, Double.NaN, 0, Double.NaN, 0);
    }

    private void report(
            Context context,
            String caseName,
            String who,
            List<Reading> readings,
            double p50Reference,
            double p50Goal,
            double p99Reference,
            double p99Goal) {
        Result p50 = Result.of(name(), caseName, who, "wake_p50", "us", Session.percentiles(readings, 50));
        Result p99 = Result.of(name(), caseName, who, "wake_p99", "us", Session.percentiles(readings, 99));
        context.emit(Double.isNaN(p50Reference) ? p50 : p50.against(p50Reference, p50Goal));
        context.emit(Double.isNaN(p99Reference) ? p99 : p99.against(p99Reference, p99Goal));
        Samples all = Session.all(readings);
        context.distribution(name(), caseName, who, "us", all);
    }
}
