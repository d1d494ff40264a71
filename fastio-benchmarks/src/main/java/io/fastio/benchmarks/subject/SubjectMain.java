package io.fastio.benchmarks.subject;

import io.fastio.benchmarks.subject.Subject.Service;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
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
            return dispatch(words).lines();
        } catch (UnsupportedOperationException e) {
            return List.of("? " + e.getMessage());
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            e.printStackTrace();
            return List.of("! " + e.toString().replace('\n', ' '));
        }
    }

    private Reading dispatch(String[] words) throws Exception {
        return switch (words[0]) {
            case "rate" -> subject.rate(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "callbacks" -> subject.callbacks(Long.parseLong(words[1]));
            case "timer_callbacks" -> subject.timerCallbacks(Long.parseLong(words[1]));
            case "timing" -> subject.timing(Long.parseLong(words[1]));
            case "wake" -> subject.wake(Integer.parseInt(words[1]));
            case "sleepers" -> subject.sleepers(Integer.parseInt(words[1]));
            case "memory" -> subject.memory(Integer.parseInt(words[1]));
            case "echo" -> serve(subject.echo(Integer.parseInt(words[1]), Long.parseLong(words[2]), words[3]));
            case "http" -> serve(subject.http());
            case "stop" -> stop();
            default -> subject.special(words[0], Arrays.copyOfRange(words, 1, words.length));
        };
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
