package io.fastio.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;

/** Where the figures come from: machine, system, JDK and flags. */
final class Machine {
    private Machine() {}

    static List<String> describe() {
        return List.of(
                "machine: " + processor() + ", " + Runtime.getRuntime().availableProcessors() + " cores, "
                        + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                "date: " + Instant.now().truncatedTo(ChronoUnit.SECONDS) + ", load "
                        + Result.plain(
                                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()),
                "jdk: " + System.getProperty("java.vm.name") + " " + Runtime.version(),
                "children: SerialGC, flags " + String.join(" ", Launcher.JVM_FLAGS));
    }

    private static String processor() {
        Path info = Path.of("/proc/cpuinfo");
        if (!Files.isReadable(info)) {
            return "processor not known";
        }
        try (Stream<String> lines = Files.lines(info)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("processor not known");
        } catch (IOException e) {
            return "processor not known (" + e.getMessage() + ")";
        }
    }
}
