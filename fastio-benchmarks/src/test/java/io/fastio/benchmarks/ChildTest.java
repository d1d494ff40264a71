package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fastio.benchmarks.subject.Reading;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Children that behave badly, written as one line of shell each. */
final class ChildTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private static Child shell(String script) throws IOException {
        return new Child("shell", List.of("sh", "-c", script));
    }

    @Test
    void answersAreReadUpToTheDot() throws Exception {
        try (Child child = shell("echo .ready; read line; echo \"= twice=2\"; echo '# 3 1'; echo .; read end")) {
            assertThat(child.config(LONG)).isEqualTo("ready");
            Reading reading = child.ask("anything", LONG);
            assertThat(reading.value("twice")).isEqualTo(2);
            assertThat(reading.samples().values()).containsExactly(1.0, 3.0);
        }
    }

    @Test
    void whatItCannotDoIsToldApartFromFailure() throws Exception {
        try (Child child = shell("echo .; read a; echo '? no'; echo .; read b; echo '! broke'; echo .; read c")) {
            assertThatExceptionOfType(Child.UnsupportedRequestException.class)
                    .isThrownBy(() -> child.ask("first", LONG));
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> child.ask("second", LONG))
                    .withMessageContaining("broke");
        }
    }

    @Test
    void anEarlyEndIsReportedWithTheLastErrors() throws Exception {
        try (Child child = shell("echo out of luck >&2; echo .; read a; sleep 0.2; exit 3")) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> child.ask("work", LONG))
                    .withMessageContaining("work")
                    .withMessageContaining("out of luck");
        }
    }

    @Test
    void silenceIsBoundedAndTheProcessEnds() throws Exception {
        ProcessHandle process;
        try (Child child = shell("echo .; exec sleep 600")) {
            process = ProcessHandle.of(child.pid()).orElseThrow();
            assertThatExceptionOfType(TimeoutException.class)
                    .isThrownBy(() -> child.ask("work", Duration.ofMillis(300)));
        }
        process.onExit().get(20, TimeUnit.SECONDS);
        assertThat(process.isAlive()).isFalse();
    }
}
