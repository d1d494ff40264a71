package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Very many tasks that sleep: what a sleep costs in CPU time, and how late it ends. */
final class SleepersBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int MANY = 100_000;
    private static final int MOST = 1_000_000;

    /** So few first: what has run often enough is compiled, and a stack of compiled frames is a third as large. */
    private static final int WARM_UP = 20_000;

    /**
     * A million stacks do not fit beside a young generation of the usual third of 2 GiB: what lives fills the old one, and each
     * collection is a full one.
     */
    private static final List<String> FLAGS_OF_MOST = List.of("-Xmn128m");

    @Override
    public String name() {
        return "sleepers";
    }

    @Override
    public String description() {
        return "N tasks sleep 1 to 1,000 ms, three times each, in 2 GiB: CPU ns per sleep, lateness in µs";
    }

    @Override
    public void run(Context context) throws Exception {
        List<Contender> who = context.with(
                List.of(Contender.FASTIO),
                List.of(
                        Contender.JDK,
                        Contender.NETTY_EPOLL,
                        Contender.VERTX_LOOP,
                        Contender.VERTX_VIRTUAL_THREAD,
                        Contender.KOTLIN_BLOCKING,
                        Contender.KOTLIN_THREAD,
                        Contender.ASYNCIO,
                        Contender.NODE));
        List<Integer> sizes = context.isShort() ? List.of(MANY) : List.of(MANY, MOST);
        for (int tasks : sizes) {
            try (Session session = new Session(context, who, tasks == MOST ? FLAGS_OF_MOST : List.of())) {
                session.measure("sleepers " + WARM_UP, 0, LIMIT);
                report(context, tasks, session.measure("sleepers " + tasks, 1, LIMIT));
            }
        }
    }

    private void report(Context context, int tasks, Map<Contender, List<Reading>> readings) {
        double bestPeer = readings.entrySet().stream()
                .filter(e -> e.getKey() != Contender.FASTIO)
                .mapToDouble(e -> Session.values(e.getValue(), "cpu_ns").median())
                .min()
                .orElse(Double.NaN);
        String caseName = "n=" + tasks;
        readings.forEach((contender, list) -> {
            Result cpu = Result.of(name(), caseName, contender.who(), "cpu", "ns", Session.values(list, "cpu_ns"));
            boolean judged = contender == Contender.FASTIO && Double.isFinite(bestPeer);
            context.emit(judged ? cpu.against(bestPeer, 1) : cpu);
            for (String percentile : List.of("p50", "p99", "max")) {
                context.emit(Result.of(
                        name(),
                        caseName,
                        contender.who(),
                        "late_" + percentile,
                        "us",
                        Session.values(list, "late_" + percentile + "_us")));
            }
        });
    }
}
