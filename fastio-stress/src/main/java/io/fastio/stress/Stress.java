package io.fastio.stress;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

/**
 * Runs the cases, and then the twins of each, which have to be found out. {@code ./fastio stress} is the long form, {@code
 * ./fastio test} runs the short one.
 */
public final class Stress {
    /** How long each case runs: in so many JVMs, so many times for so many milliseconds. */
    public record Effort(int forks, int iterations, int millis) {
        /** About three minutes for all, twins included, on two processors. */
        public static final Effort SHORT = new Effort(1, 2, 80);

        /** An hour for all, on two processors. */
        public static final Effort LONG = new Effort(2, 5, 600);
    }

    /**
     * What came of one case, or of one of its twins.
     *
     * @param twin 0 for the real thing, else which twin
     * @param states how many interleavings were tried
     * @param forbidden in how many of them the rule was broken
     * @param trouble what else went wrong: a JVM that died, an exception; empty if nothing did
     */
    public record Verdict(Class<?> testCase, int twin, long states, long forbidden, String trouble) {
        /** Whether the real thing keeps its rule, or the twin was found out. */
        public boolean isRight() {
            return trouble.isEmpty() && states > 0 && (twin == 0) == (forbidden == 0);
        }

        @Override
        public String toString() {
            String name = testCase.getSimpleName();
            if (twin == 0) {
                return "%s: %,d states, %s%s"
                        .formatted(name, states, forbidden == 0 ? "fine" : forbidden + " FORBIDDEN", trouble);
            }
            Twin t = testCase.getAnnotationsByType(Twin.class)[twin - 1];
            return "%s without the %s of %s in %s.%s: %s%s"
                    .formatted(
                            name,
                            t.guard().name().toLowerCase(java.util.Locale.ROOT),
                            t.lacks(),
                            t.of(),
                            t.in(),
                            forbidden > 0 ? "found out, %,d of %,d".formatted(forbidden, states) : "NOT FOUND OUT",
                            trouble);
        }
    }

    private static final int MORE_PASSES = 3;
    private static final String TEST_LIST = "META-INF/TestList";

    private Stress() {}

    /** {@code [--short] [NAME...]}: the cases whose names contain one of these, or all. */
    public static void main(String[] args) throws Exception {
        List<String> wanted = new ArrayList<>(Arrays.asList(args));
        Effort effort = wanted.remove("--short") ? Effort.SHORT : Effort.LONG;
        List<Class<?>> cases = cases();
        cases.removeIf(c -> !wanted.isEmpty() && wanted.stream().noneMatch(c.getSimpleName()::contains));
        if (cases.isEmpty()) {
            System.err.println("no case is called that; there are: "
                    + cases().stream().map(Class::getSimpleName).collect(Collectors.joining(", ")));
            System.exit(2);
        }
        System.err.printf(
                "fastio: %d cases and their broken twins (all of them: three minutes with --short, an hour without)...%n",
                cases.size());
        Path folder = Files.createTempDirectory("fastio-stress");
        List<Verdict> verdicts = new ArrayList<>();
        int atATime =
                effort == Effort.SHORT ? cases.size() : 1; // one takes a minute or more: so often something is told
        for (int i = 0; i < cases.size(); i += atATime) {
            List<Class<?>> some = cases.subList(i, i + atATime);
            List<Verdict> theirs = run(some, effort, folder.resolve("from-case-" + (i + 1)));
            theirs.forEach(System.out::println);
            verdicts.addAll(theirs);
        }
        long wrong = verdicts.stream().filter(v -> !v.isRight()).count();
        System.out.printf("%d cases and twins, %d wrong; reports in %s%n", verdicts.size(), wrong, folder);
        System.exit(wrong == 0 ? 0 : 1);
    }

