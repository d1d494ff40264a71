package io.fastio;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of its own that runs a class of the tests: for what ends the process, or needs flags and memory of its own. */
public final class ChildJvm implements AutoCloseable {
    public static final List<String> FLAGS = List.of(
            "--add-opens",
            "java.base/java.lang=ALL-UNNAMED",
            "--add-exports",
            "java.base/sun.nio.ch=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UseSerialGC");

    private final Process process;
    private final BufferedReader out;
    private final StringBuilder seen = new StringBuilder();

    ChildJvm(List<String> flags, Class<?> main, String... args) throws IOException {
        ProcessBuilder b = new ProcessBuilder(command(flags, main, args)).redirectErrorStream(true);
        b.environment().remove("JDK_JAVA_OPTIONS");
        b.environment().remove("JAVA_TOOL_OPTIONS");
        this.process = b.start();
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** What starts one. */
    public static List<String> command(List<String> flags, Class<?> main, String... args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main.getName());
        command.addAll(List.of(args));
        return command;
    }

    /** Reads its output up to a line that contains {@code text}. */
    void awaitLine(String text) throws IOException {
        for (String line; (line = out.readLine()) != null; ) {
            seen.append(line).append('\n');
            if (line.contains(text)) {
                return;
            }
        }
        throw new AssertionError("no line with " + text + " in:\n" + seen);
    }

    /** {@code kill -INT}, as a terminal sends it on Ctrl-C. */
    void interrupt() throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
    }

    /** Waits for its end; returns the exit code. */
    int exitCode() throws IOException, InterruptedException {
        for (String line; (line = out.readLine()) != null; ) {
            seen.append(line).append('\n');
        }
        if (!process.waitFor(100, TimeUnit.SECONDS)) {
            throw new AssertionError("did not end; output:\n" + seen);
        }
        return process.exitValue();
    }

    /** All of its output that has been read. */
    String output() {
        return seen.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
