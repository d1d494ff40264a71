package io.fastio.benchmarks.subject;

import io.fastio.benchmarks.subject.Subject.Callbacks;
import io.fastio.benchmarks.subject.Subject.Echo;
import io.fastio.benchmarks.subject.Subject.Http;
import io.fastio.benchmarks.subject.Subject.Memory;
import io.fastio.benchmarks.subject.Subject.Rate;
import io.fastio.benchmarks.subject.Subject.Service;
import io.fastio.benchmarks.subject.Subject.Sleepers;
import io.fastio.benchmarks.subject.Subject.Special;
import io.fastio.benchmarks.subject.Subject.SpinWake;
import io.fastio.benchmarks.subject.Subject.TimerCallbacks;
import io.fastio.benchmarks.subject.Subject.Timing;
import io.fastio.benchmarks.subject.Subject.Wake;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Main class of a child JVM: builds the named subject and answers requests until standard input ends. */
public final class SubjectMain {
    private final Subject subject;
    private @Nullable Service service;

    private SubjectMain(Subject subject) {
        this.subject = subject;
    }

    public static void main(String[] args) throws Exception {
        // Libraries may print; only answers may reach the parent.
        PrintStream answers = System.out;
        System.setOut(System.err);
        SubjectMain main = new SubjectMain(subject(args[0]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        answers.println("." + main.subject.config());
        String line;
        while ((line = in.readLine()) != null) {
            main.answer(line.strip().split("\\s+")).forEach(answers::println);
            answers.println(".");
            answers.flush();
        }
        main.stop();
        // A library's worker threads must not keep the child alive.
        System.exit(0);
    }

    private static Subject subject(String name) throws Exception {
        return switch (name) {
            case "fastio" -> new FastioTasks();
            case "continuation" -> new ContinuationRing();
            case "bare-vthread" -> new BareVirtualThreads();
            case "callback-ring" -> new CallbackRing();
            case "park" -> new ParkPair();
            case "eventfd" -> new EventfdPair();
            case "sleep" -> new PlainSleep();
            case "jdk" -> new JdkThreads();
            case "netty-nio", "netty-epoll", "netty-io_uring" -> new Netty(name);
            case "vertx-loop" -> new VertxPeer(false);
            case "vertx-vt" -> new VertxPeer(true);
            case "kotlin-blocking" -> new KotlinCoroutines(false);
            case "kotlin-thread" -> new KotlinCoroutines(true);
            default -> throw new IllegalArgumentException("unknown subject: " + name);
        };
    }

    // The parent must learn of every failure, whatever its type, or it would wait for an answer in vain.
    @SuppressWarnings("CatchingUnchecked")
    private List<String> answer(String[] words) {
        try {
            return dispatch(words)
                    .map(Reading::lines)
                    .orElseGet(() -> List.of("? " + subject.getClass().getSimpleName() + " has no such role"));
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            e.printStackTrace();
            return List.of("! " + e.toString().replace('\n', ' '));
        }
    }

    /** Empty if the subject does not play the role asked for. */
    private Optional<Reading> dispatch(String[] words) throws Exception {
        return Optional.ofNullable(
                switch (words[0]) {
                    case "rate" -> subject instanceof Rate s ? s.rate(number(words[1]), millis(words[2])) : null;
                    case "callbacks" -> subject instanceof Callbacks s ? s.callbacks(millis(words[1])) : null;
                    case "timer_callbacks" ->
                        subject instanceof TimerCallbacks s ? s.timerCallbacks(millis(words[1])) : null;
                    case "timing" -> subject instanceof Timing s ? s.timing(millis(words[1])) : null;
                    case "wake" -> subject instanceof Wake s ? s.wake(number(words[1])) : null;
                    case "wake_spin" -> subject instanceof SpinWake s ? s.spinWake(number(words[1])) : null;
                    case "sleepers" -> subject instanceof Sleepers s ? s.sleepers(number(words[1])) : null;
                    case "memory" -> subject instanceof Memory s ? s.memory(number(words[1])) : null;
                    case "echo" -> echo(number(words[1]), Long.parseLong(words[2]), words[3]);
                    case "http" -> subject instanceof Http s ? serve(s.http()) : null;
                    case "stop" -> stop();
                    default ->
                        subject instanceof Special s
                                ? s.special(words[0], Arrays.copyOfRange(words, 1, words.length))
                                : null;
                });
    }

    private @Nullable Reading echo(int hogs, long hogMicros, String mode) throws Exception {
        return switch (subject) {
            case Special s
            when !mode.equals("plain") -> serve(s.urgentEcho(hogs, hogMicros, mode.equals("checkpoint")));
            case Echo s when mode.equals("plain") -> serve(s.echo(hogs, hogMicros));
            default -> null;
        };
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static long millis(String word) {
        return Long.parseLong(word);
    }

    private Reading serve(Service started) {
        service = started;
        return Reading.of("port", started.port());
    }

    private Reading stop() throws Exception {
        Service running = service;
        service = null;
        if (running != null) {
            running.server().close();
        }
        return Reading.of("stopped", 1);
    }
}
