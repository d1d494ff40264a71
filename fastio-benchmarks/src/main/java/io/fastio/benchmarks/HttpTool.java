package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One of the programs that people measure web servers with, where it is installed. On the client's core; unlike
 * {@link Client} they sleep when they have nothing to do.
 *
 * @param connections open at a time
 * @param millis length of the run, in ms; a request or two at its ends count in
 */
record HttpTool(Program program, int connections, long millis) implements Load {
    private static final long SPARE_SECONDS = 30;
    private static final double MICROS_PER_MILLI = 1_000;

    /** Which one. */
    enum Program {
        /** Keeps connections alive. */
        WRK("wrk", "-v"),
        /** HTTP/1.0 with {@code Connection: keep-alive}. */
        AB("ab", "-V");

        private final String command;
        private final String versionFlag;

        Program(String command, String versionFlag) {
            this.command = command;
            this.versionFlag = versionFlag;
        }

        String command() {
            return command;
        }

        boolean isInstalled() throws InterruptedException {
            return Launcher.starts(command, versionFlag); // wrk prints its version and ends with status 1
        }
    }

    private List<String> command(int port) {
        String url = "http://127.0.0.1:" + port + "/";
        String seconds = Long.toString(Math.max(1, Math.round(millis / MICROS_PER_MILLI)));
        return switch (program) {
            case WRK -> List.of("wrk", "-t1", "-c" + connections, "-d" + seconds + "s", "--latency", url);
            // -n after -t, which sets it to 50,000.
            case AB ->
                List.of("ab", "-k", "-q", "-t", seconds, "-n", "10000000", "-c", Integer.toString(connections), url);
        };
    }

    @Override
    public Reading drive(Context context, int port, long serverPid) throws Exception {
        List<String> command = new ArrayList<>(Launcher.pinned(1));
        command.addAll(command(port));
        context.config(program.command(), String.join(" ", command).replace(Integer.toString(port), "PORT"));
        Path log = context.launcher().folder().resolve(program.command() + ".log");
        int status = Launcher.finish(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                millis / 1_000 + SPARE_SECONDS);
        String text = Files.readString(log, StandardCharsets.UTF_8);
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ended with status " + status + ":\n" + text);
        }
        return parse(program, text);
    }

    @Override
    public Load lasting(long other) {
        return new HttpTool(program, connections, other);
    }

    /** What the program printed at its end. */
    static Reading parse(Program program, String text) {
        StringBuilder line = new StringBuilder("=");
        switch (program) {
            case WRK -> {
                put(line, "rps", number(text, "Requests/sec:\\s+([0-9.]+)"));
                put(line, "p50_us", micros(text, "50%\\s+([0-9.]+)(us|ms|s)"));
                put(line, "p99_us", micros(text, "99%\\s+([0-9.]+)(us|ms|s)"));
                put(line, "max_us", micros(text, "Latency\\s+\\S+\\s+\\S+\\s+([0-9.]+)(us|ms|s)"));
                Matcher m = Pattern.compile("connect (\\d+), read (\\d+), write (\\d+), timeout (\\d+)")
                        .matcher(text);
                double errors = optional(text, "Non-2xx or 3xx responses: (\\d+)");
                if (m.find()) {
                    for (int i = 1; i <= m.groupCount(); i++) {
                        errors += Double.parseDouble(m.group(i));
                    }
                }
                put(line, "errors", errors);
            }
            case AB -> {
                put(line, "rps", number(text, "Requests per second:\\s+([0-9.]+)"));
                put(line, "p50_us", number(text, "50%\\s+(\\d+)") * MICROS_PER_MILLI);
                put(line, "p99_us", number(text, "99%\\s+(\\d+)") * MICROS_PER_MILLI);
                put(line, "max_us", number(text, "100%\\s+(\\d+)") * MICROS_PER_MILLI);
                put(
                        line,
                        "errors",
                        number(text, "Failed requests:\\s+(\\d+)")
                                + optional(text, "Non-2xx responses:\\s+(\\d+)")
                                + optional(text, "Write errors:\\s+(\\d+)"));
            }
        }
        return Reading.parse(List.of(line.toString()));
    }

    private static void put(StringBuilder line, String name, double value) {
        line.append(String.format(Locale.ROOT, " %s=%.3f", name, value));
    }

    private static double micros(String text, String pattern) {
        Matcher m = find(text, pattern);
        double scale = switch (m.group(2)) {
            case "us" -> 1;
            case "ms" -> MICROS_PER_MILLI;
            default -> MICROS_PER_MILLI * MICROS_PER_MILLI;
        };
        return Double.parseDouble(m.group(1)) * scale;
    }

    private static double number(String text, String pattern) {
        return Double.parseDouble(find(text, pattern).group(1));
    }

    private static double optional(String text, String pattern) {
        Matcher m = Pattern.compile(pattern).matcher(text);
        return m.find() ? Double.parseDouble(m.group(1)) : 0;
    }

    private static Matcher find(String text, String pattern) {
        Matcher m = Pattern.compile(pattern).matcher(text);
        if (!m.find()) {
            throw new IllegalArgumentException("no " + pattern + " in:\n" + text);
        }
        return m;
    }
}
