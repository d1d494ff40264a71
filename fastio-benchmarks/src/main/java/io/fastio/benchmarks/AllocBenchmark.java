package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.time.Duration;
import java.util.List;

/** What an operation allocates in the steady state: nothing, that is. */
final class AllocBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final List<String> OPERATIONS =
            List.of("yield", "sleep", "after", "wait", "event", "flag", "lock", "semaphore", "queue", "readInto");

    @Override
    public String name() {
        return "alloc";
    }

    @Override
    public String description() {
        return "bytes that the loop's thread allocates per operation";
    }

    @Override
    public void run(Context context) throws Exception {
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            for (String operation : OPERATIONS) {
                List<Reading> readings = session.measure(
                                "operation " + operation + " " + context.pick(400, 200), 2, LIMIT)
                        .getOrDefault(Contender.FASTIO, List.of());
                context.emit(Result.of(name(), operation, "fastio", "alloc", "B", Session.values(readings, "bytes"))
                        .against(0, 0));
            }
        }
    }
}
