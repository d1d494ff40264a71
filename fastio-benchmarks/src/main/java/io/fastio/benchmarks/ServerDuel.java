package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Servers of several contenders, all on one core and idle but for the one whose turn it is, driven in turn by one client
 * on another core.
 */
final class ServerDuel implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final long WARM_UP_MILLIS = 3_000;
    private static final long WARM_UP_MILLIS_SHORT = 1_500;

    private final Context context;
    private final String bench;
    private final Session session;
    private final Map<Contender, Integer> ports = new LinkedHashMap<>();

    ServerDuel(Context context, String bench, List<Contender> who, String request) throws Exception {
        this.context = context;
        this.bench = bench;
        session = new Session(context, who, List.of(), Launcher.pinned(0));
        try {
            session.askAll(request, LIMIT)
                    .forEach((contender, reading) -> ports.put(contender, (int) reading.value("port")));
        } catch (Exception e) {
            session.close();
            throw e;
        }
    }

    /** One case: warm-up, then the repetitions in turn. The goal is to be at least as fast as Netty epoll. */
    void run(String caseName, Client client) throws Exception {
        Client warmUp =
                new Client(client.connections(), client.mode(), context.pick(WARM_UP_MILLIS, WARM_UP_MILLIS_SHORT), 0);
        Map<Contender, List<Reading>> readings = new LinkedHashMap<>();
        for (int round = -1; round < context.reps(); round++) {
            for (Map.Entry<Contender, Integer> server : ports.entrySet()) {
                Contender contender = server.getKey();
                Reading reading =
                        (round < 0 ? warmUp : client).drive(context, server.getValue(), session.pid(contender));
                if (round >= 0) {
                    readings.computeIfAbsent(contender, c -> new ArrayList<>()).add(reading);
                }
            }
        }
        double reference = Session.values(readings.getOrDefault(Contender.NETTY_EPOLL, List.of()), "rps")
                .median();
        readings.forEach((contender, list) -> report(caseName, contender, list, reference));
    }

    private void report(String caseName, Contender contender, List<Reading> readings, double reference) {
        String who = contender.who();
        Samples rps = Session.values(readings, "rps");
        Result rate = Result.of(bench, caseName, who, "requests", "1/s", rps);
        boolean judged = contender == Contender.FASTIO && Double.isFinite(reference);
        context.emit(judged ? rate.judgedBy(reference / rps.median(), 1) : rate);
        figure(caseName, who, "server_cpu", "us", Session.values(readings, "cpu_us"));
        figure(caseName, who, "latency_p50", "us", Session.values(readings, "p50_us"));
        figure(caseName, who, "latency_p99", "us", Session.values(readings, "p99_us"));
        figure(caseName, who, "latency_max", "us", Session.values(readings, "max_us"));
        figure(caseName, who, "errors", "", Session.values(readings, "errors"));
        context.distribution(bench, caseName, who, "us", Session.all(readings));
    }

    private void figure(String caseName, String who, String metric, String unit, Samples values) {
        context.emit(Result.of(bench, caseName, who, metric, unit, values));
    }

    @Override
    public void close() {
        session.close();
    }
}
