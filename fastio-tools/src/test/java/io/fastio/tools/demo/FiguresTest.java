package io.fastio.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What the demo makes of measured times. */
final class FiguresTest {
    private static final Optional<Figures> NOTHING = Optional.empty();

    @Test
    void quantilesAreMeasuredValues() {
        List<Long> values =
                new ArrayList<>(LongStream.rangeClosed(1, 1_000).boxed().toList());
        Collections.shuffle(values, new Random(1));

        Optional<Figures> figures =
                Figures.of(values.stream().mapToLong(Long::longValue).toArray());

        assertThat(figures).hasValue(new Figures(500, 990, 1_000, 1_000));
    }

    @Test
    void oneValueIsAllThreeFigures() {
        assertThat(Figures.of(new long[] {7})).hasValue(new Figures(7, 7, 7, 1));
    }

    @Test
    void nothingHasNoFigures() {
        assertThat(Figures.of(new long[0])).isEmpty();
    }

    @Test
    void jsonIsInMillisecondsAndNullWhereNothingCame() {
        Figures timers = new Figures(30_012_345, 31_000_000, 40_500_000, 400);

        assertThat(new CaseFigures(Case.HOGS_LOW, Optional.of(timers), NOTHING, 1).toJson())
                .containsExactly(
                        "{\"case\":\"hogs_low\",\"metric\":\"timer_ms\",\"median\":30.0123,\"p99\":31.0000,"
                                + "\"max\":40.5000,\"n\":400}",
                        "{\"case\":\"hogs_low\",\"metric\":\"echo_ms\",\"median\":null,\"p99\":null,\"max\":null,\"n\":0}");
    }

    @Test
    void theTableIsNoWiderThanATerminal() {
        Figures figures = new Figures(999_000_000, 999_000_000, 999_000_000, 9_999);
        List<CaseFigures> cases = List.of(
                new CaseFigures(Case.FAIR, Optional.of(figures), Optional.of(figures), 999_999),
                new CaseFigures(Case.CHECKPOINT, Optional.of(figures), Optional.of(figures), 999_999),
                new CaseFigures(Case.JDK, NOTHING, NOTHING, 0));

        List<String> lines = Table.of(cases).lines().toList();

        assertThat(lines).allMatch(line -> line.length() <= 100, "at most 100 characters");
        assertThat(lines.get(2)).contains("median", "p99", "max", "n");
        assertThat(lines.get(3)).startsWith("fair ").contains("999.00").endsWith("999999");
        assertThat(lines.get(5)).startsWith("jdk ").containsSubsequence(" - ", " - ", " - ", " 0 ", " - ");
    }
}
