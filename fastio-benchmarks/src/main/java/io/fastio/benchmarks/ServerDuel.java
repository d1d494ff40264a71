package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.io.IOException;
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

    /**
     * One case: warm-up, then the repetitions in turn. The goal is to be at least as fast as Netty epoll. A peer whose client
     * fails is left out of the case, and told of.
     */
    void run(String caseName, Load load) throws Exception {
        Load warmUp = load.lasting(context.pick(WARM_UP_MILLIS, WARM_UP_MILLIS_SHORT));
        Map<Contender, List<Reading>> readings = new LinkedHashMap<>();
        Map<Contender, Integer> present = new LinkedHashMap<>(ports);
        for (int round = -1; round < context.reps(); round++) {
            for (Map.Entry<Contender, Integer> server : List.copyOf(present.entrySet())) {
                Contender contender = server.getKey();
                Reading reading;
                try {
                    reading = (round < 0 ? warmUp : load).drive(context, server.getValue(), session.pid(contender));
                } catch (IOException e) {
                    IOException named = new IOException(contender.who() + ": " + e.getMessage(), e);
                    if (contender == Contender.FASTIO) {
                        throw named;
                    }
                    context.note(caseName + ", left out: " + named.getMessage());
                    present.remove(contender);
                    readings.remove(contender);
                    continue;
                }
                if (round >= 0) {
                    readings.computeIfAbsent(contender, c -> new ArrayList<>()).add(reading);
                }
            }
        }
        List<Reading> netty = readings.getOrDefault(Contender.NETTY_EPOLL, List.of());
        readings.forEach((contender, list) -> report(caseName, contender, list, netty));
    }

    private void report(String caseName, Contender contender, List<Reading> readings, List<Reading> netty) {
        boolean judged = contender == Contender.FASTIO && !netty.isEmpty();
        Result rate = figure(caseName, contender, "requests", "1/s", Session.values(readings, "rps"));
        Result longest = figure(caseName, contender, "latency_max", "us", Session.values(readings, "max_us"));
        Result errors = figure(caseName, contender, "errors", "", Session.values(readings, "errors"));
        if (judged) {
            rate = rate.judgedBy(Session.values(netty, "rps").median() / rate.value(), 1);
            longest = longest.against(Session.values(netty, "max_us").median(), 1);
            errors = errors.against(0, 0);
        }
        context.emit(rate);
        if (!Double.isNaN(readings.getFirst().value("cpu_us"))) {
            context.emit(figure(caseName, contender, "server_cpu", "us", Session.values(readings, "cpu_us")));
        }
        context.emit(figure(caseName, contender, "latency_p50", "us", Session.values(readings, "p50_us")));
        context.emit(figure(caseName, contender, "latency_p99", "us", Session.values(readings, "p99_us")));
        context.emit(longest);
        context.emit(errors);
        context.distribution(bench, caseName, contender.who(), "us", Session.all(readings));
    }

    private Result figure(String caseName, Contender contender, String metric, String unit, Samples values) {
        return Result.of(bench, caseName, contender.who(), metric, unit, values);
    }

    @Override
    public void close() {
        session.close();
    }
}
