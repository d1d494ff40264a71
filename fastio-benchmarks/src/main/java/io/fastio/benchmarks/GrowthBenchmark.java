package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How costs grow with the number of tasks, timers and streams: no step of ten may be worse than the logarithm, or than what
 * the same step costs bare continuations, whose stacks leave the caches just as well.
 */
final class GrowthBenchmark implements Benchmark {
    /** What a step may cost beyond that, for the caches. */
    private static final double STEP_GOAL = 1.25;

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final List<String> HEAP = List.of("-Xms3g", "-Xmx4g");

    @Override
    public String name() {
        return "growth";
    }

    @Override
    public String description() {
        return "cost of a switch among N tasks, of setting and cancelling one of N timers, of a round trip beside N - 1 silent"
                + " priority streams: ns each, and how much worse than the logarithm each step is";
    }

    @Override
    public void run(Context context) throws Exception {
        long millis = context.pick(400, 150);
        try (Session session = new Session(context, List.of(Contender.FASTIO, Contender.CONTINUATION), HEAP)) {
            curve(context, session, "switch", "rate %d " + millis, 10, (int) context.pick(1_000_000, 100_000));
            curve(context, session, "timer", "growth_timers %d " + millis, 10, (int) context.pick(1_000_000, 100_000));
        }
        try (Session session = new Session(context, List.of(Contender.FASTIO), HEAP)) {
            curve(context, session, "stream", "growth_streams %d " + millis, 1, (int) context.pick(10_000, 1_000));
        }
    }

    private void curve(Context context, Session session, String metric, String request, int from, int to)
            throws Exception {
        double before = Double.NaN;
        double limitBefore = Double.NaN;
        for (int n = from; n <= to; n *= 10) {
            Map<Contender, List<Reading>> readings =
                    session.measure(String.format(request, n), n == from ? 4 : 1, LIMIT);
            double own = emit(context, metric, n, Contender.FASTIO, readings);
            double limit = emit(context, metric, n, Contender.CONTINUATION, readings);
            if (n > from) {
                double allowed = Math.max(1, Math.log(n) / Math.log(Math.max(2, n / 10)));
                if (limit / limitBefore > allowed) {
                    allowed = limit / limitBefore;
                }
                Result step = Result.of(
                        name(), "n=" + n / 10 + " to n=" + n, "fastio", metric + " step", "x", samples(own / before));
                context.emit(step.against(allowed, STEP_GOAL));
            }
            before = own;
            limitBefore = limit;
        }
    }

    private static Samples samples(double value) {
        return Samples.of(value);
    }

    private double emit(Context context, String metric, int n, Contender who, Map<Contender, List<Reading>> readings) {
        List<Reading> list = readings.getOrDefault(who, List.of());
        if (list.isEmpty()) {
            return Double.NaN;
        }
        Result result = Result.of(name(), "n=" + n, who.who(), metric, "ns", Session.values(list, "ns"));
        context.emit(result);
        return result.value();
    }
}
