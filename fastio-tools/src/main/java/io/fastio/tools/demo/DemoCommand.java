package io.fastio.tools.demo;

import io.fastio.Fastio;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./fastio demo}. */
@Command(
        name = "demo",
        description = "Serve a socket and timers beside tasks that hog the processor, with and without priorities.")
public final class DemoCommand implements Callable<Integer> {
    private static final Duration LEAD_IN = Duration.ofMillis(500);

    /** By how much {@code --quick} shortens everything. */
    private static final int QUICK = 5;

    /** A gap of so many nanoseconds in the running of the loop or the client is told of. */
    private static final long WORTH_A_WORD = 500_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Print one JSON object a line and nothing else on standard output.")
    private boolean json;

    @Option(names = "--quick", hidden = true, description = "Measure for a fifth of the time.")
    private boolean quick;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter progress = spec.commandLine().getErr();
        progress.printf(
                "%s on JDK %s, %s, %d processors. An echo server on the loopback device, its client in a second%n"
                        + "process, three %d ms timers, ten tasks that hog the processor, and a LOW task: the same load in five"
                        + " ways.%n",
                Fastio.version(),
                Runtime.version(),
                System.getProperty("os.name"),
                Runtime.getRuntime().availableProcessors(),
                Load.TIMER_MILLIS);
        List<CaseFigures> table = new ArrayList<>();
        try (EchoClientProcess client = new EchoClientProcess()) {
            for (Case how : Case.values()) {
                CaseFigures figures = measure(how, client, progress);
                table.add(figures);
                if (json) {
                    figures.toJson().forEach(out::println);
                    out.flush();
                }
            }
        }
        if (!json) {
            out.print(Table.of(table));
            out.flush();
        }
        return 0;
    }

    private CaseFigures measure(Case how, EchoClientProcess client, PrintWriter progress) throws Exception {
        progress.printf(Locale.ROOT, "%n%s: %s%n", how.id(), how.description());
        Measurement timers = measure(how, Load.Phase.TIMERS, client, progress);
        Measurement echoes = measure(how, Load.Phase.ECHO, client, progress);
        return new CaseFigures(
                how, timers.timers(), echoes.echoes().figures(), (timers.lowSteps() + echoes.lowSteps()) / 2);
    }

    private Measurement measure(Case how, Load.Phase phase, EchoClientProcess client, PrintWriter progress)
            throws Exception {
        Window window = window(how);
        progress.printf(
                Locale.ROOT,
                "  hogs that work %2d ms at a time, for %.1f s... ",
                phase.hogging().toMillis(),
                window.total().toMillis() / 1e3);
        progress.flush();
        Measurement measurement = how.isOnFastio()
                ? new FastioLoad(how, phase, window, client).run()
                : JdkProcess.run(phase, window, client);
        progress.println(
                switch (phase) {
                    case TIMERS -> CaseFigures.inWords("timers took", "no timer fired", measurement.timers());
                    case ECHO ->
                        CaseFigures.inWords(
                                "replies took",
                                "no request was answered",
                                measurement.echoes().figures());
                });
        if (how.isOnFastio()) {
            tellOfGaps(phase, measurement, progress);
        }
        progress.flush();
        return measurement;
    }

    private static void tellOfGaps(Load.Phase phase, Measurement measurement, PrintWriter progress) {
        long ofLoop = measurement.longestGap();
        long ofClient = phase == Load.Phase.ECHO ? measurement.echoes().longestGap() : 0;
        if (Math.max(ofLoop, ofClient) >= WORTH_A_WORD) {
            progress.println("    (the machine gave the loop no processor for up to " + CaseFigures.millis(ofLoop)
                    + " ms" + (ofClient > 0 ? ", the client for up to " + CaseFigures.millis(ofClient) + " ms)" : ")"));
        }
    }

    private Window window(Case how) {
        // On record nothing comes of the JDK's threads, and two seconds are enough to show that.
        Window window = how.isOnFastio()
                ? new Window(LEAD_IN, Duration.ofSeconds(4))
                : new Window(LEAD_IN, Duration.ofMillis(1_500));
        return quick ? window.shorter(QUICK) : window;
    }
}
