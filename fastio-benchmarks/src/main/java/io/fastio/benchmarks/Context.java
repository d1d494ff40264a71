package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Samples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** What a benchmark gets: the form of the run, child processes, and where its results go. One thread only. */
final class Context {
    private static final int REPS = 5;
    private static final int SHORT_REPS = 3;

    /** The single values behind a figure, for the plots. */
    record Distribution(String bench, String caseName, String who, String unit, Samples samples) {}

    private final boolean shortForm;
    private final boolean peers;
    private final Launcher launcher;
    private final Consumer<Result> sink;
    private final Consumer<String> notes;
    private final List<Result> results = new ArrayList<>();
    private final List<Distribution> distributions = new ArrayList<>();
    private final Map<String, String> configs = new LinkedHashMap<>();

    Context(boolean shortForm, boolean peers, Launcher launcher, Consumer<Result> sink, Consumer<String> notes) {
        this.shortForm = shortForm;
        this.peers = peers;
        this.launcher = launcher;
        this.sink = sink;
        this.notes = notes;
    }

    /** A short run whose results go nowhere but into {@link #results}. */
    Context quiet() {
        return new Context(true, false, launcher, result -> {}, text -> {});
    }

    boolean isShort() {
        return shortForm;
    }

    int reps() {
        return shortForm ? SHORT_REPS : REPS;
    }

    /** One of two values, by the form of the run. */
    long pick(long full, long brief) {
        return shortForm ? brief : full;
    }

    Launcher launcher() {
        return launcher;
    }

    /** {@code own}, followed by the given peers if peers were asked for. */
    List<Contender> with(List<Contender> own, List<Contender> others) {
        return peers ? Stream.concat(own.stream(), others.stream()).toList() : own;
    }

    boolean peers() {
        return peers;
    }

    void emit(Result result) {
        results.add(result);
        sink.accept(result);
    }

    void distribution(String bench, String caseName, String who, String unit, Samples samples) {
        if (!samples.isEmpty()) {
            distributions.add(new Distribution(bench, caseName, who, unit, samples));
        }
    }

    /** How somebody is configured: told once. */
    void config(String who, String text) {
        if (configs.putIfAbsent(who + "|" + text, text) == null) {
            note(who + ": " + text);
        }
    }

    /** Tells the person something that is no result. */
    void note(String text) {
        notes.accept(text);
    }

    List<Result> results() {
        return results;
    }

    List<Distribution> distributions() {
        return distributions;
    }

    /** Name and configuration of everybody who took part. */
    List<String> configs() {
        return configs.entrySet().stream()
                .map(e -> e.getKey().substring(0, e.getKey().indexOf('|')) + ": " + e.getValue())
                .toList();
    }
}
