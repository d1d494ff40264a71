import static io.fastio.Asyncio.run;
import static io.fastio.Asyncio.sleepMs;
import static io.fastio.Asyncio.taskGroup;
import static io.fastio.Asyncio.yieldNow;

import io.fastio.Priority;
import io.fastio.TaskOptions;
import java.time.Duration;

// What a priority does to a deadline: ./fastio run examples/PriorityVersusFair.java [MILLISECONDS]
//
// Ten tasks work for 4 ms each before they give way. Beside them one task wants to run every 15 ms: first as one among
// equals, then as an URGENT one. Each way is measured for the time given, by default a second.
void main(String[] arguments) throws Exception {
    Duration time = Duration.ofMillis(arguments.length > 0 ? Long.parseLong(arguments[0]) : 1_000);
    for (Priority priority : List.of(Priority.NORMAL, Priority.URGENT)) {
        List<Long> lateness = run(() -> lateness(priority, time));
        Collections.sort(lateness);
        IO.println("%-6s  %3d wake-ups, late by %5.1f ms in the median, %5.1f ms at most"
                .formatted(
                        priority,
                        lateness.size(),
                        lateness.get(lateness.size() / 2) / 1e6,
                        lateness.getLast() / 1e6));
    }
}

/** By how many nanoseconds each sleep of 15 ms was too long, beside ten hogs. */
List<Long> lateness(Priority priority, Duration time) throws Exception {
    return taskGroup(group -> {
        for (int i = 0; i < 10; i++) {
            group.createTask(() -> {
                while (true) {
                    work(Duration.ofMillis(4));
                    yieldNow();
                }
            });
        }
        var punctual = group.createTask(TaskOptions.of(priority).name("punctual"), () -> {
            List<Long> late = new ArrayList<>();
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - end < 0) {
                long start = System.nanoTime();
                sleepMs(15);
                late.add(System.nanoTime() - start - 15_000_000);
            }
            return late;
        });
        List<Long> result = punctual.await();
        group.cancel(); // the hogs would go on for ever
        return result;
    });
}

/** Keeps the processor busy, as a computation of that length would. */
void work(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - end < 0) {
        Thread.onSpinWait();
    }
}
