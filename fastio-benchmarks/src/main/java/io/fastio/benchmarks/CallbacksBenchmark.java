package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The cost of a callback that re-arms itself, through the ready queue and through the timer queue. */
final class CallbacksBenchmark implements Benchmark {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @Override
    public String name() {
        return "callbacks";
    }

    @Override
    public String description() {
        return "one callback re-armed with callSoon, and with callLater of zero: ns and bytes per call";
    }

    @Override
    public void run(Context context) throws Exception {
        // Netty is measured always: it is the goal's reference.
        List<Contender> who = context.with(
                List.of(Contender.FASTIO, Contender.CALLBACK_RING, Contender.NETTY_NIO),
                List.of(
                        Contender.NETTY_EPOLL,
                        Contender.NETTY_IO_URING,
                        Contender.VERTX_LOOP,
                        Contender.ASYNCIO,
                        Contender.NODE));
        long millis = context.pick(500, 200);
        try (Session session = new Session(context, who, List.of())) {
            report(context, "callSoon", session.measure("callbacks " + millis, 4, LIMIT));
            report(context, "callLater", session.measure("timer_callbacks " + millis, 4, LIMIT));
        }
    }

    private void report(Context context, String caseName, Map<Contender, List<Reading>> readings) {
        List<Reading> netty = readings.get(Contender.NETTY_NIO);
        double reference =
                netty == null ? Double.NaN : Session.values(netty, "ns").median();
        readings.forEach((contender, list) -> {
            Samples nanos = Session.values(list, "ns");
            Result time = Result.of(name(), caseName, contender.who(), "call", "ns", nanos);
            Result heap = Result.of(name(), caseName, contender.who(), "alloc", "B", Session.values(list, "bytes"));
            if (contender == Contender.FASTIO) {
                context.emit(time.against(reference, 1));
                context.emit(heap.against(0, 0));
            } else {
                context.emit(time);
                if (Double.isFinite(heap.value())) {
                    context.emit(heap);
                }
            }
        });
    }
}
