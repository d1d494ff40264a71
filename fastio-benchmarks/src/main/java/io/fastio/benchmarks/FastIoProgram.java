package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.List;

/**
 * One of the demonstrations that come with MicroPython's fast_io, with its parameters: what its documents say, beside what
 * fastio does.
 *
 * @param name the program's own name
 * @param figures what it shows
 */
record FastIoProgram(String name, String description, List<Figure> figures) implements Benchmark {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String DOCUMENT = "document";
    private static final String BOUND = "limit";

    /**
     * One number of a program.
     *
     * @param source whether the reference is said by fast_io's documents, or is a bound that follows from the load
     * @param goal ratio to {@code reference} that must not be exceeded
     */
    record Figure(String metric, String unit, String source, double reference, double goal) {}

    /** All of them that are not benchmarks of their own; {@code latency}, {@code rate} and the timers are. */
    static List<FastIoProgram> all() {
        return List.of(
                new FastIoProgram(
                        "overdue",
                        "a LOW task beside a task that is always ready: ms between its runs with maxOverdue 1 s, runs without",
                        List.of(
                                new Figure("interval", "ms", DOCUMENT, 1_000, 1.05),
                                new Figure("runs_without_limit", "", DOCUMENT, 0, 0))),
                new FastIoProgram(
                        "call_lp",
                        "ten low-priority callbacks beside a busy task: how many run meanwhile, ms until all have run after it",
                        List.of(
                                new Figure("ran_while_busy", "", DOCUMENT, 0, 0),
                                new Figure("all_ran_after", "ms", BOUND, 1, 5))),
                new FastIoProgram(
                        "priority_test",
                        "cancel and time-out of a LOW wait of 60 s beside ten tasks that block 1 ms: ms until it has ended",
                        List.of(
                                new Figure("cancel", "ms", BOUND, 10, 1.2),
                                new Figure("timeout_late", "ms", BOUND, 10, 1.2))),
                new FastIoProgram(
                        "ms_timer",
                        "three tasks with timers of 30 ms, by an I/O device, beside ten tasks that block 10 ms: ms",
                        List.of(
                                new Figure("median", "ms", DOCUMENT, 34, 1),
                                new Figure("max", "ms", DOCUMENT, 34, 1.2),
                                new Figure("sleep_median", "ms", DOCUMENT, 300, 1))),
                new FastIoProgram(
                        "pin_cb",
                        "callbacks for the changes of a pin beside ten tasks that block 10 ms: ms from change to callback",
                        List.of(
                                new Figure("median", "ms", BOUND, 10, 1),
                                new Figure("max", "ms", BOUND, 10, 1.2),
                                new Figure("missed", "changes", BOUND, 0, 0))),
                new FastIoProgram(
                        "fast_can",
                        "cancel of a task in a sleep of 60 s, nothing else to do: ms until it has ended",
                        List.of(
                                new Figure("cancel", "ms", BOUND, 1, 1),
                                new Figure("left_behind", "tasks", BOUND, 0, 0))),
                new FastIoProgram(
                        "iorw_can",
                        "cancel of a task that reads a silent stream: ms until it has ended; the writer of it goes on",
                        List.of(new Figure("cancel", "ms", BOUND, 1, 1), new Figure("lost_bytes", "B", BOUND, 0, 0))),
                new FastIoProgram(
                        "iorw_to",
                        "time-out of 50 ms around a read of a silent stream, which is read again afterwards: ms too late",
                        List.of(
                                new Figure("timeout_late", "ms", BOUND, 1, 5),
                                new Figure("lost_bytes", "B", BOUND, 0, 0))));
    }

    @Override
    public void run(Context context) throws Exception {
        try (Session session = new Session(context, List.of(Contender.FASTIO), List.of())) {
            List<Reading> readings =
                    session.measure("program " + name, 1, LIMIT).getOrDefault(Contender.FASTIO, List.of());
            for (Figure figure : figures) {
                Samples values = Session.values(readings, figure.metric());
                context.emit(Result.of(
                        name, "", figure.source(), figure.metric(), figure.unit(), Samples.of(figure.reference())));
                context.emit(Result.of(name, "", Contender.FASTIO.who(), figure.metric(), figure.unit(), values)
                        .against(figure.reference(), figure.goal()));
            }
        }
    }
}
