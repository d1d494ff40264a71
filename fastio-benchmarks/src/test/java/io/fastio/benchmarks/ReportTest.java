package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fastio.benchmarks.subject.Samples;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of {@code --report}, as a browser shows it. */
final class ReportTest {
    private static final List<String> BROWSERS =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
    private static final long SECONDS = 60;
    private static final Pattern FOUND = Pattern.compile("<title>found:([^<]*)</title>");

    /** What the laid-out page is like, as its title: the browser prints that with the page. */
    private static final String LOOK = """
            <script>
            const plots = [...document.querySelectorAll('figure svg')];
            const box = e => e.getBoundingClientRect();
            const drawn = plots.filter(p => box(p).width > 200 && box(p).height > 80
                && p.querySelectorAll('path, rect, line, polygon, circle, polyline').length > 3);
            const labelled = plots.filter(p => p.querySelectorAll('text').length > 2);
            const cut = plots.filter(p => [...p.querySelectorAll('text')].some(t =>
                box(t).left < box(p).left - 1 || box(t).right > box(p).right + 1
                || box(t).top < box(p).top - 1 || box(t).bottom > box(p).bottom + 1));
            document.title = 'found:' + [plots.length, drawn.length, labelled.length, cut.length,
                document.querySelectorAll('tr').length,
                document.documentElement.scrollWidth - document.documentElement.clientWidth].join(' ');
            </script>
            """;

    @TempDir
    Path folder;

    private static String page() throws Exception {
        try (Launcher launcher = new Launcher()) {
            Context context = new Context(true, true, launcher, result -> {}, text -> {});
            context.config("fastio", "version <b>&</b>");
            SplittableRandom random = new SplittableRandom(1);
            for (String who : List.of("fastio", "limit", "netty-epoll")) {
                for (int n : List.of(10, 100, 1_000, 10_000)) {
                    Samples values = Samples.of(random.doubles(5, 90, 200).toArray());
                    Result result = Result.of("rate", "n=" + n, who, "switch", "ns", values);
                    context.emit(who.equals("fastio") ? result.against(100, 1.15) : result);
                }
                Samples latencies = Samples.of(
                        random.doubles(2_000).map(d -> 3 / (1.0001 - d)).toArray());
                context.distribution("wake", "BLOCK", who, "us", latencies);
                context.emit(Result.of("wake", "BLOCK", who, "wake_p50", "us", latencies));
            }
            return Report.html(context);
        }
    }

    @Test
    void isOnePageThatNeedsNothingElseAndEscapesWhatItQuotes() throws Exception {
        String page = page();
        assertThat(page)
                .contains("<code>./fastio bench rate --short --peers</code>", "version &lt;b&gt;&amp;&lt;/b&gt;")
                .doesNotContain("<script", "<link", "src=", "@import")
                .containsPattern("Linux|Mac|Windows");
    }

    @ParameterizedTest
    @ValueSource(ints = {1280, 500})
    void isDrawnWholeInABrowserOfAnyWidth(int width) throws Exception {
        Optional<Path> browser = browser();
        assumeThat(browser)
                .as("no Chromium on this machine: the report is not looked at in a browser")
                .isPresent();
        Path html = Files.writeString(folder.resolve("report.html"), page().replace("</body>", LOOK + "</body>"));
        Path out = folder.resolve("out");
        Process process = new ProcessBuilder(
                        browser.orElseThrow().toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-background-networking",
                        "--no-first-run",
                        "--user-data-dir=" + folder.resolve("profile"),
                        "--window-size=" + width + ",900",
                        "--dump-dom",
                        html.toUri().toString())
                .redirectOutput(out.toFile())
                .redirectError(folder.resolve("err").toFile())
                .start();
        try {
            assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS))
                    .as("the browser ends")
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        Matcher found = FOUND.matcher(Files.readString(out, StandardCharsets.UTF_8));
        assertThat(found.find()).as("the page was laid out").isTrue();
        assertThat(found.group(1))
                .as("plots, those drawn, those with labels, those with a label cut off, rows, pixels too wide")
                .isEqualTo("4 4 4 0 17 0");
    }

    private static Optional<Path> browser() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .flatMap(dir -> BROWSERS.stream().map(name -> Path.of(dir, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
