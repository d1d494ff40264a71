package io.fastio.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** How long a thread was ready to run and had no processor: what other programs cost it. Linux only. */
final class RunDelay {
    /** Three numbers: nanoseconds on a processor, nanoseconds of waiting for one, and how often it got one. */
    private static final Path OF_THIS_THREAD = Path.of("/proc/thread-self/schedstat");

    private RunDelay() {}

    /** Since the calling thread began; empty where the system does not say. */
    static Optional<Duration> ofThisThread() throws IOException {
        if (!Files.isReadable(OF_THIS_THREAD)) {
            return Optional.empty();
        }
        String[] numbers = Files.readString(OF_THIS_THREAD).strip().split(" ");
        return Optional.of(Duration.ofNanos(Long.parseLong(numbers[1])));
    }
}
