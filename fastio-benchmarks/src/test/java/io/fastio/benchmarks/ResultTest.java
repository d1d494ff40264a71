package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.benchmarks.subject.Samples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ResultTest {
    private static final Result PLAIN =
            Result.of("rate", "n=100", "fastio", "switch", "ns", Samples.of(131.21, 130, 140));

    @Test
    void aJudgedFigureIsOneLineOfJson() {
        assertThat(PLAIN.against(122.6, 1.15).json())
                .isEqualTo("{\"bench\":\"rate\",\"case\":\"n=100\",\"who\":\"fastio\",\"metric\":\"switch\","
                        + "\"value\":131.2,\"unit\":\"ns\",\"ratio\":1.07,\"goal\":1.15,\"ok\":true,"
                        + "\"min\":130,\"max\":140,\"reps\":3}");
    }

    @Test
    void withoutAGoalThereIsNoVerdict() {
        assertThat(PLAIN.ok()).isNull();
        assertThat(PLAIN.json()).contains("\"ratio\":null,\"goal\":null,\"ok\":null");
    }

    @Test
    void aRatioAboveTheGoalMissesIt() {
        assertThat(PLAIN.against(100, 1.15).ok()).isFalse();
        assertThat(PLAIN.against(131.21, 1).ok()).isTrue();
    }

    @Test
    void withAReferenceOfZeroTheValueIsTheRatio() {
        Result nothing = Result.of("alloc", "yield", "fastio", "alloc", "B", Samples.of(0, 0, 0));
        Result something = Result.of("alloc", "yield", "fastio", "alloc", "B", Samples.of(16, 16, 16));
        assertThat(nothing.against(0, 0).ok()).isTrue();
        assertThat(something.against(0, 0).ok()).isFalse();
        assertThat(something.against(0, 0).ratio()).isEqualTo(16);
        assertThat(Result.of("alloc", "yield", "fastio", "alloc", "B", Samples.of(0.004))
                        .against(0, 0)
                        .ok())
                .isTrue();
        assertThat(Result.of("alloc", "yield", "fastio", "alloc", "B", Samples.of(0.016))
                        .against(0, 0)
                        .ok())
                .isFalse();
    }

    @Test
    void whatDidNotComeMissesItsGoal() {
        Result nothing = Result.of("timing", "NORMAL", "fastio", "timer_median", "ms", Samples.none());
        assertThat(nothing.against(30, 1.2).ok()).isFalse();
        assertThat(nothing.json()).contains("\"value\":null");
    }

    @ParameterizedTest
    @CsvSource({"131.2149, 131.2", "0.00001, 0", "1234567.4, 1234567", "2000, 2000", "0.04567, 0.04567", "NaN, -"})
    void numbersHaveAsManyDigitsAsAMeasurementDeserves(double value, String text) {
        assertThat(Result.plain(value)).isEqualTo(text);
    }
}
