package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.fastio.benchmarks.subject.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class GuardTest {
    private final Launcher launcher;
    private final List<Result> results = new ArrayList<>();

    GuardTest() throws Exception {
        launcher = new Launcher();
    }

    @AfterEach
    void close() throws Exception {
        launcher.close();
    }

    @Test
    void aProfileIsLinesOfRatioAndName() {
        assertThat(Guard.parse("# remark\n\n1.650 rate: n=100: switch\n0.000 alloc: yield: alloc\n"))
                .containsExactly(entry("rate: n=100: switch", 1.65), entry("alloc: yield: alloc", 0.0));
    }

    @Test
    void fourteenPerCentWorseThanTheProfilePasses() throws Exception {
        assertThat(guard(2.28, 0, Map.of("fake: a: switch", 2.0, "fake: a: alloc", 0.0)))
                .isTrue();
        assertThat(results).hasSize(2).allMatch(r -> Boolean.TRUE.equals(r.ok()));
    }

    @Test
    void sixteenPerCentWorseFails() throws Exception {
        assertThat(guard(2.32, 0, Map.of("fake: a: switch", 2.0, "fake: a: alloc", 0.0)))
                .isFalse();
        assertThat(results)
                .filteredOn(r -> Boolean.FALSE.equals(r.ok()))
                .singleElement()
                .satisfies(r -> assertThat(r.ratio()).isEqualTo(1.16));
    }

    @Test
    void anAllocationWhereTheProfileHasNoneFails() throws Exception {
        assertThat(guard(2.0, 16, Map.of("fake: a: switch", 2.0, "fake: a: alloc", 0.0)))
                .isFalse();
    }

    @Test
    void aFigureThatDoesNotComeFails() throws Exception {
        assertThat(guard(2.0, 0, Map.of("fake: b: switch", 2.0))).isFalse();
    }

    @Test
    void whatIsRecordedPassesItself() throws Exception {
        String profile = new Guard(context(), List.of(new Fake(2.0, 0)), Map.of()).record();
        assertThat(new Guard(context(), List.of(new Fake(2.0, 0)), Guard.parse(profile)).run())
                .isTrue();
        assertThat(new Guard(context(), List.of(new Fake(2.5, 0)), Guard.parse(profile)).run())
                .isFalse();
    }

    private boolean guard(double ratio, double bytes, Map<String, Double> stored) throws Exception {
        return new Guard(context(), List.of(new Fake(ratio, bytes)), stored).run();
    }

    private Context context() {
        return new Context(true, false, launcher, results::add, text -> {});
    }

    /** A benchmark whose figures are always the same. */
    private record Fake(double ratio, double bytes) implements Benchmark {
        @Override
        public String name() {
            return "fake";
        }

        @Override
        public String description() {
            return "always the same";
        }

        @Override
        public void run(Context context) {
            context.emit(Result.of("fake", "a", "fastio", "switch", "ns", Samples.of(100 * ratio))
                    .against(100, 1));
            context.emit(Result.of("fake", "a", "fastio", "alloc", "B", Samples.of(bytes))
                    .against(0, 0));
        }
    }
}
