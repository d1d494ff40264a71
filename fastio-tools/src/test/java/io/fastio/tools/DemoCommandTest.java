package io.fastio.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.tools.Launcher.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code ./fastio demo}, in its short form: what it prints, and that the order of service follows the priorities. */
final class DemoCommandTest {
    private static final Pattern LINE = Pattern.compile("\\{\"case\":\"(\\w+)\",\"metric\":\"(\\w+)\","
            + "\"median\":(null|[0-9.]+),\"p99\":(null|[0-9.]+),\"max\":(null|[0-9.]+),\"n\":(\\d+)}");

    private record Metric(String of, double median, double p99, double max, int n) {
        static Metric parse(String line) {
            Matcher m = LINE.matcher(line);
            assertThat(m.matches()).as(line).isTrue();
            return new Metric(
                    m.group(1) + " " + m.group(2),
                    number(m.group(3)),
                    number(m.group(4)),
                    number(m.group(5)),
                    Integer.parseInt(m.group(6)));
        }

        private static double number(String text) {
            return text.equals("null") ? Double.NaN : Double.parseDouble(text);
        }
    }

    @Test
    void S6_urgentIsServedBeforeTheHogs() throws Exception {
        Result result = new Launcher().run("demo", "--quick", "--json");

        assertThat(result.exitCode()).as(result.err()).isZero();
        List<Metric> metrics =
                new ArrayList<>(result.out().lines().map(Metric::parse).toList());
        assertThat(metrics)
                .extracting(Metric::of)
                .containsExactly(
                        "fair timer_ms",
                        "fair echo_ms",
                        "urgent timer_ms",
                        "urgent echo_ms",
                        "hogs_low timer_ms",
                        "hogs_low echo_ms",
                        "checkpoint timer_ms",
                        "checkpoint echo_ms",
                        "jdk timer_ms",
                        "jdk echo_ms");
        List<Metric> onFastio = metrics.subList(0, 8);
        assertThat(onFastio).allSatisfy(m -> {
            assertThat(m.n()).isPositive();
            assertThat(m.median()).isLessThanOrEqualTo(m.p99());
            assertThat(m.p99()).isLessThanOrEqualTo(m.max());
        });
        Metric fairTimer = metrics.get(0);
        Metric fairEcho = metrics.get(1);
        // S3: never early. The rest compares with the fair queue in the same run, since other programs may slow down
        // both.
        assertThat(List.of(metrics.get(0), metrics.get(2), metrics.get(4), metrics.get(6)))
                .allSatisfy(timer -> assertThat(timer.median()).isGreaterThanOrEqualTo(30));
        for (int i = 2; i < 8; i += 2) {
            assertThat(metrics.get(i).median() - 30).as(metrics.get(i).of()).isLessThan((fairTimer.median() - 30) / 2);
            assertThat(metrics.get(i + 1).median()).as(metrics.get(i + 1).of()).isLessThan(fairEcho.median() / 2);
        }
        assertThat(metrics.subList(8, 10)).allSatisfy(m -> {
            assertThat(m.n()).isZero();
            assertThat(List.of(m.median(), m.p99(), m.max())).containsOnly(Double.NaN);
        });
    }

    @Test
    void anUnknownOptionIsOneMessage() throws Exception {
        Result result = new Launcher().run("demo", "--jsn");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .isEqualToIgnoringNewLines("fastio: demo: unexpected argument: --jsn; see './fastio help'");
    }
}
