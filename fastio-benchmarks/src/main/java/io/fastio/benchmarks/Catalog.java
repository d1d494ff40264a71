package io.fastio.benchmarks;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Every benchmark there is, in the order in which {@code all} runs them. */
final class Catalog {
    private static final List<Benchmark> OWN = List.of(
            new RateBenchmark(),
            new RateFeaturesBenchmark(),
            new GrowthBenchmark(),
            new AllocBenchmark(),
            new MicroBenchmark(),
            new SyncBenchmark(),
            new CallbacksBenchmark(),
            new SleepersBenchmark(),
            new LatencyBenchmark(),
            new TimingBenchmark(),
            new WakeBenchmark(),
            new IdleBenchmark(),
            new BackgroundBenchmark(),
            new IoLatencyBenchmark(),
            new EchoBenchmark(),
            new HttpBenchmark(),
            new TlsBenchmark(),
            new MemoryBenchmark(),
            new GcBenchmark());

    private static final List<Benchmark> ALL =
            Stream.concat(OWN.stream(), FastIoProgram.all().stream()).toList();

    private Catalog() {}

    static List<Benchmark> all() {
        return ALL;
    }

    static Optional<Benchmark> find(String name) {
        return ALL.stream().filter(benchmark -> benchmark.name().equals(name)).findFirst();
    }
}
