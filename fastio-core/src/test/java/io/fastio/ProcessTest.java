package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ctrl-C, missing flags, daemon threads and large numbers, in JVMs of their own. */
final class ProcessTest {
    /** What the child JVMs run; the first argument says which. */
    static final class Programs {
        private Programs() {}

        private static void say(String what) {
            System.out.println(what);
            System.out.flush();
        }

        private static void program() throws Exception {
            Asyncio.createTask("helper", () -> {
                try {
                    Asyncio.sleepMs(1_000_000);
                } finally {
                    say("helper cleaned up");
                }
            });
            try {
                Asyncio.yieldNow();
                say("ready");
                Asyncio.sleepMs(1_000_000);
            } finally {
                say("main cleaned up");
            }
        }

        private static void stubborn() {
            say("ready");
            while (true) {
                try {
                    Asyncio.sleepMs(1_000_000);
                } catch (CancelledError e) {
                    say("ignored");
                }
            }
        }

        private static void million() throws Exception {
            int n = 1_000_000;
            Asyncio.run(() -> {
                int[] woken = new int[1];
                List<Task<Void>> tasks = new ArrayList<>(n);
                for (int i = 0; i < n; i++) {
                    tasks.add(Asyncio.createTask(() -> {
                        Asyncio.sleepMs(600_000);
                        woken[0]++;
                    }));
                    if (i % 10_000 == 0) {
                        Asyncio.yieldNow();
                    }
                }
                Asyncio.yieldNow();
                say("sleeping " + Asyncio.runningLoop().timerCount());
                for (Task<Void> t : tasks) {
                    t.cancel();
                }
                Asyncio.yieldNow();
                say("cancelled " + tasks.stream().filter(Task::cancelled).count());
                say("timers left " + Asyncio.runningLoop().timerCount());
            });
        }

        public static void main(String[] args) throws Exception {
            switch (args[0]) {
                case "run" -> Asyncio.run(() -> program());
                case "loop" -> {
                    try (EventLoop loop =
                            EventLoop.builder().handleInterrupt(true).build()) {
                        loop.run(() -> program());
                    }
                }
                case "stubborn" -> Asyncio.run(() -> stubborn());
                case "hello" -> Asyncio.run(() -> say("hello"));
                case "offload" -> {
                    Asyncio.run(() -> {
                        Asyncio.createTask(() -> Asyncio.offload(() -> {
                            while (true) {
                                Thread.onSpinWait();
                            }
                        }));
                        Asyncio.sleepMs(50);
                    });
                    say("main ended");
                }
                case "million" -> million();
                default -> throw new IllegalArgumentException(args[0]);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "loop"})
    @DisabledOnOs(OS.WINDOWS)
    void G4_ctrlCCancelsMainThenTheRestAndExits130(String program) throws Exception {
        try (ChildJvm jvm = new ChildJvm(ChildJvm.FLAGS, Programs.class, program)) {
            jvm.awaitLine("ready");
            jvm.interrupt();
            int code = jvm.exitCode();
            assertThat(jvm.output()).containsSubsequence("main cleaned up", "helper cleaned up");
            assertThat(code).isEqualTo(130);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void G4_aSecondCtrlCForces() throws Exception {
        try (ChildJvm jvm = new ChildJvm(ChildJvm.FLAGS, Programs.class, "stubborn")) {
            jvm.awaitLine("ready");
            jvm.interrupt();
            jvm.awaitLine("ignored");
            jvm.interrupt();
            assertThat(jvm.exitCode()).isEqualTo(130);
        }
    }

    @Test
    void aMissingFlagIsNamedWithEveryWayToSetIt() throws Exception {
        try (ChildJvm jvm = new ChildJvm(List.of(), Programs.class, "hello")) {
            assertThat(jvm.exitCode()).isEqualTo(1);
            assertThat(jvm.output())
                    .contains("IllegalStateException")
                    .contains("--add-opens java.base/java.lang=ALL-UNNAMED")
                    .contains("JDK_JAVA_OPTIONS")
                    .contains("Add-Opens: java.base/java.lang")
                    .contains("Surefire")
                    .contains("Gradle")
                    .doesNotContain("hello");
        }
    }

    @Test
    void onTheModulePathTheMissingFlagNamesTheModule() throws Exception {
        List<String> asModule = List.of(
                "-p",
                classesOf(EventLoop.class),
                "--add-modules",
                "io.fastio.core",
                "--patch-module",
                "io.fastio.core=" + classesOf(ProcessTest.class));
        try (ChildJvm jvm = new ChildJvm(asModule, Programs.class, "hello")) {
            assertThat(jvm.exitCode()).isEqualTo(1);
            assertThat(jvm.output())
                    .contains("<argLine>--add-opens java.base/java.lang=io.fastio.core</argLine>")
                    .doesNotContain("ALL-UNNAMED")
                    .doesNotContain("hello");
        }
    }

    private static String classesOf(Class<?> one) throws URISyntaxException {
        return Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    @Test
    void withOnlyTheOneFlagItRuns() throws Exception {
        List<String> one = List.of("--add-opens", "java.base/java.lang=ALL-UNNAMED");
        try (ChildJvm jvm = new ChildJvm(one, Programs.class, "hello")) {
            int code = jvm.exitCode();
            assertThat(jvm.output()).contains("hello");
            assertThat(code).isZero();
        }
    }

    @Test
    void F100_workThatHangsKeepsNeitherTheLoopNorTheProcessFromEnding() throws Exception {
        try (ChildJvm jvm = new ChildJvm(ChildJvm.FLAGS, Programs.class, "offload")) {
            int code = jvm.exitCode();
            assertThat(jvm.output()).contains("goes on in fastio-offload").contains("main ended");
            assertThat(code).isZero();
        }
    }

    @Test
    @Tag("slow")
    void S9_aMillionSleepingTasksInTwoGigabytes() throws Exception {
        List<String> flags = new ArrayList<>(ChildJvm.FLAGS);
        flags.add("-Xmx2g");
        try (ChildJvm jvm = new ChildJvm(flags, Programs.class, "million")) {
            int code = jvm.exitCode();
            assertThat(jvm.output())
                    .contains("sleeping 1000000")
                    .contains("cancelled 1000000")
                    .contains("timers left 0");
            assertThat(code).isZero();
        }
    }
}
