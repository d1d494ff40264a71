package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Samples;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Watches that nothing gets slower: measures ratios (never times) in the short form and compares them with a stored
 * profile. A ratio that is too large is measured again, as a loaded machine can make it so, but not smaller than it is.
 */
final class Guard {
    /** By how much a ratio may exceed the stored one. */
    private static final double TOLERANCE = 1.15;

    /** How often what is too slow is measured before it counts, and how often what is recorded is. */
    private static final int ATTEMPTS = 5;

    private static final int RECORDINGS = 3;
    private static final String PROFILE = "guard.profile";
    private static final List<Benchmark> WATCHED =
            List.of(new RateBenchmark(), new RateFeaturesBenchmark(), new AllocBenchmark(), new CallbacksBenchmark());

    private final Context context;
    private final List<Benchmark> watched;
    private final Map<String, Double> stored;

    /** Compares with the profile that fastio comes with. */
    Guard(Context context) throws IOException {
        this(context, WATCHED, parse(profile()));
    }

    /** Compares with a profile of one's own. */
    Guard(Context context, String profile) {
        this(context, WATCHED, parse(profile));
    }

    /** Compares what {@code watched} emit with the ratios of {@code stored}. */
    Guard(Context context, List<Benchmark> watched, Map<String, Double> stored) {
        this.context = context;
        this.watched = watched;
        this.stored = stored;
    }

    /** Emits one figure per stored ratio. Returns whether all are within bounds. */
    boolean run() throws Exception {
        Map<String, Double> best = new TreeMap<>();
        for (Benchmark benchmark : watched) {
            if (stored.keySet().stream().noneMatch(key -> key.startsWith(benchmark.name() + ":"))) {
                continue; // nothing of it is in the profile
            }
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                if (attempt > 0 && within(benchmark, best)) {
                    break;
                }
                measure(benchmark).forEach((key, ratio) -> best.merge(key, ratio, Math::min));
            }
        }
        boolean all = true;
        for (Map.Entry<String, Double> entry : stored.entrySet()) {
            Double ratio = best.get(entry.getKey());
            double value = ratio == null ? Double.NaN : ratio;
            Result result = Result.of("guard", entry.getKey(), Contender.FASTIO.who(), "ratio", "", Samples.of(value))
                    .against(entry.getValue(), entry.getValue() == 0 ? 0 : TOLERANCE);
            context.emit(result);
            all &= Boolean.TRUE.equals(result.ok());
        }
        return all;
    }

    /** Measures and writes what {@link #run} would compare with, in the form of the stored profile. */
    String record() throws Exception {
        StringBuilder profile =
                new StringBuilder("# Ratios to the reference of each goal: bench guard --record FILE\n");
        for (Benchmark benchmark : watched) {
            Map<String, Samples> ratios = new LinkedHashMap<>();
            for (int attempt = 0; attempt < RECORDINGS; attempt++) {
                measure(benchmark).forEach((key, ratio) -> ratios.merge(key, Samples.of(ratio), Samples::plus));
            }
            // The middle one here, the best one in a comparison: what is stored must be easy to reach again.
            ratios.forEach(
                    (key, values) -> profile.append(String.format(Locale.ROOT, "%.3f %s%n", values.median(), key)));
        }
        return profile.toString();
    }

    private boolean within(Benchmark benchmark, Map<String, Double> best) {
        return stored.entrySet().stream()
                .filter(e -> e.getKey().startsWith(benchmark.name() + ":"))
                .allMatch(e -> best.getOrDefault(e.getKey(), Double.POSITIVE_INFINITY)
                        <= Math.max(e.getValue() * TOLERANCE, Result.NOTHING));
    }

    private Map<String, Double> measure(Benchmark benchmark) throws Exception {
        Context own = context.quiet();
        benchmark.run(own);
        Map<String, Double> ratios = new LinkedHashMap<>();
        for (Result result : own.results()) {
            if (result.ok() != null) {
                ratios.put(key(result), Math.round(result.ratio() * 1_000) / 1_000.0);
            }
        }
        return ratios;
    }

    private static String key(Result result) {
        return result.bench() + ": " + result.caseName() + ": " + result.metric();
    }

    private static String profile() throws IOException {
        try (InputStream in = Guard.class.getResourceAsStream(PROFILE)) {
            if (in == null) {
                throw new IOException("resource is missing: " + PROFILE);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Lines of a ratio, a blank, and what it is the ratio of; those that begin with a number sign are remarks. */
    static Map<String, Double> parse(String profile) {
        Map<String, Double> stored = new LinkedHashMap<>();
        for (String line : profile.lines().toList()) {
            if (!line.isBlank() && !line.startsWith("#")) {
                int blank = line.indexOf(' ');
                stored.put(line.substring(blank + 1), Double.parseDouble(line.substring(0, blank)));
            }
        }
        return stored;
    }
}
