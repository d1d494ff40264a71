package io.fastio.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.sync.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs that people have at hand: curl, ab, wrk and a browser, each as it is; skipped where it is not installed. */
@Timeout(120)
final class ToolsTest {
    private static final HttpHandler ECHO = (request, response) -> response.send(request.body());
    private static final HttpHandler HELLO = (request, response) -> response.send("hello\n");

    /** Everything that it printed. */
    private static String run(String... command) throws Exception {
        Process p;
        try {
            p = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            Assumptions.abort("not installed: " + e.getMessage());
            return "";
        }
        try {
            String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(p.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(p.exitValue()).as(said).isZero();
            return said;
        } finally {
            p.destroyForcibly();
        }
    }

    private static String curl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("curl", "-sS", "--noproxy", "*", "--max-time", "30"));
        command.addAll(Arrays.asList(arguments));
        return run(command.toArray(String[]::new));
    }

    private static String at(Served s) {
        return "http://127.0.0.1:" + s.port + "/";
    }

    @Test
    void curlKeepsItsConnection() throws Exception {
        try (Served s = new Served(HELLO)) {
            assertThat(curl("-w", "%{num_connects} ", at(s), at(s) + "b", at(s) + "c"))
                    .isEqualTo("hello\n1 hello\n0 hello\n0 ");
            assertThat(s.server.requests()).isEqualTo(3);
        }
    }

    @Test
    void curlAsksForTheHead() throws Exception {
        try (Served s = new Served(HELLO)) {
            assertThat(curl("-I", at(s)).replace("\r\n", "\n"))
                    .startsWith("HTTP/1.1 200 OK\n")
                    .contains("\nContent-Length: 6\n")
                    .endsWith("\n\n");
        }
    }

    /** By length, chunked, and asking first: the body comes back as it went. */
    @Test
    void curlSendsBodiesInEveryWay(@TempDir Path folder) throws Exception {
        byte[] body = new byte[3_000_000];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) (i * 31 >> 3);
        }
        String file = Files.write(folder.resolve("body"), body).toString();
        String answer = folder.resolve("answer").toString();
        try (Served s = new Served(ECHO)) {
            List<String> headers = List.of("Expect:", "Transfer-Encoding: chunked", "Expect: 100-continue");
            for (String header : headers) {
                String said = curl("-v", "-H", header, "--data-binary", "@" + file, "-o", answer, at(s));
                assertThat(Files.readAllBytes(Path.of(answer))).as(header).isEqualTo(body);
                if (header.startsWith("Expect: 1")) {
                    assertThat(said).contains("< HTTP/1.1 100 Continue");
                }
            }
        }
    }

    /** HTTP/1.0 with and without a connection that is kept; ab counts every length that differs as a failure. */
    @Test
    void abHasNoFailedRequest() throws Exception {
        try (Served s = new Served(HELLO)) {
            for (String keep : List.of("-k", "-d")) { // -d: no change
                String said = run("ab", keep, "-q", "-n", "2000", "-c", "20", "-s", "30", at(s));
                assertThat(said).containsPattern("Complete requests: +2000\n").containsPattern("Failed requests: +0\n");
                assertThat(said).doesNotContain("Non-2xx");
                if (keep.equals("-k")) {
                    assertThat(said).containsPattern("Keep-Alive requests: +2000\n");
                }
            }
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void wrkHasNoError() throws Exception {
        try (Served s = new Served(HELLO)) {
            String said = run("wrk", "-t1", "-c20", "-d1s", "--timeout", "30s", at(s));
            assertThat(said).containsPattern("[1-9]\\d* requests in").doesNotContain("Socket errors", "Non-2xx");
            assertThat(s.reported).isEmpty();
        }
    }

    /** A request with a body, a chunked answer, and a WebSocket; the page is loaded when its picture has been, and that waits for all. */
    private static final String PAGE = """
            <html><head><title>nothing yet</title></head><body><img src="/when-done"><script>
            const ask = (method, path, body) => {
                const x = new XMLHttpRequest();
                x.open(method, path, false);
                x.send(body);
                return x.responseText;
            };
            const heard = [ask('POST', '/echo', 'posted'), ask('GET', '/chunks')];
            const ws = new WebSocket('ws://' + location.host + '/ws');
            ws.onopen = () => ws.send('hello');
            ws.onmessage = e => {
                document.title = heard.concat(e.data).join(', ');
                ws.send('done');
            };
            </script></body></html>
            """;

    @Test
    void aBrowserLoadsAPageAndSpeaksWebSocket(@TempDir Path folder) throws Exception {
        Event done = new Event();
        HttpHandler site = (request, response) -> {
            switch (request.path()) {
                case "/" -> response.contentType("text/html").send(PAGE);
                case "/echo" -> response.send(request.body());
                case "/chunks" -> {
                    for (int i = 0; i < 3; i++) {
                        response.write("chunk " + i + ' ');
                        response.flush();
                    }
                }
                case "/ws" -> {
                    WebSocket ws = WebSocket.accept(request, response);
                    for (WebSocket.Message m = ws.receive(); m != null; m = ws.receive()) {
                        if (m.text().equals("done")) {
                            done.set();
                        } else {
                            ws.send("you said " + m.text());
                        }
                    }
                }
                case "/when-done" -> {
                    done.await();
                    response.status(204);
                }
                default -> throw new HttpException(404, "no such thing");
            }
        };
        String browser = Stream.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
                .filter(ToolsTest::isInstalled)
                .findFirst()
                .orElse("chromium");
        try (Served s = new Served(site)) {
            String said = run(
                    browser,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-background-networking",
                    "--no-first-run",
                    "--no-proxy-server",
                    "--user-data-dir=" + folder,
                    "--dump-dom",
                    at(s));
            assertThat(said).contains("<title>posted, chunk 0 chunk 1 chunk 2 , you said hello</title>");
            assertThat(s.reported).isEmpty();
        }
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .anyMatch(dir -> Files.isExecutable(Path.of(dir, program)));
    }
}
