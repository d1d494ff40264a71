import static io.fastio.Asyncio.*;

import io.fastio.Action;
import io.fastio.device.MillisTimer;

// A timer that is on time in a busy program: ./fastio run examples/MsTimer.java [WAITS]
//
// Ten tasks keep the loop busy, 4 ms at a time. A task that sleeps goes on when its turn comes, up to 40 ms later; one that
// waits on a MillisTimer goes on after the step in progress.
final int MS = 20;

void main(String[] arguments) throws Exception {
    int waits = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 25;
    run(() -> {
        for (int i = 0; i < 10; i++) {
            createTask(() -> {
                while (true) {
                    long end = System.nanoTime() + 4_000_000; // work
                    while (System.nanoTime() < end) {
                        Thread.onSpinWait();
                    }
                    yieldNow();
                }
            });
        }
        MillisTimer timer = new MillisTimer();
        report("sleepMs", waits, () -> sleepMs(MS));
        report("MillisTimer", waits, () -> timer.await(MS));
    });
}

void report(String name, int waits, Action wait) throws Exception {
    long[] late = new long[waits];
    for (int i = 0; i < waits; i++) {
        long start = System.nanoTime();
        wait.run();
        late[i] = System.nanoTime() - start - MS * 1_000_000L;
    }
    Arrays.sort(late);
    IO.println("%-11s of %d ms: late by %4.1f ms in the median, %4.1f ms at most"
            .formatted(name, MS, late[waits / 2] / 1e6, late[waits - 1] / 1e6));
}
