package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The load: a process that keeps a number of connections busy and spins instead of sleeping, so that its own wake-ups are
 * not charged to the server. In C where there is a gcc, else in Java; all servers of a run get the same one.
 *
 * @param connections 1 to 10,000
 * @param mode what is sent, see {@link Mode}
 * @param millis length of the measured part, in ms
 * @param gapMicros pause before each request, on average, in µs; zero for the next one at once
 */
record Client(int connections, Mode mode, long millis, long gapMicros) implements Load {
    private static final long WARM_UP_MILLIS = 300;
    private static final long CONNECT_MILLIS = 30_000;

    /** What one request is. */
    enum Mode {
        /** 100 bytes, which come back. */
        ECHO,
        /** {@code GET /} on a connection that stays open. */
        HTTP,
        /** {@code GET /} on a new connection each. */
        HTTP_ONCE
    }

    /** Drives the server until the time is over: {@code rps}, {@code cpu_us} of the server per request, {@code errors}, and latencies in µs. */
    @Override
    public Reading drive(Context context, int port, long serverPid) throws Exception {
        List<String> arguments = List.of(
                Integer.toString(port),
                Integer.toString(connections),
                mode.name(),
                Long.toString(gapMicros > 0 ? 0 : WARM_UP_MILLIS),
                Long.toString(millis),
                Long.toString(gapMicros),
                Long.toString(serverPid));
        Optional<Path> program = context.launcher().program("client");
        List<String> command = new ArrayList<>(Launcher.pinned(1));
        if (program.isPresent()) {
            command.add(program.get().toString());
            command.addAll(arguments);
            context.config("client", "C, epoll, spinning");
        } else {
            command.addAll(Launcher.java(List.of(), JavaClient.class.getName(), arguments.toArray(String[]::new)));
            context.config("client", "Java, Selector, spinning");
        }
        try (Child child = new Child("client", command)) {
            return child.await("drive " + this, Duration.ofMillis(CONNECT_MILLIS + millis * 2));
        }
    }

    @Override
    public Load lasting(long other) {
        return new Client(connections, mode, other, gapMicros);
    }
}
