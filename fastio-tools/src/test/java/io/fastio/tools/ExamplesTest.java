package io.fastio.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.tools.Launcher.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The programs in {@code examples/}, each run as a newcomer runs it. */
final class ExamplesTest {
    private static final Path EXAMPLES = Launcher.ROOT.resolve("examples");

    @Test
    void hello() throws Exception {
        assertThat(example("Hello.java", "fastio"))
                .containsExactly("waiting", "counting 1", "counting 2", "counting 3", "hello, fastio", "counted to 3");
    }

    @Test
    void echoServerIsItsOwnClient() throws Exception {
        List<String> lines = example("EchoServer.java");

        assertThat(lines).hasSize(2);
        assertThat(lines.getFirst()).matches("serving on port \\d+");
        assertThat(lines.getLast()).isEqualTo("replies: [one, two, three]");
    }

    @Test
    void priorityVersusFair() throws Exception {
        List<String> lines = example("PriorityVersusFair.java", "600");

        assertThat(lines).hasSize(2);
        assertThat(median("NORMAL", lines.get(0))).isGreaterThan(median("URGENT", lines.get(1)));
    }

    private static double median(String priority, String line) {
        assertThat(line)
                .matches(priority + " +\\d+ wake-ups, late by +\\d+\\.\\d ms in the median, +\\d+\\.\\d ms at most");
        return Double.parseDouble(line.replaceAll(".*late by +([0-9.]+) ms in the median.*", "$1"));
    }

    @Test
    void producerConsumer() throws Exception {
        List<String> lines = example("ProducerConsumer.java", "8");

        assertThat(lines).hasSize(8 + 8 + 1).last().isEqualTo("sum of all items: 36");
        assertThat(lines.stream().filter(line -> line.startsWith("put ")))
                .hasSize(8)
                .allMatch(line -> line.matches("put \\d, [0-4] in the queue"));
    }

    @Test
    void periodicSampler() throws Exception {
        assertThat(example("PeriodicSampler.java", "20"))
                .singleElement()
                .asString()
                .matches("20 samples every 5 ms, late by \\d+\\.\\d{3} ms at most; their power is \\d\\.\\d{3}");
    }

    @Test
    void msTimerIsOnTimeWhereASleepIsNot() throws Exception {
        List<String> lines = example("MsTimer.java", "9");

        assertThat(lines).hasSize(2);
        assertThat(lateness("MillisTimer", lines.get(1))).isLessThan(lateness("sleepMs", lines.get(0)));
    }

    private static double lateness(String what, String line) {
        assertThat(line).matches(what + " +of 20 ms: late by +\\d+\\.\\d ms in the median, +\\d+\\.\\d ms at most");
        return Double.parseDouble(line.replaceAll(".*late by +([0-9.]+) ms in the median.*", "$1"));
    }

    @Test
    void robotFrame() throws Exception {
        assertThat(example("RobotFrame.java", "30"))
                .singleElement()
                .asString()
                .matches(
                        "30 frames, late by \\d+\\.\\d ms at most; [1-9]\\d* commands, [1-9]\\d* reports, speed near [01]\\.\\d");
    }

    @Test
    void swingHost() throws Exception {
        assertThat(example("SwingHost.java")).containsExactly("10 rows after several polls");
    }

    @Test
    void pinCallback() throws Exception {
        assertThat(example("PinCallback.java", "2"))
                .containsExactly(
                        "pressed",
                        "released",
                        "let go for the 1. time",
                        "pressed",
                        "released",
                        "let go for the 2. time");
    }

    @Test
    void cancelReadWrite() throws Exception {
        assertThat(example("CancelReadWrite.java"))
                .contains("the reader was cancelled", "its wait ended at once: true")
                .last()
                .isEqualTo("wrote fastio");
    }

    @Test
    void timeoutReadWrite() throws Exception {
        assertThat(example("TimeoutReadWrite.java"))
                .containsExactly(
                        "message 1",
                        "message 2",
                        "message 3",
                        "gave up now and then: true",
                        "still to be written: true",
                        "left: 0");
    }

    @Test
    void uartEcho() throws Exception {
        assertThat(example("UartEcho.java", "3"))
                .containsExactly("a serial line of our own", "got HELLO 1", "got HELLO 2", "got HELLO 3");
    }

    @Test
    void webServerIsItsOwnClient() throws Exception {
        List<String> lines = example("WebServer.java");

        assertThat(lines.getFirst()).matches("serving at http://localhost:\\d+/");
        assertThat(lines.subList(1, lines.size()))
                .containsExactly(
                        "/: 200 hello",
                        "/visits: 200 1",
                        "/visits: 200 2",
                        "/add/20/22: 200 42",
                        "/nothing: 404 there is nothing at this path",
                        "ended by itself: true");
    }

    @Test
    void thereAreNoOtherExamples() throws Exception {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "CancelReadWrite.java",
                            "EchoServer.java",
                            "GpsPosition.java",
                            "Hello.java",
                            "Instrument.java",
                            "MsTimer.java",
                            "PeriodicSampler.java",
                            "PinCallback.java",
                            "PriorityVersusFair.java",
                            "ProducerConsumer.java",
                            "PulseDevice.java",
                            "RobotFrame.java",
                            "SwingHost.java",
                            "TimeoutReadWrite.java",
                            "UartEcho.java",
                            "WebServer.java");
        }
    }

    private static List<String> example(String name, String... arguments) throws Exception {
        String[] command = Stream.concat(Stream.of("run", EXAMPLES.resolve(name).toString()), Stream.of(arguments))
                .toArray(String[]::new);
        Result result = new Launcher().run(command);
        assertThat(result.err()).isEmpty();
        assertThat(result.exitCode()).isZero();
        return result.out().lines().toList();
    }
}
