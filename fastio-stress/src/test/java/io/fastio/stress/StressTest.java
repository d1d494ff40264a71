package io.fastio.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** All cases in the short form, and all twins, which have to be found out. */
final class StressTest {
    @Test
    void everyCaseHasATwinWhoseGuardIsStillThere() throws Exception {
        List<Class<?>> cases = Stress.cases();
        assertThat(cases).hasSizeGreaterThan(30);
        for (Class<?> c : cases) {
            Twin[] twins = c.getAnnotationsByType(Twin.class);
            assertThat(twins).as(c.getSimpleName()).isNotEmpty();
            for (Twin t : twins) {
                assertThat(Twins.without(t, c)).as("%s", t).isNotEmpty();
            }
        }
    }

    @TestFactory
    @Tag("slow")
    Stream<DynamicTest> everyCaseKeepsItsRuleAndEveryTwinIsFoundOut() throws Exception {
        Path folder = Path.of("target", "stress").toAbsolutePath();
        return Stress.run(Stress.cases(), Stress.Effort.SHORT, folder).stream()
                .map(v -> DynamicTest.dynamicTest(
                        v.testCase().getSimpleName() + (v.twin() == 0 ? "" : " twin " + v.twin()),
                        () -> assertThat(v).as("%s", v).matches(Stress.Verdict::isRight)));
    }
}
