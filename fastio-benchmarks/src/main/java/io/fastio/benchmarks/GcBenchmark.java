package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Which collector the launcher should choose: what a switch costs with each, and how late timers are beside garbage. */
final class GcBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Map<String, String> COLLECTORS =
            Map.of("serial", "-XX:+UseSerialGC", "g1", "-XX:+UseG1GC", "zgc", "-XX:+UseZGC");
    private static final List<String> ORDER = List.of("serial", "g1", "zgc");

    @Override
    public String name() {
        return "gc";
    }

    @Override
    public String description() {
        return "fastio with three collectors: ns per switch, and µs that timers of 1 ms are late beside a LOW task that"
                + " makes garbage, 50 MB of it alive";
    }

    @Override
    public void run(Context context) throws Exception {
        Map<String, Session> sessions = new LinkedHashMap<>();
        try {
            for (String collector : ORDER) {
                sessions.put(collector, new Session(context, List.of(Contender.FASTIO), List.of(flag(collector))));
            }
            for (int tasks : List.of(100, 10_000)) {
                String request = "rate " + tasks + " " + context.pick(400, 150);
                Map<String, List<Reading>> switches = inTurn(context, sessions, request, 4);
                for (String collector : ORDER) {
                    emit(context, "n=" + tasks, collector, "switch", "ns", switches, "ns");
                }
            }
            Map<String, List<Reading>> garbage = inTurn(context, sessions, "garbage " + context.pick(3_000, 1_500), 1);
            for (String collector : ORDER) {
                for (String percentile : List.of("p50", "p99", "max")) {
                    emit(context, "garbage", collector, "late_" + percentile, "us", garbage, percentile + "_us");
                }
                emit(context, "garbage", collector, "made", "MB/s", garbage, "mb_per_s");
            }
        } finally {
            for (Session session : sessions.values()) {
                session.close();
            }
        }
    }

    private static String flag(String collector) {
        String flag = COLLECTORS.get(collector);
        if (flag == null) {
            throw new IllegalArgumentException("no such collector: " + collector);
        }
        return flag;
    }

    private static Map<String, List<Reading>> inTurn(
            Context context, Map<String, Session> sessions, String request, int warmUps) throws Exception {
        Map<String, List<Reading>> readings = new LinkedHashMap<>();
        for (int turn = -warmUps; turn < context.reps(); turn++) {
            for (Map.Entry<String, Session> session : sessions.entrySet()) {
                Reading reading =
                        session.getValue().ask(Contender.FASTIO, request, LIMIT).orElseThrow();
                if (turn >= 0) {
                    readings.computeIfAbsent(session.getKey(), c -> new ArrayList<>())
                            .add(reading);
                }
            }
        }
        return readings;
    }

    private void emit(
            Context context,
            String caseName,
            String collector,
            String metric,
            String unit,
            Map<String, List<Reading>> readings,
            String value) {
        Samples values = Session.values(readings.getOrDefault(collector, List.of()), value);
        context.emit(Result.of(name(), caseName, "fastio, " + collector, metric, unit, values));
    }
}
