package io.fastio.tools.demo;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** This process's side of {@link EchoClient}. Its methods block; one thread at a time. */
final class EchoClientProcess implements AutoCloseable {
    /** The optimizing compiler would take processor time from the server, for code that waits for the kernel anyway. */
    private static final List<String> ONE_COMPILER = List.of("-XX:TieredStopAtLevel=1");

    private final ChildJvm jvm;

    EchoClientProcess() throws IOException {
        jvm = new ChildJvm(EchoClient.class, ONE_COMPILER);
    }

    /** Connects to the server on that port, in place of the one before, and makes some round trips. */
    void connect(int port) throws IOException {
        jvm.tell("connect", port);
        jvm.expect("connected");
    }

    /** Makes round trips for so long. */
    Echoes measure(Duration time) throws IOException {
        jvm.tell("measure", time.toMillis());
        long[] nanos = jvm.expect("echoes");
        return new Echoes(Figures.of(nanos), jvm.expect("gap")[0]);
    }

    @Override
    public void close() {
        jvm.close();
    }
}
