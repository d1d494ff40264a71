package io.fastio.benchmarks.subject;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReadingTest {
    @Test
    void readsBackWhatItWrites() {
        Reading written = new Reading(Map.of("ns", 131.25, "bytes", 0.0), Samples.of(3, 1, 2));
        Reading read = Reading.parse(written.lines());
        assertThat(read.values()).isEqualTo(written.values());
        assertThat(read.samples().values()).containsExactly(1.0, 2.0, 3.0);
    }

    @Test
    void missingNamesAreNotANumber() {
        assertThat(Reading.of("ns", 1).value("bytes")).isNaN();
    }

    @Test
    void aStrayLineIsAnError() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Reading.parse(List.of("hello")))
                .withMessageContaining("hello");
        assertThatIllegalArgumentException().isThrownBy(() -> Reading.parse(List.of("= ns")));
    }
}
