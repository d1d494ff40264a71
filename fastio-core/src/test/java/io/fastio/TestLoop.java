package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A real loop on virtual time for the length of one test: sleeps take no time, and a computation is {@link #hog}. What
 * is reported to the exception handler is collected; a report that the test did not ask for fails it.
 */
final class TestLoop {
    @FunctionalInterface
    interface Body {
        void run(TestLoop t) throws Exception;
    }

    final LoopClock.Virtual clock = LoopClock.virtual();
    final EventLoop loop;
    private final List<String> trace = new CopyOnWriteArrayList<>();
    private final List<LoopError> errors = new CopyOnWriteArrayList<>();

    private TestLoop(Consumer<EventLoop.Builder> settings) {
        EventLoop.Builder b = EventLoop.builder().clock(clock).exceptionHandler(errors::add);
        settings.accept(b);
        this.loop = b.build();
    }

    /** Runs {@code body} as the main task of a new loop on virtual time, and closes the loop. */
    static void run(Body body) throws Exception {
        run(b -> {}, body);
    }

    static void run(Consumer<EventLoop.Builder> settings, Body body) throws Exception {
        TestLoop t = open(settings);
        try {
            t.loop.run(() -> body.run(t));
        } finally {
            t.loop.close();
        }
        assertThat(t.errors).as("reports that the test did not ask for").isEmpty();
    }

    /** For tests that drive the loop themselves, and close it. */
    static TestLoop open() {
        return open(b -> {});
    }

    static TestLoop open(Consumer<EventLoop.Builder> settings) {
        return new TestLoop(settings);
    }

    /** Computes for {@code ms} milliseconds: time passes, and nobody else runs. */
    void hog(long ms) {
        clock.advance(Duration.ofMillis(ms));
    }

    /** Milliseconds of the loop's clock. */
    long ms() {
        return loop.time() / 1_000_000;
    }

    void log(Object what) {
        trace.add(String.valueOf(what));
    }

    /** What was logged, in order; forgets it. */
    List<String> trace() {
        List<String> copy = new ArrayList<>(trace);
        trace.clear();
        return copy;
    }

    /** What has been reported; forgets it. */
    List<LoopError> errors() {
        List<LoopError> copy = new ArrayList<>(errors);
        errors.clear();
        return copy;
    }

    /** What {@code action} throws, or null. */
    static @Nullable Throwable thrownBy(Action action) {
        try {
            action.run();
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    /** Gives way {@code n} times. */
    static void yields(int n) {
        for (int i = 0; i < n; i++) {
            Asyncio.yieldNow();
        }
    }
}
