package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.time.Duration;
import java.util.List;

/** What a loop with nothing to do costs, by its idle strategy, and what that buys: how early it wakes (S10). */
final class IdleBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /** Percent of one core above the same process without a loop. */
    private static final double BLOCK_CPU_GOAL = 0.5;

    private enum Strategy {
        NONE("no loop"),
        BLOCK("BLOCK"),
        SPIN("SPIN"),
        BACKOFF("BACKOFF 100 us"),
        POWERSAVE("POWERSAVE 20 ms");

        final String text;

        Strategy(String text) {
            this.text = text;
        }
    }

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String description() {
        return "a loop with nothing to do, and one woken every ms, by idle strategy: % of a core; µs until the task runs";
    }

    @Override
    public void run(Context context) throws Exception {
        long millis = context.pick(2_000, 600);
        // POWERSAVE takes a slice for each.
        int wakes = (int) context.pick(1_000, 200);
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            double without = 0;
            for (Strategy s : Strategy.values()) {
                List<Reading> idle = measure(session, "idle " + s + " " + millis);
                Result cpu = Result.of(name(), "idle, " + s.text, who(s), "cpu", "%", Session.values(idle, "cpu"));
                if (s == Strategy.NONE) {
                    without = cpu.value();
                }
                context.emit(
                        s == Strategy.BLOCK ? cpu.judgedBy(Math.max(0, cpu.value() - without), BLOCK_CPU_GOAL) : cpu);
            }
            for (Strategy s : Strategy.values()) {
                int count = s == Strategy.POWERSAVE ? wakes / 10 : wakes;
                List<Reading> woken = measure(session, "idle_woken " + s + " " + count);
                String caseName = "1 ms, " + s.text;
                context.emit(Result.of(name(), caseName, who(s), "cpu", "%", Session.values(woken, "cpu")));
                if (s != Strategy.NONE) {
                    context.emit(Result.of(name(), caseName, who(s), "wake_p50", "us", Session.percentiles(woken, 50)));
                    context.emit(Result.of(name(), caseName, who(s), "wake_p99", "us", Session.percentiles(woken, 99)));
                    context.distribution(name(), caseName, who(s), "us", Session.all(woken));
                }
            }
        }
    }

    private static String who(Strategy s) {
        return s == Strategy.NONE ? "limit" : Contender.FASTIO.who();
    }

    private static List<Reading> measure(Session session, String request) throws Exception {
        return session.measure(request, 0, LIMIT).getOrDefault(Contender.FASTIO, List.of());
    }
}
