package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.Test;

final class GuardTest {
    @Test
    void aProfileIsLinesOfRatioAndName() {
        assertThat(Guard.parse("# remark\n\n1.650 rate: n=100: switch\n0.000 alloc: yield: alloc\n"))
                .containsExactly(entry("rate: n=100: switch", 1.65), entry("alloc: yield: alloc", 0.0));
    }
}
