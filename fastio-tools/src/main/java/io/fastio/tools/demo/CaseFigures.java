package io.fastio.tools.demo;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What one case of the demo brought: the timers beside hogs of 10 ms, the replies beside hogs of 4 ms. */
record CaseFigures(Case how, Optional<Figures> timers, Optional<Figures> echoes, double lowSteps) {
    /** One JSON object for each metric, without line ends. */
    List<String> toJson() {
        return List.of(json("timer_ms", timers), json("echo_ms", echoes));
    }

    private String json(String metric, Optional<Figures> figures) {
        return String.format(
                Locale.ROOT,
                "{\"case\":\"%s\",\"metric\":\"%s\",\"median\":%s,\"p99\":%s,\"max\":%s,\"n\":%d}",
                how.id(),
                metric,
                figures.map(f -> exactMillis(f.median())).orElse("null"),
                figures.map(f -> exactMillis(f.p99())).orElse("null"),
                figures.map(f -> exactMillis(f.max())).orElse("null"),
                figures.map(Figures::n).orElse(0));
    }

    /** The median and the greatest of these times for a reader. */
    static String inWords(String subject, String nothing, Optional<Figures> figures) {
        return figures.map(f -> subject + " " + millis(f.median()) + " ms, at most " + millis(f.max()))
                .orElse(nothing);
    }

    /** Milliseconds for a table: more digits below one. */
    static String millis(long nanos) {
        return String.format(Locale.ROOT, nanos < 1_000_000 ? "%.3f" : "%.2f", nanos / 1e6);
    }

    private static String exactMillis(long nanos) {
        return String.format(Locale.ROOT, "%.4f", nanos / 1e6);
    }
}
