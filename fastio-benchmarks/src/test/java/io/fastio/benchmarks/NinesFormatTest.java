package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.text.ParsePosition;
import org.junit.jupiter.api.Test;

final class NinesFormatTest {
    private final NinesFormat format = new NinesFormat();

    @Test
    void tensAreLabelledAsTheSharesBelowThem() {
        assertThat(format.format(1L)).isEqualTo("0 %");
        assertThat(format.format(10.0)).isEqualTo("90 %");
        assertThat(format.format(1_000.0)).isEqualTo("99.9 %");
    }

    @Test
    void aLabelIsReadBack() throws Exception {
        assertThat(format.parse("90 %").doubleValue()).isEqualTo(10);
        ParsePosition nowhere = new ParsePosition(0);
        assertThat(format.parse("ninety", nowhere)).isNull();
        assertThat(nowhere.getErrorIndex()).isZero();
    }
}
