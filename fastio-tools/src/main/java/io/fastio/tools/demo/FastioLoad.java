package io.fastio.tools.demo;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Priority;
import io.fastio.TaskOptions;
import io.fastio.stream.Server;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;

/** The load on a loop of fastio. */
final class FastioLoad {
    /** So long LOW work may be passed over, as in fast_io's documents: beside NORMAL hogs it would not run at all. */
    private static final Duration MAX_OVERDUE = Duration.ofSeconds(1);

    private static final String HOST = "127.0.0.1";

    private final Case how;
    private final Load.Phase phase;
    private final Window window;
    private final EchoClientProcess client;

    private final Samples timers = new Samples();
    private final Gaps gaps = new Gaps();
    private boolean measuring;
    private long lowSteps;

    FastioLoad(Case how, Load.Phase phase, Window window, EchoClientProcess client) {
        this.how = how;
        this.phase = phase;
        this.window = window;
        this.client = client;
    }

    /** Runs the load on a loop that the calling thread carries meanwhile. */
    Measurement run() throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .name("demo " + how.id())
                .maxOverdue(MAX_OVERDUE)
                .build()) {
            return loop.run(this::serve);
        }
    }

    private Measurement serve() throws Exception {
        Server server = Streams.startServer(this::echo, HOST, 0);
        try {
            Asyncio.offload(() -> {
                client.connect(server.port());
                return true;
            });
            return Objects.requireNonNull(Asyncio.taskGroup(group -> {
                for (int i = 0; i < Load.TIMERS; i++) {
                    group.createTask(TaskOptions.of(how.isUrgent() ? Priority.URGENT : Priority.NORMAL), this::timer);
                }
                group.createTask(TaskOptions.of(how == Case.FAIR ? Priority.NORMAL : Priority.LOW), this::low);
                for (int i = 0; i < Load.HOGS; i++) {
                    group.createTask(TaskOptions.of(how == Case.HOGS_LOW ? Priority.LOW : Priority.NORMAL), this::hog);
                }
                Measurement measurement = measure();
                group.cancel();
                return measurement;
            }));
        } finally {
            server.close();
        }
    }

    private Measurement measure() throws Exception {
        Asyncio.sleep(window.leadIn());
        long start = System.nanoTime();
        long lowBefore = lowSteps;
        measuring = true;
        gaps.takeLongest();
        Echoes echoes = Asyncio.offload(() -> client.measure(window.measured()));
        measuring = false;
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Measurement(
                Figures.of(timers.toArray()), echoes, gaps.takeLongest(), (lowSteps - lowBefore) / seconds);
    }

    private void echo(StreamReader in, StreamWriter out) throws IOException {
        in.readPriority(how.isUrgent());
        out.writePriority(how.isUrgent());
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            out.drain();
        }
    }

    private void timer() {
        while (true) {
            long start = System.nanoTime();
            Asyncio.sleepMs(Load.TIMER_MILLIS);
            if (measuring) {
                timers.add(System.nanoTime() - start);
            }
        }
    }

    private void low() {
        while (true) {
            lowSteps++;
            Asyncio.yieldNow();
        }
    }

    private void hog() {
        while (true) {
            if (how == Case.CHECKPOINT) {
                Load.hog(phase.hogging(), gaps, Asyncio::checkpoint);
            } else {
                Load.hog(phase.hogging(), gaps);
            }
            Asyncio.yieldNow();
        }
    }
}
