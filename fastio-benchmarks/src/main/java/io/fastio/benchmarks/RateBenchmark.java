package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** The cost of a task switch, and whether it stays the same with many tasks. */
final class RateBenchmark implements Benchmark {
    private static final double SWITCH_GOAL = 1.15;
    private static final double GROWTH_GOAL = 1.3;
    private static final int FEW = 10;
    private static final int MANY = 10_000;
    private static final List<Contender> STACKFUL = List.of(Contender.JDK, Contender.VERTX_VIRTUAL_THREAD);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    public String name() {
        return "rate";
    }

    @Override
    public String description() {
        return "N tasks that only yield: ns and bytes per switch (peers with callbacks: per hop)";
    }

    @Override
    public void run(Context context) throws Exception {
        List<Integer> sizes = context.isShort() ? List.of(FEW, 100, MANY) : List.of(1, FEW, 100, 1_000, MANY, 100_000);
        long millis = context.pick(500, 150);
        List<Contender> who = context.with(
                List.of(Contender.FASTIO, Contender.CONTINUATION, Contender.BARE_VIRTUAL_THREAD), Contender.PEERS);
        Map<Integer, Double> own = new HashMap<>();
        try (Session session = new Session(context, who, List.of())) {
            int warmUps = 4;
            for (int tasks : sizes) {
                Map<Contender, List<Reading>> readings =
                        session.measure("rate " + tasks + " " + millis, warmUps, LIMIT);
                warmUps = 1;
                OptionalDouble measured = report(context, tasks, readings);
                measured.ifPresent(value -> own.put(tasks, value));
            }
        }
        Double few = own.get(FEW);
        Double many = own.get(MANY);
        if (few != null && many != null) {
            Samples value = Samples.of(many);
            context.emit(Result.of(name(), "n=" + MANY + " to n=" + FEW, Contender.FASTIO.who(), "growth", "ns", value)
                    .against(few, GROWTH_GOAL));
        }
    }

    private OptionalDouble report(Context context, int tasks, Map<Contender, List<Reading>> readings) {
        double limit = median(readings, Contender.CONTINUATION);
        double stackful = STACKFUL.stream()
                .mapToDouble(peer -> median(readings, peer))
                .filter(Double::isFinite)
                .min()
                .orElse(Double.NaN);
        String caseName = "n=" + tasks;
        OptionalDouble own = OptionalDouble.empty();
        for (Map.Entry<Contender, List<Reading>> entry : readings.entrySet()) {
            String who = entry.getKey().who();
            Samples nanos = Session.values(entry.getValue(), "ns");
            Samples bytes = Session.values(entry.getValue(), "bytes");
            Result time = Result.of(name(), caseName, who, "switch", "ns", nanos);
            Result heap = Result.of(name(), caseName, who, "alloc", "B", bytes);
            if (entry.getKey() == Contender.FASTIO) {
                own = OptionalDouble.of(nanos.median());
                context.emit(time.against(limit, SWITCH_GOAL));
                context.emit(heap.against(0, 0));
                if (Double.isFinite(stackful)) {
                    context.emit(Result.of(name(), caseName, who, "stackful_peers", "ns", nanos)
                            .against(stackful, 1));
                }
            } else {
                context.emit(time);
                Stream.of(heap).filter(r -> Double.isFinite(r.value())).forEach(context::emit);
            }
        }
        return own;
    }

    private static double median(Map<Contender, List<Reading>> readings, Contender who) {
        List<Reading> own = readings.get(who);
        return own == null ? Double.NaN : Session.values(own, "ns").median();
    }
}
