package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An echo client in another process beside ten tasks that block: how long a request waits for its reply. */
final class IoLatencyBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String HOGS = "10 4000";
    private static final long GAP_MICROS = 5_000;
    private static final double PRIORITY_MEDIAN_MS = 2.5;
    private static final double PRIORITY_MAX_MS = 4.5;
    private static final double CHECKPOINT_MEDIAN_MS = 0.1;
    private static final double CHECKPOINT_P99_MS = 0.3;

    @Override
    public String name() {
        return "io_latency";
    }

    @Override
    public String description() {
        return "one echo client in another process beside ten tasks that block 4 ms: ms from request to reply";
    }

    @Override
    public void run(Context context) throws Exception {
        List<Contender> who = context.with(
                List.of(Contender.FASTIO),
                List.of(
                        Contender.JDK,
                        Contender.NETTY_NIO,
                        Contender.NETTY_EPOLL,
                        Contender.NETTY_IO_URING,
                        Contender.VERTX_LOOP,
                        Contender.VERTX_VIRTUAL_THREAD,
                        Contender.ASYNCIO,
                        Contender.NODE));
        run(context, who, "plain", "NORMAL", Double.NaN, Double.NaN, Double.NaN);
        List<Contender> own = List.of(Contender.FASTIO);
        run(context, own, "priority", "priority", PRIORITY_MEDIAN_MS, Double.NaN, PRIORITY_MAX_MS);
        run(context, own, "checkpoint", "priority, checkpoints", CHECKPOINT_MEDIAN_MS, CHECKPOINT_P99_MS, Double.NaN);
    }

    /**
     * Every server has its own hogs, which would eat the others' time: so one server at a time, started afresh in every
     * round.
     */
    private void run(
            Context context,
            List<Contender> who,
            String mode,
            String caseName,
            double medianGoal,
            double p99Goal,
            double maxGoal)
            throws Exception {
        Client client =
                new Client(1, Client.Mode.ECHO, context.pick(5_000, context.peers() ? 4_500 : 2_500), GAP_MICROS);
        Map<Contender, List<Reading>> readings = new LinkedHashMap<>();
        try (Session session = new Session(context, who, List.of(), Launcher.pinned(0))) {
            for (int round = -1; round < context.reps(); round++) { // the first one is the compiler's, on the same core
                for (Contender contender : who) {
                    var port = session.ask(contender, "echo " + HOGS + " " + mode, LIMIT);
                    if (port.isPresent()) {
                        Reading reading = client.drive(context, (int) port.get().value("port"), session.pid(contender));
                        if (round >= 0) {
                            readings.computeIfAbsent(contender, c -> new ArrayList<>())
                                    .add(reading);
                        }
                        var _ = session.ask(contender, "stop", LIMIT);
                    }
                }
            }
        }
        readings.forEach((contender, list) -> {
            String name = contender.who();
            Samples all = Session.all(list);
            Samples millis =
                    Samples.of(all.values().map(micros -> micros / 1_000).toArray());
            figure(context, caseName, name, "echo_median", millis.median(), millis, medianGoal);
            figure(context, caseName, name, "echo_p99", millis.percentile(99), millis, p99Goal);
            figure(context, caseName, name, "echo_max", millis.max(), millis, maxGoal);
            context.distribution(name(), caseName, name, "ms", millis);
        });
    }

    private void figure(
            Context context, String caseName, String who, String metric, double value, Samples all, double goal) {
        Result result = new Result(
                name(), caseName, who, metric, value, "ms", Double.NaN, Double.NaN, all.min(), all.max(), all.size());
        context.emit(Double.isNaN(goal) ? result : result.against(goal, 1));
    }
}