    /** All cases, by name. */
    public static List<Class<?>> cases() throws IOException, ClassNotFoundException {
        ClassLoader loader = Stress.class.getClassLoader();
        String list;
        try (InputStream in = loader.getResourceAsStream(TEST_LIST)) {
            if (in == null) {
                throw new IOException("no cases were compiled");
            }
            list = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        TreeSet<String> names = new TreeSet<>();
        java.util.regex.Matcher m = java.util.regex.Pattern.compile("io\\.fastio\\.[a-zA-Z.]*Case(?=\\d)")
                .matcher(list);
        while (m.find()) {
            names.add(m.group());
        }
        List<Class<?>> cases = new ArrayList<>();
        for (String name : names) {
            cases.add(Class.forName(name, false, loader));
        }
        cases.sort(Comparator.comparing(Class::getName));
        return cases;
    }

    /** Runs these cases and all their twins; the reports of jcstress go to {@code folder}. */
    public static List<Verdict> run(List<Class<?>> cases, Effort effort, Path folder)
            throws IOException, InterruptedException, ClassNotFoundException {
        List<Verdict> verdicts = new ArrayList<>();
        for (int twin = 0; ; twin++) {
            int number = twin;
            List<Class<?>> these = cases.stream()
                    .filter(c -> c.getAnnotationsByType(Twin.class).length >= number)
                    .toList();
            if (these.isEmpty()) {
                return verdicts;
            }
            List<Verdict> pass = new ArrayList<>(pass(these, number, effort, folder.resolve("twin-" + number)));
            for (int again = 1; number > 0 && again <= MORE_PASSES; again++) {
                tryAgain(pass, number, folder.resolve("twin-" + number + "-again-" + again));
            }
            verdicts.addAll(pass);
        }
    }

    /** On a slow machine too few threads may meet: a twin that was not found out gets the long form before it counts as one. */
    private static void tryAgain(List<Verdict> verdicts, int twin, Path folder)
            throws IOException, InterruptedException, ClassNotFoundException {
        List<Class<?>> missed = new ArrayList<>();
        for (Verdict v : verdicts) {
            if (v.trouble().isEmpty() && v.forbidden() == 0) {
                missed.add(v.testCase());
            }
        }
        if (!missed.isEmpty()) {
            verdicts.removeIf(v -> missed.contains(v.testCase()));
            verdicts.addAll(pass(missed, twin, Effort.LONG, folder));
        }
    }

    private static List<Verdict> pass(List<Class<?>> cases, int twin, Effort effort, Path folder)
            throws IOException, InterruptedException, ClassNotFoundException {
        Files.createDirectories(folder);
        String names = cases.stream().map(Class::getName).collect(Collectors.joining("|", "^(", ")$"));
        String jvm = "--add-opens java.base/java.lang=ALL-UNNAMED --add-exports java.base/sun.nio.ch=ALL-UNNAMED"
                + " --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -D" + Twins.PROPERTY + "=" + twin;
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath(),
                "org.openjdk.jcstress.Main"));
        // One kind of compilation and no pinning: there are two processors, and what matters is the number of meetings.
        command.addAll(
                List.of("-sc", "false", "-af", "NONE", "-pth", "false", "-c", "2", "-t", names, "-jvmArgs", jvm));
        command.addAll(List.of("-f", "" + effort.forks(), "-iters", "" + effort.iterations()));
        command.addAll(List.of("-time", "" + effort.millis(), "-r", folder.toString()));
        Path log = folder.resolve("jcstress.log");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        long limit = 180 + 2L * cases.size() * effort.forks() * (3 + effort.iterations() * effort.millis() / 1000);
        if (!process.waitFor(limit, TimeUnit.SECONDS)) { // a case that goes round in circles
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new IOException("jcstress did not end within " + limit + " s; see " + log);
        }
        return verdicts(cases, twin, folder, log);
    }

    /** Absolute, since jcstress works in another folder, where it leaves its results. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(java.io.File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(java.io.File.pathSeparator));
    }

    private static List<Verdict> verdicts(List<Class<?>> cases, int twin, Path folder, Path log)
            throws IOException, ClassNotFoundException {
        InProcessCollector collector = new InProcessCollector();
        try (Stream<Path> files = Files.list(folder)) {
            Path results = files.filter(p -> p.toString().endsWith(".bin.gz"))
                    .max(Comparator.naturalOrder())
                    .orElseThrow(() -> new IOException("jcstress left no results; see " + log));
            DiskReadCollector reader = new DiskReadCollector(results.toString(), collector);
            try {
                reader.dump();
            } finally {
                reader.close();
            }
        }
        List<Verdict> verdicts = new ArrayList<>();
        for (Class<?> c : cases) {
            long states = 0;
            long forbidden = 0;
            StringBuilder trouble = new StringBuilder();
            for (TestResult r : collector.getTestResults()) {
                if (r.getName().equals(c.getName())) {
                    states += r.getTotalCount();
                    forbidden += r.grading().gradingResults.values().stream()
                            .filter(g -> g.expect == Expect.FORBIDDEN)
                            .mapToLong(g -> g.count)
                            .sum();
                    if (r.status() != Status.NORMAL) {
                        trouble.append(" [").append(r.status()).append("] ");
                        Stream.of(r.getMessages(), r.getVmErr())
                                .forEach(lines -> trouble.append(String.join("\n", lines)));
                    }
                }
            }
            verdicts.add(new Verdict(c, twin, states, forbidden, trouble.toString()));
        }
        return verdicts;
    }
}
