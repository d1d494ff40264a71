package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A child process whose standard streams are streams (asyncio's {@code create_subprocess_exec}). On the epoll poller they are
 * pipes of our own; elsewhere, and for a process that was started otherwise, a thread serves each.
 */
public final class Subprocess implements AutoCloseable {
    private final Process process;
    private final Stream stdin;
    private final Stream stdout;
    private final Stream stderr;

    /**
     * What a process said.
     *
     * @param exitCode its exit code
     * @param stdout all that it wrote to standard output
     * @param stderr all that it wrote to standard error output; empty if that went with stdout
     */
    @SuppressWarnings("ArrayRecordComponent") // a result to be taken apart, not to be compared
    public record Output(int exitCode, byte[] stdout, byte[] stderr) {}

    private Subprocess(Process process, Stream stdin, Stream stdout, Stream stderr) {
        this.process = process;
        this.stdin = stdin;
        this.stdout = stdout;
        this.stderr = stderr;
    }

    /** {@link #start(ProcessBuilder)} of a program and its arguments. */
    public static Subprocess start(String... command) throws IOException {
        return start(new ProcessBuilder(command));
    }

    /**
     * Starts a process; waits while a platform thread does so, since that blocks.
     *
     * @param builder what to start; streams that it redirects stay so, and are empty here
     */
    public static Subprocess start(ProcessBuilder builder) throws IOException {
        LoopIo io = LoopIo.get();
        return io.fds == null ? of(run(builder)) : startWithPipes(io, io.fds, builder);
    }

    /** The streams of a process that runs already; nobody else may use its streams. Does not wait. */
    public static Subprocess of(Process p) {
        LoopIo io = LoopIo.get();
        String name = "process " + p.pid();
        return new Subprocess(
                p,
                pumped(io, null, p.getOutputStream(), name + " stdin"),
                pumped(io, p.getInputStream(), null, name + " stdout"),
                pumped(io, p.getErrorStream(), null, name + " stderr"));
    }

    /** In place of a stream that leads elsewhere: at its end, and taking nothing. */
    private static Stream redirected(LoopIo io) {
        return pumped(io, InputStream.nullInputStream(), null, "redirected");
    }

    private static Stream pumped(LoopIo io, @Nullable InputStream in, @Nullable OutputStream out, String name) {
        return new Stream(io, new PumpTransport(io, in, out, name), name);
    }

    private static Process run(ProcessBuilder builder) throws IOException {
        try {
            return Asyncio.offload(builder::start);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    /** Our pipes instead of the JDK's, whose descriptors cannot be had. The child opens its ends by their names in /proc. */
    private static Subprocess startWithPipes(LoopIo io, FdIo fds, ProcessBuilder builder) throws IOException {
        Redirect in = builder.redirectInput();
        Redirect out = builder.redirectOutput();
        Redirect err = builder.redirectError();
        Ends stdin = in == Redirect.PIPE ? new Ends(fds) : null;
        Ends stdout = null;
        Ends stderr = null;
        try {
            stdout = out == Redirect.PIPE ? new Ends(fds) : null;
            stderr = err == Redirect.PIPE && !builder.redirectErrorStream() ? new Ends(fds) : null;
            if (stdin != null) {
                builder.redirectInput(Redirect.from(file(stdin.reading)));
            }
            if (stdout != null) {
                builder.redirectOutput(Redirect.to(file(stdout.writing)));
            }
            if (stderr != null) {
                builder.redirectError(Redirect.to(file(stderr.writing)));
            }
            Process p = run(builder);
            String name = "process " + p.pid();
            return new Subprocess(
                    p,
                    stdin == null
                            ? redirected(io)
                            : Descriptors.own(stdin.takeWriting(), FdIo.O_WRONLY, name + " stdin"),
                    stdout == null
                            ? redirected(io)
                            : Descriptors.own(stdout.takeReading(), FdIo.O_RDONLY, name + " stdout"),
                    stderr == null
                            ? redirected(io)
                            : Descriptors.own(stderr.takeReading(), FdIo.O_RDONLY, name + " stderr"));
        } finally {
            builder.redirectInput(in).redirectOutput(out).redirectError(err);
            for (Ends e : new @Nullable Ends[] {stdin, stdout, stderr}) {
                if (e != null) {
                    e.close(fds);
                }
            }
        }
    }

    private static File file(int fd) {
        return new File("/proc/self/fd/" + fd);
    }

    /** The two descriptors of a pipe, until one of them becomes a stream. */
    private static final class Ends {
        int reading;
        int writing;

        Ends(FdIo fds) throws IOException {
            int[] ends = new int[2];
            int r = fds.pipe(ends, FdIo.O_CLOEXEC);
            if (r < 0) {
                throw Errno.exception("making a pipe", r);
            }
            reading = ends[0];
            writing = ends[1];
        }

        int takeReading() {
            int fd = reading;
            reading = -1;
            return fd;
        }

        int takeWriting() {
            int fd = writing;
            writing = -1;
            return fd;
        }

        void close(FdIo fds) {
            if (reading >= 0) {
                fds.close(reading);
            }
            if (writing >= 0) {
                fds.close(writing);
            }
        }
    }

    /** The process itself: for its number, for {@code destroy()}, and for its handle. */
    public Process process() {
        return process;
    }

    /** What the process reads; its end is told by {@code close()} or {@code writeEof()}. */
    public StreamWriter stdin() {
        return stdin;
    }

    /** What the process writes. */
    public StreamReader stdout() {
        return stdout;
    }

    /** What the process writes to its error output. */
    public StreamReader stderr() {
        return stderr;
    }

    /** Waits until the process ends, for its exit code. A cancel ends the wait and leaves the process alone. */
    public int waitFor() throws InterruptedException {
        return process.waitFor();
    }

    /**
     * Writes {@code input}, reads both outputs to their end, and waits for the exit ({@code communicate}). A cancel ends
     * the wait and leaves the process alone.
     */
    public Output communicate(byte[] input) throws Exception {
        Objects.requireNonNull(input, "input");
        List<byte[]> outputs = Asyncio.gather(() -> stdout.read(-1), () -> stderr.read(-1), () -> {
            feed(input);
            return input;
        });
        return new Output(waitFor(), outputs.get(0), outputs.get(1));
    }

    private void feed(byte[] input) {
        try {
            stdin.write(input);
            stdin.flush();
        } catch (IOException notWanted) {
            // A process need not read its input; its exit code tells whether it should have.
        } finally {
            stdin.close();
        }
    }

    /** Closes our ends of the streams, and ends the process if it has not ended. Does not wait. */
    @Override
    public void close() {
        stdin.abort();
        stdout.abort();
        stderr.abort();
        process.destroy();
    }

    @Override
    public String toString() {
        return "Subprocess[" + process + "]";
    }
}
