package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;

/** What a switch costs more when the loop's features are there, though nothing of them is busy. */
final class RateFeaturesBenchmark implements Benchmark {
    private static final double GOAL = 1.03;
    private static final int TASKS = 100;
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @Override
    public String name() {
        return "rate_features";
    }

    @Override
    public String description() {
        return "rate of 100 tasks beside an idle priority stream and a LOW task, against rate without them";
    }

    @Override
    public void run(Context context) throws Exception {
        String millis = " " + context.pick(400, 200);
        int rounds = (int) context.pick(15, 9);
        double[] plain = new double[rounds];
        double[] with = new double[rounds];
        double[] ratios = new double[rounds];
        // Few per cent are at stake: the two are measured in turn in one process, and compared round by round.
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            for (int i = -3; i < rounds; i++) {
                double a = nanos(session, "rate " + TASKS + millis);
                double b = nanos(session, "rate_features " + TASKS + millis);
                if (i >= 0) {
                    plain[i] = a;
                    with[i] = b;
                    ratios[i] = b / a;
                }
            }
        }
        String caseName = "n=" + TASKS;
        context.emit(Result.of(name(), caseName, "limit", "switch", "ns", Samples.of(plain)));
        context.emit(Result.of(name(), caseName, "fastio", "switch", "ns", Samples.of(with))
                .judgedBy(Samples.of(ratios).median(), GOAL));
    }

    private static double nanos(Session session, String request) throws Exception {
        return session.ask(Contender.FASTIO, request, LIMIT).orElseThrow().value("ns");
    }
}
