package io.fastio.tools;

import io.fastio.Fastio;
import io.fastio.tools.Finding.Level;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code ./fastio doctor}: what this machine offers, what is missing, and how to mend it. */
@Command(
        name = "doctor",
        description = "Look at the JDK, its flags and the kernel; say what is missing and how to mend it.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {"0:fastio works here", "1:something is missing that fastio cannot do without"})
final class DoctorCommand implements Callable<Integer> {
    private static final int ENOUGH_FILES = 4096;
    private static final int CAP_SYS_NICE = 23;
    private static final int LAUNCHER_JAVA = 25;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        List<Finding> findings = new ArrayList<>();
        findings.add(jdk());
        findings.addAll(flags());
        findings.add(collector());
        findings.add(cores());
        if (System.getProperty("os.name").equals("Linux")) {
            findings.addAll(kernel(new LinuxKernel()));
            findings.addAll(limits());
        } else {
            findings.add(Finding.ok(
                    "kernel",
                    System.getProperty("os.name") + " " + System.getProperty("os.version")
                            + ": the portable selector serves; epoll, eventfd and io_uring are Linux only"));
        }
        return report(findings);
    }

    private int report(List<Finding> findings) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(Fastio.version());
        int width = findings.stream()
                .mapToInt(finding -> finding.subject().length())
                .max()
                .orElse(0);
        for (Finding finding : findings) {
            out.printf(
                    "%-8s %-" + width + "s  %s%n", finding.level().label(), finding.subject(), finding.observation());
            if (finding.remedy() != null) {
                out.printf("%-8s %-" + width + "s  -> %s%n", "", "", finding.remedy());
            }
        }
        long missing = count(findings, Level.MISSING);
        long better = count(findings, Level.BETTER);
        out.println(
                missing > 0
                        ? "fastio cannot run like this: " + missing + " missing"
                        : "fastio works here" + (better > 0 ? "; " + better + " could be better" : ""));
        out.flush();
        return missing > 0 ? 1 : 0;
    }

    private static long count(List<Finding> findings, Level level) {
        return findings.stream().filter(finding -> finding.level() == level).count();
    }

    private static Finding jdk() {
        String found = Optional.ofNullable(System.getProperty("fastio.launcher.jdk"))
                .map(reason -> " (" + reason + ")")
                .orElse("");
        String observation = Runtime.version() + " at " + System.getProperty("java.home") + found;
        return Runtime.version().feature() == LAUNCHER_JAVA
                ? Finding.ok("JDK", observation)
                : Finding.better(
                        "JDK",
                        observation,
                        "fastio is tested on JDK 25; set JAVA_HOME to one if a newer one gives trouble");
    }

    private static List<Finding> flags() {
        Module base = Object.class.getModule();
        Module own = DoctorCommand.class.getModule();
        return List.of(
                flag(
                        "scheduler",
                        base.isOpen("java.lang", own),
                        Level.MISSING,
                        "tasks can have their own scheduler",
                        "--add-opens java.base/java.lang=ALL-UNNAMED"),
                flag(
                        "socket fds",
                        base.isExported("sun.nio.ch", own),
                        Level.BETTER,
                        "epoll can take the fd of a socket",
                        "--add-exports java.base/sun.nio.ch=ALL-UNNAMED"),
                flag(
                        "native access",
                        own.isNativeAccessEnabled(),
                        Level.BETTER,
                        "the kernel may be called without a warning",
                        "--enable-native-access=ALL-UNNAMED"));
    }

    private static Finding flag(String subject, boolean given, Level otherwise, String effect, String option) {
        return given
                ? Finding.ok(subject, effect + " (" + option + ")")
                : new Finding(
                        otherwise,
                        subject,
                        "not allowed",
                        "start the JVM with " + option + ", or put it in JDK_JAVA_OPTIONS");
    }

    private static Finding collector() {
        String names = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .collect(Collectors.joining(", "));
        String memory = Runtime.getRuntime().maxMemory() / (1024 * 1024) + " MB of heap at most, collected by " + names;
        return names.contains("MarkSweepCompact")
                ? Finding.ok("memory", memory)
                : Finding.better(
                        "memory",
                        memory,
                        "a switch between tasks costs least with -XX:+UseSerialGC, which has the cheapest barriers");
    }

    private static Finding cores() {
        int cores = Runtime.getRuntime().availableProcessors();
        return cores > 1
                ? Finding.ok("cores", Integer.toString(cores))
                : Finding.better("cores", "1", "a spinning loop would take it all; keep the idle strategy that blocks");
    }

    private static List<Finding> kernel(LinuxKernel kernel) {
        List<Finding> findings = new ArrayList<>();
        findings.add(Finding.ok(
                "kernel", "Linux " + System.getProperty("os.version") + ", " + System.getProperty("os.arch")));
        findings.add(feature(
                "epoll_pwait2",
                kernel.epollPwait2(),
                "timers to the nanosecond",
                "waits are rounded to milliseconds; Linux 5.11 or newer has it"));
        findings.add(feature(
                "eventfd", kernel.eventfd(), "wakes from other threads", "without it the portable selector serves"));
        findings.add(
                feature(
                        "io_uring",
                        kernel.ioUring(),
                        "available",
                        "not needed; to allow it: sysctl kernel.io_uring_disabled=0, and a seccomp filter that lets it through"));
        int slack = kernel.timerSlackNanos();
        findings.add(Finding.ok(
                "timer slack",
                String.format(
                        Locale.ROOT, "%,d ns on this thread: by so much the kernel may delay a timed wait", slack)));
        return findings;
    }

    private static Finding feature(String subject, LinuxKernel.Answer answer, String use, String remedy) {
        return answer.works() ? Finding.ok(subject, use) : Finding.better(subject, answer.reason(), remedy);
    }

    private static List<Finding> limits() throws IOException {
        String limits = Files.readString(Path.of("/proc/self/limits"));
        Optional<String> files = softLimit(limits, "Max open files");
        Optional<String> realtime = softLimit(limits, "Max realtime priority");
        int processors = Runtime.getRuntime().availableProcessors();
        return List.of(
                processors > 1
                        ? Finding.ok(
                                "processors", processors + ": a loop may have one for itself: thread(t -> t.cpu(1))")
                        : Finding.better(
                                "processors",
                                "one: a loop that spins (IdleStrategy.SPIN) would hold up everything else",
                                "taskset or the container's cpuset, if the machine has more"),
                files.filter(enough(ENOUGH_FILES)).isPresent()
                        ? Finding.ok("open files", files.orElseThrow() + " at most")
                        : Finding.better(
                                "open files",
                                files.orElse("unknown number") + " at most: each connection takes one",
                                "ulimit -n 65536, or LimitNOFILE= in the systemd unit"),
                realtime.filter(enough(1)).isPresent() || hasCapability(CAP_SYS_NICE)
                        ? Finding.ok(
                                "realtime",
                                "the loop's thread may be given a realtime priority: thread(t -> t.realtime(50))")
                        : Finding.better(
                                "realtime",
                                "not permitted: other programs can delay the loop's thread",
                                "ulimit -r 50, 'rtprio 50' in /etc/security/limits.conf, or CAP_SYS_NICE"));
    }

    /** A line of /proc/self/limits: the name, then the soft limit, the hard limit and the unit. */
    static Optional<String> softLimit(String limits, String name) {
        Matcher line = Pattern.compile("^" + Pattern.quote(name) + "\\s+(\\S+)", Pattern.MULTILINE)
                .matcher(limits);
        return line.find() ? Optional.of(line.group(1)) : Optional.empty();
    }

    private static Predicate<String> enough(long least) {
        return limit -> limit.equals("unlimited") || Long.parseLong(limit) >= least;
    }

    private static boolean hasCapability(int bit) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("CapEff:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .anyMatch(mask -> (Long.parseUnsignedLong(mask, 16) >>> bit & 1) == 1);
        }
    }
}
