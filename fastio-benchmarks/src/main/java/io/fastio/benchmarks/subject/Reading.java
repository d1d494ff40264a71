package io.fastio.benchmarks.subject;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One answer of a subject: named numbers, and the single samples behind them where there are any.
 *
 * <p>On the wire an answer is any number of {@code = name=value …} and {@code # sample …} lines, closed by a line with a
 * single dot. {@code ? text} says that the subject has no such ability, {@code ! text} that the attempt failed.
 */
public record Reading(Map<String, Double> values, Samples samples) {
    public Reading {
        values = Map.copyOf(values);
    }

    static Reading of(Map<String, Double> values) {
        return new Reading(values, Samples.none());
    }

    static Reading of(String name, double value) {
        return of(Map.of(name, value));
    }

    static Reading of(Samples samples) {
        return new Reading(Map.of(), samples);
    }

    /** The named number, or NaN. */
    public double value(String name) {
        return values.getOrDefault(name, Double.NaN);
    }

    /** The lines that stand for this reading, without the closing dot. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        if (!values.isEmpty()) {
            lines.add(values.entrySet().stream()
                    .map(e -> e.getKey() + "=" + e.getValue())
                    .collect(Collectors.joining(" ", "= ", "")));
        }
        if (!samples.isEmpty()) {
            lines.add(samples.values().mapToObj(Double::toString).collect(Collectors.joining(" ", "# ", "")));
        }
        return lines;
    }

    /** The reading that {@code lines} stand for. Lines of other kinds are an error. */
    public static Reading parse(List<String> lines) {
        Map<String, Double> values = new LinkedHashMap<>();
        Samples samples = Samples.none();
        for (String line : lines) {
            String[] words = line.substring(Math.min(2, line.length())).strip().split("\\s+");
            if (line.startsWith("= ")) {
                for (String word : words) {
                    int equals = word.indexOf('=');
                    if (equals < 1) {
                        throw new IllegalArgumentException("not name=value: " + word);
                    }
                    values.put(word.substring(0, equals), Double.parseDouble(word.substring(equals + 1)));
                }
            } else if (line.startsWith("# ")) {
                double[] more = new double[words.length];
                for (int i = 0; i < more.length; i++) {
                    more[i] = Double.parseDouble(words[i]);
                }
                samples = samples.plus(Samples.of(more));
            } else {
                throw new IllegalArgumentException("unexpected line from a subject: " + line);
            }
        }
        return new Reading(values, samples);
    }
}
