import static io.fastio.Asyncio.afterMs;
import static io.fastio.Asyncio.run;
import static io.fastio.Asyncio.runningLoop;
import static io.fastio.Asyncio.taskGroup;

import io.fastio.Priority;
import io.fastio.TaskOptions;
import io.fastio.sync.Interval;
import java.time.Duration;

// Samples a signal every 5 ms, whatever else there is to do: ./fastio run examples/PeriodicSampler.java [SAMPLES]
//
// The sampler is URGENT, and its ticks lie on a grid, so that lateness does not add up. What is done
// with the samples can wait: that task is LOW, and computes for 2 ms at a time.
final Duration PERIOD = Duration.ofMillis(5);

final Deque<Double> samples = new ArrayDeque<>(); // both tasks are on one loop: no lock
double power; // the mean of their squares

void main(String[] arguments) throws Exception {
    int wanted = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
    run(() -> taskGroup(group -> {
        group.createTask(TaskOptions.of(Priority.LOW).name("statistics"), () -> {
            while (true) {
                statistics();
                afterMs(0); // a LOW yield
            }
        });
        var sampler =
                group.createTask(TaskOptions.of(Priority.URGENT).name("sampler"), () -> sample(wanted));
        long worst = sampler.await();
        IO.println("%d samples every %d ms, late by %.3f ms at most; their power is %.3f"
                .formatted(wanted, PERIOD.toMillis(), worst / 1e6, power));
        group.cancel();
        return worst;
    }));
}

/** Takes that many samples; by how many nanoseconds the latest one was late. */
long sample(int wanted) {
    long worst = 0;
    var interval = new Interval(PERIOD, Interval.Missed.BURST);
    for (int i = 0; i < wanted; i++) {
        long due = interval.nextNanos();
        interval.await();
        long now = runningLoop().time();
        worst = Math.max(worst, now - due);
        samples.add(Math.sin(now / 1e9 * 2 * Math.PI));
    }
    return worst;
}

/** Looks at all samples so far, again and again for 2 ms: a computation that is in no hurry. */
void statistics() {
    long end = System.nanoTime() + 2_000_000;
    while (System.nanoTime() - end < 0) {
        double sum = 0;
        for (double sample : samples) {
            sum += sample * sample;
        }
        power = sum / samples.size();
    }
}
