package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.SubjectMain;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Starts child processes: JVMs with the common flags, scripts, and C programs compiled on first use. */
final class Launcher implements AutoCloseable {
    private static final String COLLECTOR = "-XX:+UseSerialGC";

    /** What every JVM gets, so that no subject has an advantage. */
    static final List<String> JVM_FLAGS = List.of(
            COLLECTOR,
            "-Xms512m",
            "-Xmx2g",
            "-XX:-UsePerfData",
            "--add-opens",
            "java.base/java.lang=ALL-UNNAMED",
            "--add-exports",
            "java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-exports",
            "java.base/jdk.internal.vm=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    private static final long COMPILE_SECONDS = 60;
    private static final long PROBE_SECONDS = 10;
    private static final List<String> C_FLAGS = List.of("-O2", "-pthread");

    private final Path folder;
    private final Map<String, Optional<Path>> programs = new HashMap<>();

    Launcher() throws IOException {
        folder = Files.createTempDirectory("fastio-bench");
    }

    /** The command of a JVM with the common flags; {@code flags} come after them and so win. */
    static List<String> java(List<String> flags, String mainClass, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Two collectors at once are an error.
        boolean collector = flags.stream().anyMatch(flag -> flag.matches("-XX:\\+Use\\w*GC"));
        JVM_FLAGS.stream()
                .filter(flag -> !(collector && flag.equals(COLLECTOR)))
                .forEach(command::add);
        command.addAll(flags);
        command.add("-cp");
        command.add(classPath());
        command.add(mainClass);
        command.addAll(List.of(arguments));
        return command;
    }

    private static String classPath() {
        String modules = System.getProperty("jdk.module.path", "");
        String classes = System.getProperty("java.class.path", "");
        if (modules.isEmpty()) {
            return classes;
        }
        return classes.isEmpty() ? modules : classes + File.pathSeparator + modules;
    }

    /** Starts a contender in a process of its own; empty where this machine does not have what it needs. */
    Optional<Child> start(Contender contender, List<String> flags, List<String> prefix) throws Exception {
        Optional<List<String>> own = switch (contender.source()) {
            case SCRIPT -> script(contender.subject());
            case C -> program(contender.subject().replace(".c", "")).map(path -> List.of(path.toString()));
            case JVM -> {
                List<String> all = new ArrayList<>(contender.flags());
                all.addAll(flags);
                yield Optional.of(java(all, SubjectMain.class.getName(), contender.subject()));
            }
        };
        if (own.isEmpty()) {
            return Optional.empty();
        }
        List<String> command = new ArrayList<>(prefix);
        command.addAll(own.get());
        return Optional.of(new Child(contender.who(), command));
    }

    private Optional<List<String>> script(String resource) throws IOException, InterruptedException {
        String interpreter = resource.endsWith(".py") ? "python3" : "node";
        if (!has(interpreter, "--version")) {
            return Optional.empty();
        }
        return Optional.of(List.of(interpreter, extract(resource).toString()));
    }

    /** The compiled C program of that name; empty where there is no gcc or the system is not Linux. */
    Optional<Path> program(String name) throws IOException, InterruptedException {
        Optional<Path> known = programs.get(name);
        if (known == null) {
            known = compile(name);
            programs.put(name, known);
        }
        return known;
    }

    private Optional<Path> compile(String name) throws IOException, InterruptedException {
        if (!System.getProperty("os.name").startsWith("Linux") || !has("gcc", "--version")) {
            return Optional.empty();
        }
        Path source = extract(name + ".c");
        Path program = folder.resolve(name);
        List<String> command = new ArrayList<>(List.of("gcc"));
        command.addAll(C_FLAGS);
        command.addAll(List.of("-o", program.toString(), source.toString()));
        Path log = folder.resolve(name + ".log");
        int status = finish(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                COMPILE_SECONDS);
        if (status != 0) {
            throw new IOException("gcc does not compile " + name + ".c:\n" + Files.readString(log));
        }
        return Optional.of(program);
    }

    private Path extract(String resource) throws IOException {
        Path file = folder.resolve(resource);
        try (InputStream in = Launcher.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException("resource is missing: " + resource);
            }
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
        }
        return file;
    }

    /** For files that live as long as this launcher; it takes no folders. */
    Path folder() {
        return folder;
    }

    /** Whether a program can be started and answers with status 0. */
    static boolean has(String program, String argument) throws InterruptedException {
        return probe(program, argument) == 0;
    }

    /** Whether a program can be started at all, whatever status it ends with. */
    static boolean starts(String program, String argument) throws InterruptedException {
        return probe(program, argument) >= 0;
    }

    /** The status with which a program ends; -1 if it cannot be started, or does not end. */
    private static int probe(String program, String argument) throws InterruptedException {
        try {
            return finish(
                    new ProcessBuilder(program, argument)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start(),
                    PROBE_SECONDS);
        } catch (IOException e) {
            // Not installed.
            return -1;
        }
    }

    /** Words to put before a command so that it stays on one core; none where that is not possible. */
    static List<String> pinned(int core) throws InterruptedException {
        boolean possible = Runtime.getRuntime().availableProcessors() > 1 && has("taskset", "--version");
        return possible ? List.of("taskset", "-c", Integer.toString(core)) : List.of();
    }

    /** Runs a command to its end and returns its exit status; a process that takes longer than allowed is ended. */
    static int finish(Process process, long seconds) throws InterruptedException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            return -1;
        }
        return process.exitValue();
    }

    @Override
    public void close() throws IOException {
        List<Path> files;
        try (Stream<Path> list = Files.list(folder)) {
            files = list.toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
        Files.delete(folder);
    }
}
