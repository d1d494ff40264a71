package io.fastio.tools.demo;

import java.io.IOException;
import java.util.List;

/** This process's side of {@link JdkLoad}. */
final class JdkProcess {
    private static final List<String> ONE_CARRIER =
            List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1");

    private JdkProcess() {}

    /** Runs the load in a JVM of its own. Blocks. */
    static Measurement run(Load.Phase phase, Window window, EchoClientProcess client) throws IOException {
        try (ChildJvm jvm = new ChildJvm(
                JdkLoad.class,
                ONE_CARRIER,
                Long.toString(phase.hogging().toMillis()),
                Long.toString(window.leadIn().toMillis()),
                Long.toString(window.measured().toMillis()))) {
            client.connect((int) jvm.expect("port")[0]);
            jvm.tell("go");
            jvm.expect("measuring");
            Echoes echoes = client.measure(window.measured());
            double seconds = window.measured().toNanos() / 1e9;
            long lowSteps = jvm.expect("done")[0];
            return new Measurement(Figures.of(jvm.expect("timers")), echoes, 0, lowSteps / seconds);
        }
    }
}
