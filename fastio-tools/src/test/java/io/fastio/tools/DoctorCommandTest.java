package io.fastio.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** {@code doctor}, in a JVM of its own, since what it looks at is the JVM. */
final class DoctorCommandTest {
    private static final String OPENS = "--add-opens=java.base/java.lang=ALL-UNNAMED";
    private static final String EXPORTS = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";
    private static final String SERIAL = "-XX:+UseSerialGC";
    private static final int PATIENCE_SECONDS = 60;

    private record Verdict(int exitCode, List<String> lines) {
        String about(String subject) {
            return lines.stream()
                    .filter(line -> line.substring(Math.min(9, line.length())).startsWith(subject + " "))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("nothing about " + subject + " in " + lines));
        }

        String last() {
            return lines.getLast();
        }
    }

    @Test
    void isContentWithAllFlags() throws Exception {
        Verdict verdict = doctor(OPENS, EXPORTS, NATIVE, SERIAL, "-Dfastio.launcher.jdk=JAVA_HOME");

        assertThat(verdict.exitCode()).isZero();
        assertThat(verdict.lines().getFirst()).isEqualTo("fastio 0.1.0");
        assertThat(verdict.about("JDK"))
                .contains(Runtime.version().toString(), System.getProperty("java.home"), "(JAVA_HOME)");
        assertThat(List.of("scheduler", "socket fds", "native access", "memory"))
                .allSatisfy(subject -> assertThat(verdict.about(subject)).startsWith("ok "));
        assertThat(verdict.last()).startsWith("fastio works here");
    }

    @Test
    void missesTheFlagThatTasksNeedAndSaysHowToGiveIt() throws Exception {
        Verdict verdict = doctor(EXPORTS, NATIVE, SERIAL);

        assertThat(verdict.exitCode()).isEqualTo(1);
        assertThat(verdict.about("scheduler")).startsWith("MISSING ");
        assertThat(verdict.lines())
                .anyMatch(line -> line.contains("-> start the JVM with --add-opens java.base/java.lang"));
        assertThat(verdict.last()).isEqualTo("fastio cannot run like this: 1 missing");
    }

    @Test
    void notesWhatCouldBeBetter() throws Exception {
        Verdict verdict = doctor(OPENS, NATIVE, "-XX:+UseG1GC");

        assertThat(verdict.exitCode()).isZero();
        assertThat(verdict.about("socket fds")).startsWith("note ");
        assertThat(verdict.about("memory")).startsWith("note ").contains("G1");
        assertThat(verdict.last()).contains("could be better");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void asksTheLinuxKernel() throws Exception {
        Verdict verdict = doctor(OPENS, EXPORTS, NATIVE, SERIAL);

        assertThat(verdict.about("kernel")).contains("Linux " + System.getProperty("os.version"));
        assertThat(verdict.about("eventfd")).startsWith("ok ");
        assertThat(verdict.about("epoll_pwait2")).matches("(ok|note) .*");
        assertThat(verdict.about("io_uring")).matches("(ok|note) .*");
        assertThat(verdict.about("timer slack")).containsPattern("[0-9,]+ ns");
        assertThat(verdict.about("open files")).contains(" at most");
        assertThat(verdict.about("realtime")).matches("(ok|note) .*");
    }

    @Test
    void readsTheSoftLimit() {
        String limits = """
                Limit                     Soft Limit           Hard Limit           Units
                Max open files            20000                40000                files
                Max realtime priority     unlimited            0
                """;

        assertThat(DoctorCommand.softLimit(limits, "Max open files")).contains("20000");
        assertThat(DoctorCommand.softLimit(limits, "Max realtime priority")).contains("unlimited");
        assertThat(DoctorCommand.softLimit(limits, "Max locked memory")).isEmpty();
    }

    private static Verdict doctor(String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        Stream.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "doctor")
                .forEach(command::add);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().remove("JDK_JAVA_OPTIONS");
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        Process process = builder.start();
        process.getOutputStream().close();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        return new Verdict(process.exitValue(), lines);
    }
}
