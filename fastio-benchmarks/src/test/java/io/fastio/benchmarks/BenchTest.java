package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the command as a user does, in a process of its own. */
final class BenchTest {
    private static final long SECONDS = 90;
    private static final long GUARD_SECONDS = 300;
    /** Far from any goal: a loaded machine must not fail this, a lost fast path must. */
    private static final double SWITCH_RATIO = 12;

    private static final double BYTES = 16;

    @TempDir
    Path folder;

    private record Run(int status, List<String> out) {}

    private Run bench(String... arguments) throws IOException, InterruptedException {
        return bench(SECONDS, arguments);
    }

    private Run bench(long seconds, String... arguments) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Process process = new ProcessBuilder(Launcher.java(List.of(), Bench.class.getName(), arguments))
                .redirectOutput(out.toFile())
                .redirectError(folder.resolve("err").toFile())
                .start();
        int status = Launcher.finish(process, seconds);
        return new Run(status, Files.readAllLines(out));
    }

    @Test
    void listNamesEveryBenchmark() throws Exception {
        Run run = bench("list");
        assertThat(run.status()).isZero();
        assertThat(run.out()).hasSameSizeAs(Catalog.all()).allMatch(line -> line.matches("\\w+ +\\S.*"));
    }

    @Test
    void anUnknownNameIsOneMessageAndAFailure() throws Exception {
        Run run = bench("nosuch", "--json");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(Files.readAllLines(folder.resolve("err")))
                .singleElement()
                .asString()
                .contains("nosuch");
    }

    @Test
    @Tag("slow")
    void rateGivesNothingButJsonLinesWithinWideBounds() throws Exception {
        Path report = folder.resolve("report.html");
        Run run = bench("rate", "--short", "--json", "--report", report.toString());
        assertThat(run.status()).isZero();
        List<Map<String, String>> lines = new ArrayList<>();
        for (String line : run.out()) {
            lines.add(parse(line));
        }
        assertThat(lines)
                .allSatisfy(line -> assertThat(line.keySet())
                        .containsExactly(
                                "bench", "case", "who", "metric", "value", "unit", "ratio", "goal", "ok", "min", "max",
                                "reps"));
        assertThat(lines)
                .filteredOn(line ->
                        line.get("who").equals("fastio") && line.get("metric").equals("switch"))
                .hasSize(3)
                .allSatisfy(line ->
                        assertThat(Double.parseDouble(line.get("ratio"))).isBetween(0.5, SWITCH_RATIO));
        assertThat(lines)
                .filteredOn(line ->
                        line.get("who").equals("fastio") && line.get("metric").equals("alloc"))
                .hasSize(3)
                .allSatisfy(line ->
                        assertThat(Double.parseDouble(line.get("value"))).isLessThan(BYTES));
        assertThat(Files.readString(report))
                .contains("<svg", "n=10000", "<code>./fastio bench rate --short</code>", "</html>")
                .doesNotContain("http-equiv", "src=");
    }

    /** Nothing has become 15 % worse than the profile in the resources says. */
    @Test
    @Tag("slow")
    void guardFindsNothingSlower() throws Exception {
        Run run = bench(GUARD_SECONDS, "guard", "--json");
        assertThat(run.status()).as(() -> String.join("\n", run.out())).isZero();
        assertThat(run.out()).hasSizeGreaterThan(10).allMatch(line -> line.contains("\"ok\":true"));
    }

    /** The same measurement fails against a profile of a faster fastio. */
    @Test
    @Tag("slow")
    void guardFindsWhatIsSlower() throws Exception {
        Path profile = folder.resolve("faster.profile");
        Files.writeString(profile, "0.100 callbacks: callSoon: call\n");
        Run run = bench(GUARD_SECONDS, "guard", "--json", "--profile", profile.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).singleElement().asString().contains("\"ok\":false");
    }

    private static Map<String, String> parse(String json) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            assertThat(parser.nextToken()).isEqualTo(JsonToken.START_OBJECT);
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                fields.put(name, parser.getText());
            }
            assertThat(parser.currentToken()).isEqualTo(JsonToken.END_OBJECT);
            assertThat(parser.nextToken()).isNull();
        }
        return fields;
    }
}
