package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What a waiting task weighs, and what the smallest program costs. */
final class MemoryBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** The frames of a stack are several times as large before they are compiled: what counts is a program that has run. */
    private static final int WARM_UPS = 3;

    private static final double BARE_GOAL = 1.1;

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String description() {
        return "heap bytes per sleeping task, against bare parked virtual threads; start-up, RSS and smallest heap of hello";
    }

    @Override
    public void run(Context context) throws Exception {
        List<Contender> who = context.with(
                List.of(Contender.FASTIO, Contender.CONTINUATION),
                List.of(
                        Contender.JDK,
                        Contender.NETTY_EPOLL,
                        Contender.VERTX_LOOP,
                        Contender.VERTX_VIRTUAL_THREAD,
                        Contender.KOTLIN_BLOCKING,
                        Contender.ASYNCIO,
                        Contender.NODE));
        for (int tasks : context.isShort() ? List.of(100_000) : List.of(100_000, 1_000_000)) {
            try (Session session = new Session(context, who, List.of("-Xmx4g"))) {
                report(context, tasks, session.measure("memory " + tasks, WARM_UPS, LIMIT));
            }
        }
        new Startup(context, name()).run();
    }

    private void report(Context context, int tasks, Map<Contender, List<Reading>> readings) {
        double bare = Session.values(readings.getOrDefault(Contender.CONTINUATION, List.of()), "bytes")
                .median();
        readings.forEach((contender, list) -> {
            Result heap =
                    Result.of(name(), "n=" + tasks, contender.who(), "task_heap", "B", Session.values(list, "bytes"));
            context.emit(contender == Contender.FASTIO ? heap.against(bare, BARE_GOAL) : heap);
        });
    }
}
