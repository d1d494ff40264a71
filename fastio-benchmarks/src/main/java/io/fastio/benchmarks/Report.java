package io.fastio.benchmarks;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** One self-contained HTML page: machine, plots drawn as SVG in the page, and every figure in a table. */
final class Report {
    private static final Pattern SIZE = Pattern.compile("(?:n|connections)=(\\d+)");

    private static final String HEAD = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>fastio benchmarks</title>
            <style>
            :root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #2a8f5b; --bad: #c8553d; }
            body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 1.5rem; }
            h1 { font-weight: 600; } h2 { border-top: 1px solid var(--line); font-weight: 600; margin-top: 3rem; padding-top: 1rem; }
            p, li { max-width: 70ch; } ul.facts { font-family: ui-monospace, monospace; font-size: 13px; padding-left: 1.2rem; overflow-wrap: anywhere; }
            .plots { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(34rem, 100%), 1fr)); }
            figure { background: var(--soft); border-radius: 8px; margin: 0; padding: .8rem; }
            figcaption { font-weight: 600; margin-bottom: .4rem; } figure svg { display: block; height: auto; width: 100%; }
            .scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; margin-top: 1.5rem; width: 100%; }
            th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; white-space: nowrap; }
            td.n { font-variant-numeric: tabular-nums; text-align: right; } tr.own td { font-weight: 600; }
            .ok { color: var(--good); } .missed { color: var(--bad); }
            </style>
            </head>
            <body>
            """;

    private final StringBuilder html = new StringBuilder(HEAD);
    private final Context context;

    private Report(Context context) {
        this.context = context;
    }

    /** The page for everything that the context has collected. */
    static String html(Context context) {
        return new Report(context).page();
    }

    private String page() {
        html.append("<h1>fastio benchmarks</h1>\n<ul class=\"facts\">\n");
        Machine.describe().forEach(this::item);
        context.configs().forEach(this::item);
        html.append("</ul>\n<p>Each figure is the median of its repetitions; whiskers and the last columns show the"
                + " smallest and the largest. A ratio above 1 is worse than the reference of the goal.</p>\n");
        Set<String> benches =
                context.results().stream().map(Result::bench).collect(Collectors.toCollection(LinkedHashSet::new));
        benches.forEach(this::section);
        return html.append("</body>\n</html>\n").toString();
    }

    private void item(String text) {
        html.append("<li>").append(escape(text)).append("</li>\n");
    }

    private void section(String bench) {
        List<Result> results =
                context.results().stream().filter(r -> r.bench().equals(bench)).toList();
        html.append("<h2>").append(escape(bench)).append("</h2>\n<p>");
        html.append(escape(Catalog.find(bench).map(Benchmark::description).orElse("")));
        html.append("</p>\n<p><code>./fastio bench ")
                .append(escape(bench))
                .append(options())
                .append("</code></p>\n");
        html.append("<div class=\"plots\">\n");
        distributions(bench);
        SequencedMap<String, List<Result>> metrics = results.stream()
                .filter(r -> Double.isFinite(r.value()))
                .collect(Collectors.groupingBy(Result::metric, LinkedHashMap::new, Collectors.toList()));
        metrics.forEach(this::metric);
        html.append("</div>\n");
        table(results);
    }

    /** Those that the figures were made with. */
    private String options() {
        return (context.isShort() ? " --short" : "") + (context.peers() ? " --peers" : "");
    }

    private void distributions(String bench) {
        Map<String, List<Context.Distribution>> cases = context.distributions().stream()
                .filter(d -> d.bench().equals(bench))
                .collect(
                        Collectors.groupingBy(Context.Distribution::caseName, LinkedHashMap::new, Collectors.toList()));
        cases.forEach((caseName, list) ->
                figure("distribution, " + caseName + " (" + list.getFirst().unit() + ")", Plot.distribution(list)));
    }

    /** A curve where the case is a size, and bars for the last size; bars for every case elsewhere. */
    private void metric(String metric, List<Result> results) {
        String unit = results.getFirst().unit().isEmpty()
                ? ""
                : " (" + results.getFirst().unit() + ")";
        SequencedMap<String, List<Result>> cases = results.stream()
                .collect(Collectors.groupingBy(Result::caseName, LinkedHashMap::new, Collectors.toList()));
        SequencedMap<Double, List<Result>> sizes = new LinkedHashMap<>();
        cases.forEach((caseName, list) -> {
            Matcher size = SIZE.matcher(caseName);
            if (size.matches()) {
                sizes.put(Double.parseDouble(size.group(1)), list);
            }
        });
        if (sizes.size() > 1 && results.stream().anyMatch(r -> r.value() > 0)) {
            figure(metric + unit + " by " + cases.firstEntry().getKey().split("=")[0], Plot.growth(sizes));
        }
        cases.forEach((caseName, list) -> {
            boolean inCurve = sizes.size() > 1 && !sizes.lastEntry().getValue().equals(list);
            boolean flat = list.stream().allMatch(r -> r.value() == 0);
            if (list.size() > 1 && !inCurve && !flat) {
                figure(metric + unit + ", " + caseName, Plot.bars(list));
            }
        });
    }

    private void figure(String caption, String svg) {
        html.append("<figure><figcaption>").append(escape(caption)).append("</figcaption>\n");
        html.append(svg).append("\n</figure>\n");
    }

    private void table(List<Result> results) {
        html.append(
                        "<div class=\"scroll\"><table>\n<tr><th>case</th><th>who</th><th>metric</th><th>value</th><th>unit</th>")
                .append("<th>ratio</th><th>goal</th><th></th><th>min</th><th>max</th><th>reps</th></tr>\n");
        for (Result r : results) {
            Boolean ok = r.ok();
            html.append(r.who().equals("fastio") ? "<tr class=\"own\">" : "<tr>");
            cell(r.caseName());
            cell(r.who());
            cell(r.metric());
            number(r.value());
            cell(r.unit());
            number(r.ratio());
            number(r.goal());
            if (ok == null) {
                html.append("<td></td>");
            } else {
                html.append(ok ? "<td class=\"ok\">ok</td>" : "<td class=\"missed\">missed</td>");
            }
            number(r.min());
            number(r.max());
            html.append("<td class=\"n\">").append(r.reps()).append("</td></tr>\n");
        }
        html.append("</table></div>\n");
    }

    private void cell(String text) {
        html.append("<td>").append(escape(text)).append("</td>");
    }

    private void number(double value) {
        html.append("<td class=\"n\">")
                .append(Double.isNaN(value) ? "" : Result.plain(value))
                .append("</td>");
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
