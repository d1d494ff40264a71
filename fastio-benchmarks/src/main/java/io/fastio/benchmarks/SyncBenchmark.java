package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;

/** What it costs tasks to wait for each other, and that cancels and long queues of waiters stay linear. */
final class SyncBenchmark implements Benchmark {
    private static final double TURN_GOAL = 1.5;
    private static final double GROWTH_GOAL = 12;
    private static final int MANY = 100_000;
    private static final int WARM_UPS = 3;
    private static final int DEEP = 10_000;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "sync";
    }

    @Override
    public String description() {
        return "two tasks taking turns by event, flag, lock, queue: ns and bytes per turn, against a bare yield";
    }

    @Override
    public void run(Context context) throws Exception {
        long millis = context.pick(500, 150);
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            for (String with : List.of("event", "flag", "lock", "queue", "queue_bounded")) {
                // The reference is measured beside each of them: the machine's mood changes within seconds.
                for (int i = 0; i < WARM_UPS; i++) {
                    ask(session, "turns yield " + millis);
                    ask(session, "turns " + with + " " + millis);
                }
                double[] turn = new double[context.reps()];
                double[] yield = new double[turn.length];
                double[] bytes = new double[turn.length];
                for (int i = 0; i < turn.length; i++) {
                    yield[i] = ask(session, "turns yield " + millis).value("ns");
                    Reading reading = ask(session, "turns " + with + " " + millis);
                    turn[i] = reading.value("ns");
                    bytes[i] = reading.value("bytes");
                }
                Samples reference = Samples.of(yield);
                context.emit(Result.of(name(), with, "limit", "yield", "ns", reference));
                context.emit(Result.of(name(), with, "fastio", "turn", "ns", Samples.of(turn))
                        .against(reference.median(), TURN_GOAL));
                context.emit(Result.of(name(), with, "fastio", "alloc", "B", Samples.of(bytes))
                        .against(0, 0));
            }
            herd(context, session);
            growth(context, session, "cancels", MANY);
            growth(context, session, "scopes", DEEP);
        }
    }

    private void herd(Context context, Session session) throws Exception {
        List<Reading> readings = session.measure("herd " + MANY, 1, LIMIT).getOrDefault(Contender.FASTIO, List.of());
        String caseName = "lock, n=" + MANY;
        context.emit(Result.of(name(), caseName, "fastio", "woken", "tasks", Session.values(readings, "woken"))
                .against(1, 1));
        context.emit(Result.of(name(), caseName, "fastio", "hand_over", "ns", Session.values(readings, "ns")));
    }

    private void growth(Context context, Session session, String what, int many) throws Exception {
        int few = many / 10;
        double[] small = new double[context.reps()];
        double[] large = new double[small.length];
        for (int i = -WARM_UPS; i < small.length; i++) {
            double s = ask(session, what + " " + few).value("ns");
            double l = ask(session, what + " " + many).value("ns");
            if (i >= 0) {
                small[i] = s;
                large[i] = l;
            }
        }
        context.emit(Result.of(name(), what + " n=" + few, "fastio", "cancel", "ns", Samples.of(small)));
        context.emit(Result.of(name(), what + " n=" + many, "fastio", "cancel", "ns", Samples.of(large))
                .against(Samples.of(small).median(), GROWTH_GOAL));
    }

    private static Reading ask(Session session, String request) throws Exception {
        return session.ask(Contender.FASTIO, request, LIMIT).orElseThrow();
    }
}
