package io.fastio.benchmarks;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.fastio.benchmarks.subject.Samples;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One figure.
 *
 * @param bench name of the benchmark
 * @param caseName what was varied, such as {@code n=100}
 * @param who {@code fastio}, {@code limit} or a peer's name
 * @param metric what was measured
 * @param value median of the repetitions in {@code unit}; NaN where nothing came
 * @param ratio value / reference of the goal, above 1 is worse; the value itself where the reference is zero; NaN where
 *     there is no goal
 * @param goal the ratio that must not be exceeded, or NaN
 * @param min smallest of the repetitions
 * @param max largest of the repetitions
 * @param reps number of repetitions, or of samples
 */
record Result(
        String bench,
        String caseName,
        String who,
        String metric,
        double value,
        String unit,
        double ratio,
        double goal,
        double min,
        double max,
        int reps) {
    private static final JsonFactory JSON = new JsonFactory();
    private static final MathContext DIGITS = new MathContext(4, RoundingMode.HALF_UP);
    /** Ratios are judged as they are printed, in thousandths. */
    private static final double RATIO_STEPS = 1_000;
    /**
     * What counts as none where the goal is none: the smallest object has 16 bytes, so an operation that allocated would show
     * more than this, even one in a thousand; what the JVM allocates once in a measurement shows less.
     */
    static final double NOTHING = 0.01;

    /** A figure without a goal, from one value per repetition. */
    static Result of(String bench, String caseName, String who, String metric, String unit, Samples repetitions) {
        return new Result(
                bench,
                caseName,
                who,
                metric,
                repetitions.median(),
                unit,
                Double.NaN,
                Double.NaN,
                repetitions.min(),
                repetitions.max(),
                repetitions.size());
    }

    /** The same figure judged: {@code value / reference <= goal}. */
    Result against(double reference, double goal) {
        return judgedBy(reference == 0 ? value : value / reference, goal);
    }

    /** The same figure judged by a ratio of one's own, for figures of which more is better. */
    Result judgedBy(double ratio, double goal) {
        return new Result(bench, caseName, who, metric, value, unit, ratio, goal, min, max, reps);
    }

    /** Whether the goal was met; null where there is none. A figure that did not come misses its goal. */
    @Nullable
    Boolean ok() {
        if (Double.isNaN(goal)) {
            return null;
        }
        return Math.round(ratio * RATIO_STEPS) / RATIO_STEPS <= Math.max(goal, NOTHING) && !Double.isNaN(ratio);
    }

    /** One line of JSON. */
    String json() {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = JSON.createGenerator(text)) {
            out.writeStartObject();
            out.writeStringField("bench", bench);
            out.writeStringField("case", caseName);
            out.writeStringField("who", who);
            out.writeStringField("metric", metric);
            number(out, "value", value);
            out.writeStringField("unit", unit);
            number(out, "ratio", ratio);
            number(out, "goal", goal);
            Boolean ok = ok();
            out.writeFieldName("ok");
            if (ok == null) {
                out.writeNull();
            } else {
                out.writeBoolean(ok);
            }
            number(out, "min", min);
            number(out, "max", max);
            out.writeNumberField("reps", reps);
            out.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void number(JsonGenerator out, String name, double value) throws IOException {
        out.writeFieldName(name);
        if (Double.isFinite(value)) {
            out.writeNumber(new BigDecimal(plain(value)));
        } else {
            out.writeNull();
        }
    }

    /** {@code value} with as many digits as a measurement deserves, without an exponent; {@code -} for NaN. */
    static String plain(double value) {
        if (!Double.isFinite(value)) {
            return "-";
        }
        if (Math.abs(value) < 0.000_5) {
            return "0";
        }
        BigDecimal exact = BigDecimal.valueOf(value);
        // Whole digits are kept all: 1,234,567 requests are not 1,235,000.
        BigDecimal rounded = Math.abs(value) >= 1_000 ? exact.setScale(0, RoundingMode.HALF_UP) : exact.round(DIGITS);
        BigDecimal stripped = rounded.stripTrailingZeros();
        return (stripped.scale() < 0 ? stripped.setScale(0) : stripped).toPlainString();
    }

    /** For people: value, unit and spread. */
    String text() {
        String verdict = "";
        Boolean ok = ok();
        if (ok != null) {
            verdict = String.format(
                    Locale.ROOT, "%8s of %-7s %s", plain(round(ratio)), plain(goal), ok ? "ok" : "MISSED");
        }
        return String.format(
                        Locale.ROOT,
                        "%-14s %-22s %-16s %-16s %12s %-6s %10s … %-10s %s",
                        bench,
                        caseName,
                        who,
                        metric,
                        plain(value),
                        unit,
                        plain(min),
                        plain(max),
                        verdict)
                .stripTrailing();
    }

    private static double round(double ratio) {
        return Math.round(ratio * RATIO_STEPS) / RATIO_STEPS;
    }
}
