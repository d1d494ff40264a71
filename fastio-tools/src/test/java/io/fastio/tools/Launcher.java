package io.fastio.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts {@code ./fastio} as a user does, in a process of its own, and collects what came of it. */
final class Launcher {
    /** The checkout that the running tests belong to. */
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final int PATIENCE_SECONDS = 180;

    record Result(int exitCode, String out, String err) {}

    private final Map<String, String> environment = new HashMap<>();
    private Path script = ROOT.resolve("fastio");
    private Path folder = ROOT;

    Launcher() {
        // The tests must not build the checkout that is just being built and tested.
        environment.put("FASTIO_BUILD", "never");
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("PATH", System.getenv("PATH"));
        environment.put("HOME", System.getProperty("user.home"));
    }

    Launcher script(Path path) {
        script = path;
        return this;
    }

    Launcher in(Path path) {
        folder = path;
        return this;
    }

    Launcher with(String variable, Object value) {
        environment.put(variable, value.toString());
        return this;
    }

    Launcher without(String variable) {
        environment.remove(variable);
        return this;
    }

    Result run(String... arguments) throws IOException, InterruptedException {
        return start(arguments).result();
    }

    Running start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(bash().toString(), script.toString()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile("fastio-out", null);
        Path err = Files.createTempFile("fastio-err", null);
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        return new Running(builder.start(), out, err);
    }

    record Running(Process process, Path out, Path err) {
        Result result() throws IOException, InterruptedException {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("still running after " + PATIENCE_SECONDS + " s: " + Files.readString(err));
            }
            Result result = new Result(process.exitValue(), Files.readString(out), Files.readString(err));
            Files.delete(out);
            Files.delete(err);
            return result;
        }
    }

    static Path bash() {
        return tool("bash");
    }

    /** Where a program of the PATH is. */
    static Path tool(String name) {
        for (String folder : System.getenv("PATH").split(":")) {
            Path program = Path.of(folder, name);
            if (Files.isExecutable(program)) {
                return program;
            }
        }
        throw new AssertionError("no " + name + " on the PATH");
    }
}
