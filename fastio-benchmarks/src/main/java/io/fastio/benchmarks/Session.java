package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;
import io.fastio.benchmarks.subject.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Several contenders, each in a fresh process, measured in turn: A B C, A B C, … so that a change of the machine's mood
 * meets all of them. A contender that cannot do what is asked drops out; one that fails is reported and drops out, unless
 * it is fastio, whose failure is the benchmark's.
 */
final class Session implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);

    private final Context context;
    private final Map<Contender, Child> children = new LinkedHashMap<>();

    Session(Context context, List<Contender> contenders, List<String> flags) throws Exception {
        this(context, contenders, flags, List.of());
    }

    /** With words put before every command, such as those that pin it to a core. */
    Session(Context context, List<Contender> contenders, List<String> flags, List<String> prefix) throws Exception {
        this.context = context;
        try {
            for (Contender contender : contenders) {
                start(contender, flags, prefix);
            }
        } catch (Exception e) {
            close();
            throw e;
        }
    }

    private void start(Contender contender, List<String> flags, List<String> prefix) throws Exception {
        Optional<Child> started = context.launcher().start(contender, flags, prefix);
        if (started.isEmpty()) {
            context.note(contender.who() + ": not installed here");
            return;
        }
        Child child = started.get();
        children.put(contender, child);
        try {
            context.config(contender.who(), child.config(START_LIMIT));
        } catch (Exception e) {
            dropOut(contender, child, e);
        }
    }

    private void dropOut(Contender contender, Child child, Exception e) throws Exception {
        if (contender == Contender.FASTIO) {
            throw e;
        }
        context.note(e.toString());
        // Its answer might still come and be taken for that to the next request.
        children.remove(contender);
        child.close();
    }

    /**
     * Asks everybody in turn, {@code warmUps} times for nothing and then once per repetition of the context. Those that
     * do not take part are missing from the result.
     */
    Map<Contender, List<Reading>> measure(String request, int warmUps, Duration limit) throws Exception {
        Map<Contender, List<Reading>> readings = new LinkedHashMap<>();
        children.keySet().forEach(contender -> readings.put(contender, new ArrayList<>()));
        for (int turn = -warmUps; turn < context.reps(); turn++) {
            for (Map.Entry<Contender, List<Reading>> entry : List.copyOf(readings.entrySet())) {
                Optional<Reading> reading = ask(entry.getKey(), request, limit);
                if (reading.isEmpty()) {
                    readings.remove(entry.getKey());
                } else if (turn >= 0) {
                    entry.getValue().add(reading.get());
                }
            }
        }
        return readings;
    }

    /** Asks everybody once. */
    Map<Contender, Reading> askAll(String request, Duration limit) throws Exception {
        Map<Contender, Reading> readings = new LinkedHashMap<>();
        for (Contender contender : List.copyOf(children.keySet())) {
            ask(contender, request, limit).ifPresent(reading -> readings.put(contender, reading));
        }
        return readings;
    }

    /** The process of a contender that has answered before. */
    long pid(Contender contender) {
        Child child = children.get(contender);
        if (child == null) {
            throw new IllegalStateException(contender + " does not take part any more");
        }
        return child.pid();
    }

    /** Asks one of them; empty if it does not take part, or not any more. */
    Optional<Reading> ask(Contender contender, String request, Duration limit) throws Exception {
        Child child = children.get(contender);
        if (child == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(child.ask(request, limit));
        } catch (Child.UnsupportedRequestException e) {
            return Optional.empty();
        } catch (Exception e) {
            dropOut(contender, child, e);
            return Optional.empty();
        }
    }

    /** One value of each reading. */
    static Samples values(List<Reading> readings, String name) {
        return Samples.of(readings.stream().mapToDouble(r -> r.value(name)).toArray());
    }

    /** One percentile of each reading's samples. */
    static Samples percentiles(List<Reading> readings, double percent) {
        return Samples.of(readings.stream()
                .mapToDouble(r -> r.samples().percentile(percent))
                .toArray());
    }

    /** The samples of all readings together. */
    static Samples all(List<Reading> readings) {
        return readings.stream().map(Reading::samples).reduce(Samples.none(), Samples::plus);
    }

    @Override
    public void close() {
        for (Child child : children.values()) {
            child.close();
        }
    }
}
