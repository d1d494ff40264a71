package io.fastio.tools.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Another JVM on the same class path, which is told what to do and answers line by line. It ends when its input ends, so
 * it does not outlive this process. Any thread, one at a time; reading and writing block.
 */
final class ChildJvm implements AutoCloseable {
    private final String what;
    private final Process process;
    private final BufferedReader answers;
    private final PrintStream orders;

    ChildJvm(Class<?> main, List<String> options, String... arguments) throws IOException {
        what = main.getSimpleName();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:+UseSerialGC");
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        answers = process.inputReader(StandardCharsets.UTF_8);
        orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    void tell(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        orders.println(line);
    }

    /** Waits for a line that begins with this word, and returns the numbers that follow. */
    long[] expect(String word) throws IOException {
        @Nullable String line = answers.readLine();
        if (line == null || !(line + " ").startsWith(word + " ")) {
            throw new IOException(what + " answered " + (line == null ? "nothing" : "'" + line + "'") + " in place of '"
                    + word + "'");
        }
        String numbers = line.substring(word.length()).strip();
        return numbers.isEmpty()
                ? new long[0]
                : Arrays.stream(numbers.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    /** The numbers of an answer, for the side that answers. */
    static String answer(String word, long... numbers) {
        StringBuilder line = new StringBuilder(word);
        for (long number : numbers) {
            line.append(' ').append(number);
        }
        return line.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        orders.close();
    }
}
