package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A process that answers requests, one line each, with {@linkplain Reading readings}. Every wait for it is bounded, and
 * {@link #close} ends it by its own handle. One thread uses it at a time.
 */
final class Child implements AutoCloseable {
    /** The process cannot do what it was asked. */
    static final class UnsupportedRequestException extends IOException {
        private static final long serialVersionUID = 1;

        UnsupportedRequestException(String message) {
            super(message);
        }
    }

    private static final int KEPT_ERROR_LINES = 12;
    private static final long END_SECONDS = 3;
    private static final String END_OF_STREAM = "\0";

    private final String name;
    private final Process process;
    private final BufferedWriter requests;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Deque<String> errors = new ArrayDeque<>();
    private @Nullable String config;

    Child(String name, List<String> command) throws IOException {
        this.name = name;
        process = new ProcessBuilder(command).start();
        requests = process.outputWriter(StandardCharsets.UTF_8);
        pump(process.inputReader(StandardCharsets.UTF_8), true);
        pump(process.errorReader(StandardCharsets.UTF_8), false);
    }

    private void pump(BufferedReader from, boolean answers) {
        Thread.ofPlatform()
                .daemon()
                .name(name + (answers ? " answers" : " errors"))
                .start(() -> {
                    try (from) {
                        for (String line = from.readLine(); line != null; line = from.readLine()) {
                            take(line, answers);
                        }
                    } catch (IOException e) {
                        take("lost the output of " + name + ": " + e.getMessage(), false);
                    }
                    if (answers) {
                        lines.add(END_OF_STREAM);
                    }
                });
    }

    private void take(String line, boolean answer) {
        if (answer) {
            lines.add(line);
            return;
        }
        synchronized (errors) {
            if (errors.size() == KEPT_ERROR_LINES) {
                errors.removeFirst();
            }
            errors.addLast(line);
        }
    }

    long pid() {
        return process.pid();
    }

    /** How the process says it is configured; waits for it to start. */
    String config(Duration limit) throws Exception {
        if (config == null) {
            String line = next(System.nanoTime() + limit.toNanos(), "start");
            if (!line.startsWith(".")) {
                throw new IOException(name + " began with an unexpected line: " + line);
            }
            config = line.substring(1);
        }
        return config;
    }

    /** Sends a request and waits for its answer. */
    Reading ask(String request, Duration limit) throws Exception {
        config(limit);
        try {
            requests.write(request);
            requests.newLine();
            requests.flush();
        } catch (IOException e) {
            throw new IOException(name + " does not take requests any more" + lastErrors(), e);
        }
        return await(request, limit);
    }

    /** Waits for an answer, for processes that answer without being asked. */
    Reading await(String request, Duration limit) throws Exception {
        long end = System.nanoTime() + limit.toNanos();
        List<String> answer = new ArrayList<>();
        for (String line = next(end, request); !line.equals("."); line = next(end, request)) {
            answer.add(line);
        }
        for (String line : answer) {
            if (line.startsWith("?")) {
                throw new UnsupportedRequestException(name + " cannot " + request);
            }
            if (line.startsWith("!")) {
                throw new IOException(name + " failed at \"" + request + "\": " + line.substring(1) + lastErrors());
            }
        }
        return Reading.parse(answer);
    }

    private String next(long end, String request) throws Exception {
        String line = lines.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        if (line == null) {
            throw new TimeoutException(name + " did not answer \"" + request + "\" in time" + lastErrors());
        }
        if (line.equals(END_OF_STREAM)) {
            throw new IOException(name + " ended at \"" + request + "\"" + lastErrors());
        }
        return line;
    }

    private String lastErrors() {
        synchronized (errors) {
            return errors.isEmpty() ? "" : "\n  " + String.join("\n  ", errors);
        }
    }

    /** Ends the process: first by the end of its input, then by force. */
    @Override
    public void close() {
        try {
            requests.close();
        } catch (IOException e) {
            // It has closed its end already, which is what is wanted here.
            take("closing: " + e.getMessage(), false);
        }
        try {
            if (process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
