package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Three 30 ms timers beside ten tasks that block 10 ms each: when the timers really fire. */
final class TimingBenchmark implements Benchmark {
    private static final double TIMER_MS = 30;
    private static final double URGENT_MEDIAN_MS = 36;
    private static final double URGENT_MAX_MS = 40;
    private static final double NORMAL_MAX_MS = 125;
    private static final double CHECKPOINT_MAX_MS = 30.5;

    @Override
    public String name() {
        return "timing";
    }

    @Override
    public String description() {
        return "three 30 ms timers beside ten tasks that block 10 ms each: ms until a timer's task runs";
    }

    @Override
    public void run(Context context) throws Exception {
        long millis = context.pick(3_500, 1_500);
        Duration limit = Duration.ofMillis(millis * 4 + 20_000);
        List<Contender> who = context.with(List.of(Contender.FASTIO, Contender.PLAIN_SLEEP), Contender.PEERS);
        try (Session session = new Session(context, who, List.of())) {
            Map<Contender, List<Reading>> normal = session.measure("timing " + millis, 0, limit);
            List<Reading> sleeps = normal.getOrDefault(Contender.PLAIN_SLEEP, List.of());
            double reference = Session.all(sleeps).median();
            report(context, "NORMAL", normal, reference, NORMAL_MAX_MS, NORMAL_MAX_MS);
            report(
                    context,
                    "URGENT",
                    session.measure("timing_urgent " + millis, 0, limit),
                    reference,
                    URGENT_MEDIAN_MS,
                    URGENT_MAX_MS);
            report(
                    context,
                    "URGENT, checkpoints",
                    session.measure("timing_checkpoint " + millis, 0, limit),
                    reference,
                    CHECKPOINT_MAX_MS,
                    CHECKPOINT_MAX_MS);
        }
    }

    /** The goals are in ms for a sleep of exactly 30 ms; judged is the ratio to the plain sleep of this run. */
    private void report(
            Context context,
            String caseName,
            Map<Contender, List<Reading>> readings,
            double reference,
            double medianGoal,
            double maxGoal) {
        readings.forEach((contender, list) -> {
            String who = contender.who();
            Samples all = Session.all(list);
            Result median = Result.of(name(), caseName, who, "timer_median", "ms", all);
            Result p99 = figure(caseName, who, "timer_p99", all.percentile(99), all);
            Result max = figure(caseName, who, "timer_max", all.max(), all);
            if (contender == Contender.FASTIO) {
                median = median.against(reference, medianGoal / TIMER_MS);
                max = max.against(reference, maxGoal / TIMER_MS);
            }
            context.emit(median);
            context.emit(p99);
            context.emit(max);
            context.distribution(name(), caseName, who, "ms", all);
        });
    }

    private Result figure(String caseName, String who, String metric, double value, Samples all) {
        return new Result(
                name(), caseName, who, metric, value, "ms", Double.NaN, Double.NaN, all.min(), all.max(), all.size());
    }
}
