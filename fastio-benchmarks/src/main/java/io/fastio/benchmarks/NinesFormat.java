package io.fastio.benchmarks;

import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;

/** Labels 1, 10, 100, 1,000 … as the percentiles that many samples out of one lie beyond: 0 %, 90 %, 99 %, 99.9 %. */
final class NinesFormat extends NumberFormat {
    private static final long serialVersionUID = 1;

    @Override
    public StringBuffer format(double number, StringBuffer into, FieldPosition position) {
        return into.append(Result.plain(100 - 100 / number)).append(" %");
    }

    @Override
    public StringBuffer format(long number, StringBuffer into, FieldPosition position) {
        return format((double) number, into, position);
    }

    @Override
    public Number parse(String text, ParsePosition position) {
        throw new UnsupportedOperationException("labels are not read back");
    }
}
