package io.fastio.tools.demo;

import java.util.List;
import java.util.Locale;

/** The figures of all cases, beside those of the documents that fastio started from; 100 columns wide. */
final class Table {
    private static final String HEAD = "%-32s  %28s  %28s  %6s%n";

    private Table() {}

    static String of(List<CaseFigures> cases) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(HEAD, "", "30 ms timers beside ten", "request to reply beside ten", "LOW"));
        text.append(String.format(HEAD, "", "10 ms hogs, in ms", "4 ms hogs, in ms", "steps"));
        text.append(row("", "", "median", "p99", "max", "n", "median", "p99", "max", "n", "/ s"));
        for (CaseFigures c : cases) {
            text.append(row(
                    c.how().id(),
                    c.how().label(),
                    c.timers().map(Figures::median).map(CaseFigures::millis).orElse("-"),
                    c.timers().map(Figures::p99).map(CaseFigures::millis).orElse("-"),
                    c.timers().map(Figures::max).map(CaseFigures::millis).orElse("-"),
                    c.timers().map(Figures::n).orElse(0),
                    c.echoes().map(Figures::median).map(CaseFigures::millis).orElse("-"),
                    c.echoes().map(Figures::p99).map(CaseFigures::millis).orElse("-"),
                    c.echoes().map(Figures::max).map(CaseFigures::millis).orElse("-"),
                    c.echoes().map(Figures::n).orElse(0),
                    String.format(Locale.ROOT, "%.0f", c.lowSteps())));
        }
        text.append(String.format("on record for MicroPython, in the documents of fast_io:%n"));
        text.append(row("fair", "one fair queue", "300", "", "", "", "40-80", "", "", "", ""));
        text.append(row("urgent", "priority I/O", "30-34", "", "", "", "over 4", "", "", "", ""));
        return text.toString();
    }

    private static String row(Object... cells) {
        return String.format(Locale.ROOT, "%-10s %-21s  %7s %7s %7s %4s  %7s %7s %7s %4s  %6s%n", cells)
                .replaceAll(" +(?=\\R$)", "");
    }
}
