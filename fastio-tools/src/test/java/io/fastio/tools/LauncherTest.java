package io.fastio.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.tools.Launcher.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code ./fastio} answers, from right and wrong command lines, with and without a JDK. */
final class LauncherTest {
    private static final String HELLO = """
            import io.fastio.Fastio;

            void main(String[] arguments) {
                IO.println(Fastio.version() + " " + List.of(arguments));
            }
            """;

    @TempDir
    private Path temp;

    @ParameterizedTest
    @ValueSource(strings = {"bogus", "", "--bogus", "Version"})
    void unknownCommandIsOneMessage(String command) throws Exception {
        Result result = new Launcher().run(command);

        assertThat(result)
                .isEqualTo(new Result(
                        2, "", "fastio: unknown command '" + command + "'; './fastio help' lists the commands\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"help", "--help", "-h"})
    void helpNeedsNoJdk(String command) throws Exception {
        Result result = withoutJdk().run(command);

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("demo", "run FILE.java", "test [--quick]", "bench", "doctor", "version");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void noCommandShowsTheHelp() throws Exception {
        assertThat(withoutJdk().run()).isEqualTo(withoutJdk().run("help"));
    }

    @Test
    void versionComesFromAnyFolderAndThroughLinks() throws Exception {
        Path inner = Files.createDirectory(temp.resolve("a folder"));
        Path direct = Files.createSymbolicLink(inner.resolve("direct"), Launcher.ROOT.resolve("fastio"));
        Path chained = Files.createSymbolicLink(temp.resolve("chained"), Path.of("a folder/direct"));

        for (Path script : List.of(direct, chained, Path.of("a folder/direct"))) {
            Result result = new Launcher().script(script).in(temp).run("version");
            assertThat(result.exitCode()).isZero();
            assertThat(result.err()).isEmpty();
            assertThat(result.out()).startsWith("fastio 0.1.0\nJDK " + Runtime.version());
        }
    }

    @Test
    void runPassesTheArgumentsAsTheyAre() throws Exception {
        write("Hello.java", HELLO);

        Result result = new Launcher().in(temp).run("run", "Hello.java", "two words", "-x", "@y", "*", "");

        assertThat(result).isEqualTo(new Result(0, "fastio 0.1.0 [two words, -x, @y, *, ]\n", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Dash.java", "@At.java", "With Blank.java"})
    void runTakesAFileOfAnyName(String name) throws Exception {
        write(name, "class Program { void main() { IO.println(1); } }");

        assertThat(new Launcher().in(temp).run("run", name)).isEqualTo(new Result(0, "1\n", ""));
    }

    @Test
    void runCompilesTheFilesBesideItThatItUses() throws Exception {
        write("Main.java", "class Main { void main() { IO.println(Beside.VALUE); } }");
        write("Beside.java", "class Beside { static final int VALUE = 7; }");
        write("Broken.java", "class Broken { nobody uses this }");

        Result result = new Launcher().run("run", temp.resolve("Main.java").toString());

        assertThat(result).isEqualTo(new Result(0, "7\n", ""));
    }

    @Test
    void runAllowsWhatTasksNeed() throws Exception {
        write("Flags.java", """
                void main() {
                    Module base = Object.class.getModule();
                    Module own = getClass().getModule();
                    IO.println(base.isOpen("java.lang", own) + " " + base.isExported("sun.nio.ch", own) + " "
                            + own.isNativeAccessEnabled());
                }
                """);

        assertThat(new Launcher().in(temp).run("run", "Flags.java")).isEqualTo(new Result(0, "true true true\n", ""));
    }

    @Test
    void runEndsWithTheProgramsExitCode() throws Exception {
        write("Exit.java", "class Exit { void main() { System.exit(7); } }");

        assertThat(new Launcher().in(temp).run("run", "Exit.java")).isEqualTo(new Result(7, "", ""));
    }

    @Test
    void aFailedProgramShowsTheWayFromTheFailureToItsMain() throws Exception {
        write("Failing.java", """
                import static io.fastio.Asyncio.*;

                void main() throws Exception {
                    run(() -> {
                        var inner = createTask("inner", () -> deep(2));
                        inner.await();
                    });
                }

                int deep(int n) {
                    if (n == 0) {
                        throw new IllegalStateException("broken");
                    }
                    return deep(n - 1);
                }
                """);

        Result result = new Launcher().in(temp).run("run", "Failing.java");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err().lines().map(String::strip))
                .containsSubsequence(
                        "at Failing.deep(Failing.java:12)",
                        "at Failing.deep(Failing.java:14)",
                        "at io.fastio.Task.<awaited by main>(Unknown Source)",
                        "at Failing.lambda$main$0(Failing.java:6)",
                        "at io.fastio.Task.<awaited by thread main>(Unknown Source)",
                        "at Failing.main(Failing.java:4)");
    }

    @Test
    void aCompileErrorShowsThePlaceAndNoStackTrace() throws Exception {
        write("Bad.java", "class Bad {\n    void main() { int x = \"text\"; }\n}\n");

        Result result = new Launcher().in(temp).run("run", "Bad.java");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .contains("Bad.java:2: error: incompatible types")
                .endsWith("error: compilation failed\n")
                .doesNotContain("\tat ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                    Missing.java | there is no file 'Missing.java'
                    Hello.txt    | run takes a Java source file, and 'Hello.txt' does not end in .java
                    Folder.java  | 'Folder.java' is not a file that can be read
                    """)
    void aFileThatCannotBeRunIsOneMessage(String name, String message) throws Exception {
        write("Hello.txt", HELLO);
        Files.createDirectory(temp.resolve("Folder.java"));

        assertThat(new Launcher().in(temp).run("run", name)).isEqualTo(new Result(2, "", "fastio: " + message + "\n"));
    }

    @Test
    void runWithoutAFileIsOneMessage() throws Exception {
        assertThat(new Launcher().run("run"))
                .isEqualTo(new Result(2, "", "fastio: run needs a file: ./fastio run FILE.java [ARG...]\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo", "doctor", "version"})
    void saysHowACommandIsUsed(String command) throws Exception {
        Result result = new Launcher().run(command, "--help");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).startsWith("Usage: fastio " + command + " [-h]");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void testRefusesWhatItDoesNotKnow() throws Exception {
        assertThat(new Launcher().run("test", "--fast"))
                .isEqualTo(new Result(2, "", "fastio: test knows no '--fast': ./fastio test [--quick]\n"));
    }

    @Test
    void noJdkIsOneLineThatSaysWhatToInstall() throws Exception {
        Result result = withoutJdk().run("version");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .startsWith("fastio: no JDK 25 or newer found; install one")
                .contains("apt install", "brew install", "sdk install", "JAVA_HOME")
                .containsOnlyOnce("\n");
    }

    @Test
    void aJdkThatIsTooOldIsNamed() throws Exception {
        Path old = jdk("jdk-17", "17.0.15");

        Result result = withoutJdk().with("JAVA_HOME", old).run("version");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .startsWith("fastio: no JDK 25 or newer found (too old: 17.0.15 (JAVA_HOME)); install one")
                .containsOnlyOnce("\n");
    }

    @Test
    void searchesForTheOldestJdkThatWillDo() throws Exception {
        jdk("jdk-17", "17.0.15");
        jdk("jdk-26", "26");
        jdk("jdk-25", "25.0.3");
        Files.createDirectory(temp.resolve("jdk-none"));

        Result result = withoutJdk().with("FASTIO_SEARCH", "/nowhere:" + temp).run("version");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).startsWith(temp.resolve("jdk-25/bin/java") + " ");
    }

    @Test
    void searchesTheFoldersOfMacOs() throws Exception {
        Path home = jdk("temurin-25.jdk/Contents/Home", "25.0.3");

        Result result = withoutJdk().with("FASTIO_SEARCH", temp).run("version");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).startsWith(home.resolve("bin/java") + " ");
    }

    @Test
    void javaHomeComesBeforeWhatASearchFinds() throws Exception {
        jdk("jdk-25", "25.0.3");
        Path chosen = jdk("jdk-26", "26");

        Result result = withoutJdk()
                .with("JAVA_HOME", chosen)
                .with("FASTIO_SEARCH", temp)
                .run("version");

        assertThat(result.out()).startsWith(chosen.resolve("bin/java") + " ");
    }

    @Test
    void givesTheCollectorUnlessTheUserNamesOne() throws Exception {
        Launcher launcher = withoutJdk().with("JAVA_HOME", jdk("jdk-25", "25.0.3"));

        assertThat(launcher.run("version").out()).contains(" -XX:+UseSerialGC ");
        assertThat(launcher.with("FASTIO_JAVA_OPTS", "-Xmx1g  -XX:+UseG1GC")
                        .run("version")
                        .out())
                .contains(" -Xmx1g -XX:+UseG1GC ")
                .doesNotContain("UseSerialGC");
    }

    @Test
    void noMavenIsOneLineThatSaysWhatToInstall() throws Exception {
        Result result = withoutJdk().with("JAVA_HOME", jdk("jdk-25", "25.0.3")).run("format");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .startsWith("fastio: Maven is needed to build fastio, and there is none; install it")
                .contains("apt install maven", "brew install maven")
                .containsOnlyOnce("\n");
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(temp.resolve(name), text);
    }

    /** A launcher that finds neither a JDK nor Maven, whatever this machine has. */
    private Launcher withoutJdk() throws IOException {
        Path tools = Files.createDirectories(temp.resolve("tools"));
        for (String tool : List.of("cat", "dirname", "find", "grep", "head", "mkdir", "readlink", "sed", "tr")) {
            executable(tools.resolve(tool), "exec " + Launcher.tool(tool) + " \"$@\"");
        }
        return new Launcher()
                .without("JAVA_HOME")
                .with("PATH", tools)
                .with("HOME", temp)
                .with("FASTIO_SEARCH", temp.resolve("nothing"));
    }

    /** A stand-in for a JDK, whose {@code java} prints how it was called. */
    private Path jdk(String name, String version) throws IOException {
        Path home = Files.createDirectories(temp.resolve(name));
        Files.createDirectory(home.resolve("bin"));
        for (String program : List.of("java", "javac")) {
            executable(home.resolve("bin").resolve(program), "echo \"$0 $*\"");
        }
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"nobody\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    private static void executable(Path file, String line) throws IOException {
        Files.writeString(file, "#!" + Launcher.bash() + "\n" + line + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
