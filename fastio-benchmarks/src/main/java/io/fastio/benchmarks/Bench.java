package io.fastio.benchmarks;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code bench}: runs benchmarks and prints their figures. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Measures fastio against its limits and, with --peers, against its peers.")
public final class Bench implements Callable<Integer> {
    private static final String ALL = "all";
    private static final String LIST = "list";
    private static final String GUARD = "guard";

    @Parameters(
            paramLabel = "NAME|all|list|guard",
            description = "The benchmarks to run, all of them, or list them (the default);"
                    + " guard fails if a ratio is worse than the stored one by more than 15 percent.")
    private List<String> names = List.of();

    @Option(names = "--short", description = "Take under 30 s a benchmark: fewer cases and repetitions.")
    private boolean shortForm;

    @Option(names = "--json", description = "Print one JSON object per line and nothing else on standard output.")
    private boolean json;

    @Option(names = "--peers", description = "Measure the peers as well, in turn with fastio.")
    private boolean peers;

    @Option(names = "--report", paramLabel = "FILE.html", description = "Write a page with plots.")
    private @Nullable Path report;

    @Option(
            names = "--record",
            paramLabel = "FILE",
            description = "With guard: write a new profile instead of comparing.")
    private @Nullable Path record;

    @Option(
            names = "--profile",
            paramLabel = "FILE",
            description = "With guard: compare with this profile instead of the one that fastio comes with.")
    private @Nullable Path profile;

    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final PrintStream err = new PrintStream(System.err, true, StandardCharsets.UTF_8);

    private Bench() {}

    /** Entry point; exits with 0 unless a benchmark itself failed (1) or the command line was wrong (2). */
    public static void main(String[] args) {
        CommandLine line = new CommandLine(new Bench());
        line.setParameterExceptionHandler((e, words) -> {
            line.getErr().println("fastio: bench: " + e.getMessage() + "; see './fastio bench --help'");
            return CommandLine.ExitCode.USAGE;
        });
        System.exit(line.execute(args));
    }

    @Override
    public Integer call() throws Exception {
        if (names.isEmpty() || names.equals(List.of(LIST))) {
            Catalog.all().forEach(b -> out.printf("%-14s %s%n", b.name(), b.description()));
            return 0;
        }
        if (names.equals(List.of(GUARD))) {
            return guard();
        }
        List<Benchmark> chosen = new ArrayList<>();
        for (String name : names) {
            if (name.equals(ALL)) {
                chosen.addAll(Catalog.all());
            } else {
                Optional<Benchmark> found = Catalog.find(name);
                if (found.isEmpty()) {
                    err.println("fastio: there is no benchmark \"" + name + "\"; './fastio bench list' names them all");
                    return CommandLine.ExitCode.USAGE;
                }
                chosen.add(found.get());
            }
        }
        Consumer<String> notes = json ? err::println : out::println;
        boolean failed = false;
        try (Launcher launcher = new Launcher()) {
            Context context = context(launcher, notes);
            for (Benchmark benchmark : chosen) {
                notes.accept("");
                notes.accept(benchmark.name() + ": " + benchmark.description());
                failed |= !succeeded(benchmark, context);
            }
            if (report != null) {
                Files.writeString(report, Report.html(context));
                notes.accept("report: " + report.toAbsolutePath());
            }
        }
        return failed ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
    }

    private Context context(Launcher launcher, Consumer<String> notes) {
        Machine.describe().forEach(notes);
        return new Context(shortForm, peers, launcher, r -> out.println(json ? r.json() : r.text()), notes);
    }

    private int guard() throws Exception {
        try (Launcher launcher = new Launcher()) {
            Context context = context(launcher, json ? err::println : out::println);
            Guard guard = profile == null ? new Guard(context) : new Guard(context, Files.readString(profile));
            if (record != null) {
                Files.writeString(record, guard.record());
                return CommandLine.ExitCode.OK;
            }
            return guard.run() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        }
    }

    // One benchmark that breaks must not take the figures of the others with it.
    private boolean succeeded(Benchmark benchmark, Context context) {
        try {
            benchmark.run(context);
            return true;
        } catch (Exception e) {
            err.println("benchmark " + benchmark.name() + " failed: " + e.getMessage());
            return false;
        }
    }
}
