package io.fastio.benchmarks;

import io.fastio.benchmarks.micro.InnerCosts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Statistics;

/** The inner costs of the loop, by JMH in a JVM of its own. */
final class MicroBenchmark implements Benchmark {
    @Override
    public String name() {
        return "micro";
    }

    @Override
    public String description() {
        return "single operations that need not wait, by JMH: ns each";
    }

    @Override
    public void run(Context context) throws Exception {
        Path log = context.launcher().folder().resolve("jmh.log");
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .include(InnerCosts.class.getName())
                        .forks(1)
                        .warmupIterations((int) context.pick(3, 2))
                        .warmupTime(TimeValue.milliseconds(context.pick(500, 300)))
                        .measurementIterations((int) context.pick(7, 4))
                        .measurementTime(TimeValue.milliseconds(context.pick(500, 300)))
                        .jvmArgs(Launcher.JVM_FLAGS.toArray(String[]::new))
                        .shouldFailOnError(true)
                        .output(log.toString())
                        .build())
                .run();
        if (results.isEmpty()) {
            throw new IllegalStateException("JMH measured nothing:\n" + Files.readString(log));
        }
        for (RunResult result : results) {
            String benchmark = result.getParams().getBenchmark();
            Statistics iterations = result.getPrimaryResult().getStatistics();
            context.emit(new Result(
                    name(),
                    benchmark.substring(benchmark.lastIndexOf('.') + 1),
                    Contender.FASTIO.who(),
                    "operation",
                    iterations.getPercentile(50),
                    "ns",
                    Double.NaN,
                    Double.NaN,
                    iterations.getMin(),
                    iterations.getMax(),
                    (int) iterations.getN()));
        }
    }
}
