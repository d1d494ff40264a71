package io.fastio.benchmarks.subject;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class SamplesTest {
    @Test
    void medianIsTheMiddleOrTheMeanOfTheTwoMiddleOnes() {
        assertThat(Samples.of(9, 1, 5).median()).isEqualTo(5);
        assertThat(Samples.of(9, 1, 5, 6).median()).isEqualTo(5.5);
    }

    @Test
    void percentilesAreNearestRanks() {
        double[] hundred = new double[100];
        for (int i = 0; i < hundred.length; i++) {
            hundred[i] = hundred.length - i;
        }
        Samples samples = Samples.of(hundred);
        assertThat(samples.percentile(0)).isEqualTo(1);
        assertThat(samples.percentile(50)).isEqualTo(50);
        assertThat(samples.percentile(99)).isEqualTo(99);
        assertThat(samples.percentile(99.5)).isEqualTo(100);
        assertThat(samples.min()).isEqualTo(1);
        assertThat(samples.max()).isEqualTo(100);
    }

    @Test
    void nothingMeasuredIsNotANumber() {
        assertThat(Samples.none().median()).isNaN();
        assertThat(Samples.none().percentile(99)).isNaN();
        assertThat(Samples.none().max()).isNaN();
    }

    @Test
    void togetherTheyKeepAllValuesInOrder() {
        assertThat(Samples.of(3, 1).plus(Samples.of(2)).values()).containsExactly(1.0, 2.0, 3.0);
    }

    @Test
    void percentOutOfRangeIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Samples.of(1).percentile(101))
                .withMessageContaining("101");
        assertThatIllegalArgumentException().isThrownBy(() -> Samples.of(1).percentile(Double.NaN));
    }
}
