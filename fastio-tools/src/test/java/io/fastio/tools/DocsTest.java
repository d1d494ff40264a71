package io.fastio.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compiles and runs every Java sample of the README and the docs. A sample with a {@code main} is a program, one with
 * {@code @Test} is a test class, and anything else is the inside of a task. What a sample prints must be what the block
 * marked {@code text output} says that follows it, if one does before the next sample.
 */
final class DocsTest {
    private static final int PATIENCE_SECONDS = 60;

    /** A fenced block: what follows the fence, and what is in it. */
    private static final Pattern BLOCK =
            Pattern.compile("^```([^\n]+)\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

    @TempDir
    private Path temp;

    record Sample(String place, String code, @Nullable String output) {
        boolean isTestClass() {
            return code.contains("@Test");
        }

        String program() {
            if (code.contains("void main(") || isTestClass()) {
                return code;
            }
            return """
            import static io.fastio.Asyncio.*;
            import io.fastio.*;
            import io.fastio.stream.*;
            import io.fastio.sync.*;
            import java.time.Duration;

            void main() throws Exception {
                run(() -> {
            %s
                });
            }
            """.formatted(code);
        }

        /** The name that the file must have. */
        String className() {
            Matcher declaration = Pattern.compile("^(?:public |final )*class (\\w+)", Pattern.MULTILINE)
                    .matcher(code);
            return declaration.find() ? declaration.group(1) : "Sample";
        }

        @Override
        public String toString() {
            return place;
        }
    }

    static List<Sample> samples() throws IOException {
        List<Sample> samples = new ArrayList<>();
        for (Path file : documents()) {
            String text = Files.readString(file);
            Matcher block = BLOCK.matcher(text);
            while (block.find()) {
                long line = text.substring(0, block.start()).lines().count() + 1;
                String place = Launcher.ROOT.relativize(file) + ":" + line;
                if (block.group(1).equals("java")) {
                    samples.add(new Sample(place, block.group(2), null));
                } else if (block.group(1).equals("text output")) {
                    Sample last = samples.removeLast();
                    assertThat(last.output()).as("a second output at %s", place).isNull();
                    samples.add(new Sample(last.place(), last.code(), block.group(2)));
                }
            }
        }
        return samples;
    }

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>(List.of(Launcher.ROOT.resolve("README.md")));
        documents.add(Launcher.ROOT.resolve("ARCHITECTURE.md"));
        try (Stream<Path> files = Files.walk(Launcher.ROOT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        return documents;
    }

    @ParameterizedTest
    @MethodSource("samples")
    void runsAsItStands(Sample sample) throws Exception {
        Path source = temp.resolve(sample.className() + ".java");
        Files.writeString(source, sample.program());
        Path classes = Files.createDirectory(temp.resolve("classes"));
        StringWriter messages = new StringWriter();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        boolean compiled = compiler.getTask(
                        messages,
                        null,
                        null,
                        List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none"),
                        null,
                        compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)
                                .getJavaFileObjects(source))
                .call();
        assertThat(compiled).as(messages.toString()).isTrue();

        String printed;
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
            Class<?> program = loader.loadClass(sample.className());
            printed = outputOf(() -> {
                if (sample.isTestClass()) {
                    runTests(program);
                } else {
                    runMain(program);
                }
            });
        }
        if (sample.output() != null) {
            assertThat(printed.strip()).isEqualTo(sample.output().strip());
        }
    }

    @FunctionalInterface
    private interface Program {
        void run() throws Exception;
    }

    /** Runs it on a thread of its own, in bounded time, and returns what it printed. */
    private static String outputOf(Program program) throws Exception {
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            FutureTask<Boolean> run = new FutureTask<>(() -> {
                program.run();
                return true;
            });
            Thread.ofPlatform().daemon().name("sample").start(run);
            run.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(
                    "threw " + e.getCause() + " after printing:\n" + printed.toString(StandardCharsets.UTF_8),
                    e.getCause());
        } finally {
            System.setOut(out);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    private static void runMain(Class<?> program) throws Exception {
        Method main = Arrays.stream(program.getDeclaredMethods())
                .filter(method -> method.getName().equals("main"))
                .findFirst()
                .orElseThrow();
        Object[] arguments = main.getParameterCount() == 0 ? new Object[0] : new Object[] {new String[0]};
        invoke(main, instance(program), arguments);
    }

    private static void runTests(Class<?> tests) throws Exception {
        int run = 0;
        for (Method method : tests.getDeclaredMethods()) {
            if (method.isAnnotationPresent(Test.class)) {
                invoke(method, instance(tests));
                run++;
            }
        }
        assertThat(run).isPositive();
    }

    private static Object instance(Class<?> type) throws Exception {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    private static void invoke(Method method, Object on, Object... arguments) throws Exception {
        method.setAccessible(true);
        try {
            method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        }
    }

    @Test
    void linksLeadSomewhere() throws IOException {
        Pattern link = Pattern.compile("\\]\\(([^)#]+)(?:#[^)]*)?\\)");
        for (Path document : documents()) {
            String text = BLOCK.matcher(Files.readString(document)).replaceAll("");
            for (Matcher m = link.matcher(text); m.find(); ) {
                if (URI.create(m.group(1)).getScheme() == null) {
                    assertThat(document.resolveSibling(m.group(1)))
                            .as("link in " + document)
                            .exists();
                }
            }
        }
    }
}
