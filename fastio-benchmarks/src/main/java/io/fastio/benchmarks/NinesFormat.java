package io.fastio.benchmarks;

import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import org.jspecify.annotations.Nullable;

/** Labels 1, 10, 100, 1,000 … as the percentiles that many samples out of one lie beyond: 0 %, 90 %, 99 %, 99.9 %. */
final class NinesFormat extends NumberFormat {
    private static final long serialVersionUID = 1;
    private static final String SUFFIX = " %";

    @Override
    public StringBuffer format(double number, StringBuffer into, FieldPosition position) {
        return into.append(Result.plain(100 - 100 / number)).append(SUFFIX);
    }

    @Override
    public StringBuffer format(long number, StringBuffer into, FieldPosition position) {
        return format((double) number, into, position);
    }

    /** The number that {@code text} labels, from the parse position on; null, and the position where it failed, if none. */
    @Override
    public @Nullable Number parse(String text, ParsePosition position) {
        int start = position.getIndex();
        int end = text.indexOf(SUFFIX, start);
        try {
            double percent = Double.parseDouble(end < 0 ? "" : text.substring(start, end));
            position.setIndex(end + SUFFIX.length());
            return 100 / (100 - percent);
        } catch (NumberFormatException e) {
            position.setErrorIndex(start);
            return null;
        }
    }
}
