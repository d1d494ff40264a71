package io.fastio.benchmarks;

import java.util.List;
import java.util.Optional;

/** Every benchmark there is, in the order in which {@code all} runs them. */
final class Catalog {
    private static final List<Benchmark> ALL = List.of(
            new RateBenchmark(),
            new AllocBenchmark(),
            new SyncBenchmark(),
            new CallbacksBenchmark(),
            new SleepersBenchmark(),
            new LatencyBenchmark(),
            new TimingBenchmark(),
            new WakeBenchmark(),
            new IoLatencyBenchmark(),
            new EchoBenchmark(),
            new HttpBenchmark(),
            new MemoryBenchmark());

    private Catalog() {}

    static List<Benchmark> all() {
        return ALL;
    }

    static Optional<Benchmark> find(String name) {
        return ALL.stream().filter(benchmark -> benchmark.name().equals(name)).findFirst();
    }
}
