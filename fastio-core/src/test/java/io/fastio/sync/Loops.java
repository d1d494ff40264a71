package io.fastio.sync;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.time.LoopClock;
import java.time.Duration;

/** Loops to test on. */
final class Loops {
    private Loops() {}

    /** Runs a test in a task, on virtual time. A wait that nothing ends is a DeadlockError. */
    static void virtually(Action test) throws Exception {
        on(LoopClock.virtual(), test);
    }

    /** {@link #virtually} with a clock that the test moves itself, too. */
    static void on(LoopClock.Virtual clock, Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder().clock(clock).build()) {
            loop.run(test);
        }
    }

    /** Runs a test in a task, on real time, and fails if that takes longer than {@code limit}. */
    static void really(Duration limit, Action test) throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> Asyncio.waitFor(test, limit));
        }
    }

    /** Lets every ready task run to its next wait. */
    static void settle() {
        for (int i = 0; i < 5; i++) {
            Asyncio.yieldNow();
        }
    }

    /** Runs {@code work} on a thread of its own while the loop goes on, and waits for its end. */
    static void onAnotherThread(Action work) throws Exception {
        Asyncio.offload(() -> {
            work.run();
            return true;
        });
    }

    /** A task that nobody awaits; its failure would be reported. */
    static void start(Action body) {
        var _ = Asyncio.createTask(body);
    }

    static Task<?> spawn(Action body) {
        return Asyncio.createTask(body);
    }
}
