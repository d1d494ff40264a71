package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;

/** fast_io's latency program: how long a yield takes beside tasks that block, and what class LOW does about it. */
final class LatencyBenchmark implements Benchmark {
    private static final double STEP_US = 2_000;
    private static final double LOW_MEDIAN_US = 50;
    /** A step that blocks 2 ms of wall time may itself be delayed by the machine. */
    private static final double STEP_TOLERANCE = 1.1;

    @Override
    public String name() {
        return "latency";
    }

    @Override
    public String description() {
        return "N tasks that block 2 ms each; µs that one yield of a NORMAL task takes, hogs NORMAL or LOW";
    }

    @Override
    public void run(Context context) throws Exception {
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            for (int tasks : context.isShort() ? List.of(10, 100) : List.of(5, 10, 100, 200)) {
                long millis = Math.max(context.pick(1_500, 800), tasks * 2L * 3);
                measure(context, session, tasks, "NORMAL", millis, tasks * STEP_US);
                measure(context, session, tasks, "LOW", millis, LOW_MEDIAN_US);
            }
        }
    }

    private void measure(Context context, Session session, int tasks, String hogs, long millis, double medianReference)
            throws Exception {
        String request = "latency " + tasks + " " + hogs + " " + millis;
        List<Reading> readings = session.measure(request, 0, Duration.ofMillis(millis * 3 + 10_000))
                .getOrDefault(Contender.FASTIO, List.of());
        String caseName = "hogs " + hogs + ", n=" + tasks;
        boolean low = hogs.equals("LOW");
        Samples medians = Session.values(readings, "median_us");
        context.emit(Result.of(name(), caseName, "fastio", "yield_median", "us", medians)
                .against(medianReference, low ? 1 : STEP_TOLERANCE));
        double maxReference = low ? STEP_US : tasks * STEP_US;
        context.emit(Result.of(name(), caseName, "fastio", "yield_max", "us", Session.values(readings, "max_us"))
                .against(maxReference, STEP_TOLERANCE));
    }
}
