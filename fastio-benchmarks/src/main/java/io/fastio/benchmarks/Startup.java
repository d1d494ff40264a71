package io.fastio.benchmarks;

import io.fastio.Fastio;
import io.fastio.benchmarks.subject.HelloMain;
import io.fastio.benchmarks.subject.Samples;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.spi.ToolProvider;

/** Start to end of a 10 ms program: wall time, peak resident memory, and the smallest heap that it runs in. */
final class Startup {
    private static final long SECONDS = 20;
    private static final double JIT_MS = 60;
    private static final double CACHED_MS = 20;
    private static final int MAX_HEAP_MB = 32;
    private static final String PLAIN = "plain";

    private final Context context;
    private final String bench;
    private final Path folder;
    private final String classPath;

    Startup(Context context, String bench) throws IOException, URISyntaxException {
        this.context = context;
        this.bench = bench;
        folder = context.launcher().folder();
        // Jars, because a cache of classes cannot be made from folders; for both programs alike.
        classPath = jar("hello", HelloMain.class) + File.pathSeparator + jar("core", Fastio.class);
    }

    private Path jar(String name, Class<?> member) throws IOException, URISyntaxException {
        Path classes = Path.of(
                member.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isRegularFile(classes)) {
            return classes;
        }
        Path jar = folder.resolve(name + ".jar");
        int status = ToolProvider.findFirst("jar")
                .orElseThrow(() -> new IOException("this runtime has no jar tool"))
                .run(System.err, System.err, "--create", "--file", jar.toString(), "-C", classes.toString(), ".");
        if (status != 0) {
            throw new IOException("jar does not pack " + classes);
        }
        return jar;
    }

    void run() throws Exception {
        Path cache = folder.resolve("hello.aot");
        Run trained = hello(List.of("-XX:AOTCacheOutput=" + cache), "fastio");
        Map<String, List<String>> variants = new LinkedHashMap<>();
        variants.put("limit", List.of());
        variants.put("fastio", List.of());
        if (trained.ok() && Files.exists(cache)) {
            variants.put("fastio, AOT cache", List.of("-XX:AOTCache=" + cache));
        } else {
            context.note("AOT cache: this JDK makes none, left out");
        }
        wallTime(variants);
        resident(variants);
        smallestHeap();
    }

    private void wallTime(Map<String, List<String>> variants) throws Exception {
        Map<String, List<Double>> millis = new LinkedHashMap<>();
        for (int round = -1; round < context.pick(15, 7); round++) {
            for (Map.Entry<String, List<String>> variant : variants.entrySet()) {
                Run run = hello(variant.getValue(), program(variant.getKey()));
                if (!run.ok()) {
                    throw new IOException("hello of " + variant.getKey() + " failed:\n" + run.output());
                }
                if (round >= 0) {
                    millis.computeIfAbsent(variant.getKey(), k -> new ArrayList<>())
                            .add(run.nanos() / 1e6);
                }
            }
        }
        double plain = samples(millis.getOrDefault("limit", List.of())).median();
        millis.forEach((variant, values) -> {
            boolean cached = variant.contains("AOT");
            String caseName = cached ? "hello, AOT cache" : "hello";
            Result time = Result.of(bench, caseName, who(variant), "start_to_end", "ms", samples(values));
            context.emit(
                    variant.equals("limit") ? time : time.against(plain, 1 + (cached ? CACHED_MS : JIT_MS) / plain));
        });
    }

    private void resident(Map<String, List<String>> variants) throws Exception {
        for (Map.Entry<String, List<String>> variant : variants.entrySet()) {
            List<Double> megabytes = new ArrayList<>();
            for (int i = 0; i < context.reps(); i++) {
                Run run = hello(variant.getValue(), program(variant.getKey()), "rss");
                megabytes.add(Double.parseDouble(run.output().getLast()) / 1_024);
            }
            String caseName = variant.getKey().contains("AOT") ? "hello, AOT cache" : "hello";
            context.emit(Result.of(bench, caseName, who(variant.getKey()), "peak_rss", "MB", samples(megabytes)));
        }
    }

    private void smallestHeap() throws Exception {
        for (String who : List.of("limit", "fastio")) {
            int megabytes = 1;
            while (megabytes < MAX_HEAP_MB
                    && !hello(List.of("-Xmx" + megabytes + "m"), program(who)).ok()) {
                megabytes++;
            }
            context.emit(Result.of(bench, "hello", who, "smallest_heap", "MB", Samples.of(megabytes)));
        }
    }

    private static String program(String variant) {
        return variant.startsWith("fastio") ? "fastio" : PLAIN;
    }

    private static String who(String variant) {
        return variant.startsWith("fastio") ? "fastio" : variant;
    }

    private static Samples samples(List<Double> values) {
        return Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    private record Run(boolean ok, long nanos, List<String> output) {}

    /** Runs the program with the JVM's own defaults for everything but the collector and what fastio requires. */
    private Run hello(List<String> flags, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--add-opens",
                "java.base/java.lang=ALL-UNNAMED",
                "--add-exports",
                "java.base/sun.nio.ch=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, HelloMain.class.getName()));
        command.addAll(List.of(arguments));
        Path out = folder.resolve("hello.out");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
        long start = System.nanoTime();
        int status = Launcher.finish(builder.start(), SECONDS);
        long nanos = System.nanoTime() - start;
        List<String> lines = Files.readAllLines(out);
        return new Run(status == 0 && lines.contains("hello"), nanos, lines);
    }
}
