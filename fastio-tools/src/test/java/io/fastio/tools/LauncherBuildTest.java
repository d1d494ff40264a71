package io.fastio.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.tools.Launcher.Result;
import io.fastio.tools.Launcher.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When {@code ./fastio} builds, in a checkout of its own that has never been built. */
@Tag("slow")
final class LauncherBuildTest {
    @TempDir
    private Path temp;

    @Test
    void buildsOnceAndThenOnlyWhatChanged() throws Exception {
        Path checkout = copyOfTheSources();
        Launcher launcher = new Launcher().without("FASTIO_BUILD").script(checkout.resolve("fastio"));

        Running first = launcher.start("version");
        Running second = launcher.start("version");
        List<Result> both = List.of(first.result(), second.result());
        assertThat(both).allSatisfy(result -> {
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).startsWith("fastio 0.1.0\n");
        });
        assertThat(both).extracting(Result::err).containsOnlyOnce("fastio: building (first time: about a minute)...\n");

        assertThat(launcher.run("version").err()).isEmpty();

        startsFromItsCache(checkout, launcher);

        Path source = checkout.resolve("fastio-tools/src/main/java/io/fastio/tools/Extra.java");
        Files.writeString(source, "package io.fastio.tools;\n\nfinal class Extra {\n    int number = \"text\";\n}\n");
        Result broken = launcher.run("version");
        assertThat(broken.exitCode()).isEqualTo(1);
        assertThat(broken.out()).isEmpty();
        assertThat(broken.err())
                .startsWith("fastio: building...\n")
                .contains("Extra.java:[4,18]", "incompatible types")
                .containsPattern("fastio: the build failed; all of its output is in .*build-tools\\.log\n$");

        Files.writeString(source, "package io.fastio.tools;\n\nfinal class Extra {\n    java.util.List raw;\n}\n");
        assertThat(launcher.run("version").err())
                .contains("Extra.java:[4,14] found raw type"); // a warning is an error here

        Files.delete(source);
        Result mended = launcher.run("version");
        assertThat(mended.exitCode()).as(mended.err()).isZero();
        assertThat(mended.err()).isEqualTo("fastio: building...\n");
    }

    /** After a build programs start with classes that the JVM kept; a cache that is broken is as good as none. */
    private void startsFromItsCache(Path checkout, Launcher launcher) throws Exception {
        Path hello = temp.resolve("Hello.java");
        Files.writeString(hello, """
                void main() throws Exception {
                    io.fastio.Asyncio.run(() -> System.out.println("hello"));
                }
                """);
        Path cache = checkout.resolve("target/.fastio/aot/run.aot");
        assertThat(cache).isNotEmptyFile();
        launcher.with("FASTIO_JAVA_OPTS", "-Xlog:class+load");
        assertThat(launcher.run("run", hello.toString()).out())
                .containsPattern("io\\.fastio\\.EventLoop source: shared objects file")
                .containsPattern("(?m)^hello$"); // more classes may be loaded behind it
        launcher.without("FASTIO_JAVA_OPTS");
        Files.writeString(cache, "broken");
        assertThat(launcher.run("run", hello.toString())).isEqualTo(new Result(0, "hello\n", ""));
    }

    @Test
    void neverBuildsWhereThatIsForbidden() throws Exception {
        Result result =
                new Launcher().script(copyOfTheSources().resolve("fastio")).run("version");

        assertThat(result)
                .isEqualTo(
                        new Result(1, "", "fastio: fastio is not built, and FASTIO_BUILD=never forbids building it\n"));
    }

    /** What git has of this checkout, near enough: everything but hidden files and what was built. */
    private Path copyOfTheSources() throws IOException {
        Path copy = temp.resolve("check out");
        try (Stream<Path> files = Files.walk(Launcher.ROOT)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                Path relative = Launcher.ROOT.relativize(file);
                if (relative.startsWith(".mvn") || (!isHidden(relative) && !isBuilt(relative))) {
                    Path target = copy.resolve(relative);
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target);
                }
            }
        }
        return copy;
    }

    private static boolean isHidden(Path relative) {
        return relative.toString().startsWith(".") || relative.toString().contains("/.");
    }

    private static boolean isBuilt(Path relative) {
        return Stream.iterate(relative, part -> part != null, Path::getParent)
                .anyMatch(part -> part.endsWith("target"));
    }
}
