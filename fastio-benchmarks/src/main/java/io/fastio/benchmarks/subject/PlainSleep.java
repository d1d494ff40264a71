package io.fastio.benchmarks.subject;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The reference of the timer benchmark: three platform threads that sleep, with nothing beside them. */
final class PlainSleep implements Subject.Timing {
    @Override
    public String config() {
        return "Thread.sleep on platform threads, no load";
    }

    @Override
    public Reading timing(long millis) throws InterruptedException {
        Hogs[] records = new Hogs[Hogs.TIMERS];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Hogs.TIMERS; i++) {
            Hogs hogs = new Hogs(millis);
            records[i] = hogs;
            threads.add(Thread.ofPlatform().start(() -> {
                while (hogs.running()) {
                    long start = System.nanoTime();
                    sleep();
                    hogs.fired(start);
                }
            }));
        }
        Samples all = Samples.none();
        for (int i = 0; i < Hogs.TIMERS; i++) {
            threads.get(i).join();
            all = all.plus(records[i].reading().samples());
        }
        return Reading.of(all);
    }

    private static void sleep() {
        try {
            TimeUnit.MILLISECONDS.sleep(Hogs.TIMER_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
