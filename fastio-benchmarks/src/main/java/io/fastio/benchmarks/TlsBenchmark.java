package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;

/**
 * One TLS stream through a socket, both ends in one thread: 64 KiB at a time, written until the socket takes no more and
 * read until there is no more. The limit is the same by hand: two engines, two sockets, a loop.
 */
final class TlsBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @Override
    public String name() {
        return "tls";
    }

    @Override
    public String description() {
        return "throughput of one TLS stream, both ends on one loop, beside a bare loop of two SSLEngines";
    }

    @Override
    public void run(Context context) throws Exception {
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            List<Reading> readings =
                    session.measure("tls " + context.pick(200, 80), 3, LIMIT).getOrDefault(Contender.FASTIO, List.of());
            Samples bare = Session.values(readings, "bare");
            Samples fastio = Session.values(readings, "fastio");
            context.emit(Result.of(name(), "64 KiB writes", "limit", "throughput", "MB/s", bare));
            context.emit(Result.of(name(), "64 KiB writes", "fastio", "throughput", "MB/s", fastio)
                    .judgedBy(bare.median() / fastio.median(), 1.1));
        }
    }
}
