package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.TaskOptions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs of tasks that wait, are cancelled and run out of time at any moment, against what must hold whatever
 * happens. A failure names its seed, which replays it: time is virtual, and nothing else is left to chance.
 */
final class RandomProgramsTest {
    private static final int PROGRAMS = 300;

    private interface Program {
        void run(Random random) throws Exception;
    }

    private static void run(int part, Program program) throws Exception {
        for (int seed = part * PROGRAMS; seed < (part + 1) * PROGRAMS; seed++) {
            Random random = new Random(seed);
            try {
                Loops.virtually(() -> program.run(random));
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static Task<?> someTask(Random random, Body body) {
        Priority p = Priority.values()[random.nextInt(3)];
        return Asyncio.createTask(TaskOptions.of(p), () -> {
            try {
                if (random.nextInt(4) == 0) {
                    Asyncio.waitForMs(body::run, random.nextInt(6));
                } else {
                    body.run();
                }
            } catch (TimeoutException | QueueClosedException over) {
                assertThat(over).isNotNull();
            }
        });
    }

    private interface Body {
        void run() throws Exception;
    }

    /** Cancels some of them at random moments and waits for all; none may fail. */
    private static void disturbAndAwait(Random random, List<Task<?>> tasks) throws Exception {
        for (int i = 0; i < tasks.size() / 2; i++) {
            pause(random);
            tasks.get(random.nextInt(tasks.size())).cancel();
        }
        for (Task<?> t : tasks) {
            try {
                t.await();
            } catch (CancelledError wasCancelled) {
                assertThat(t.cancelled()).isTrue();
            }
        }
    }

    private static void pause(Random random) {
        switch (random.nextInt(3)) {
            case 0 -> Asyncio.yieldNow();
            case 1 -> Asyncio.sleepMs(random.nextInt(3));
            default -> {
                // goes on at once
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void Y2_aLockExcludesAndEndsFree(int part) throws Exception {
        run(part, random -> {
            Lock lock = new Lock();
            int[] inside = new int[1];
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                tasks.add(someTask(random, () -> {
                    for (int k = 0; k < 3; k++) {
                        pause(random);
                        boolean got = true;
                        if (random.nextInt(3) == 0) {
                            got = lock.acquireWithin(Duration.ofMillis(random.nextInt(3)));
                        } else {
                            lock.acquire();
                        }
                        if (got) {
                            try {
                                assertThat(++inside[0]).isEqualTo(1);
                                assertThat(lock.owner()).isSameAs(Asyncio.currentTask());
                                pause(random);
                            } finally {
                                inside[0]--;
                                lock.release();
                            }
                        }
                    }
                }));
            }
            disturbAndAwait(random, tasks);
            assertThat(lock).hasToString("Lock[free, 0 waiting]");
            assertThat(tasks).allMatch(t -> io.fastio.Wait.effectivePriority(t) == t.priority());
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void Y3_permitsAreConserved(int part) throws Exception {
        run(part, random -> {
            int permits = 1 + random.nextInt(3);
            BoundedSemaphore semaphore = new BoundedSemaphore(permits);
            int[] inside = new int[1];
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                tasks.add(someTask(random, () -> {
                    for (int k = 0; k < 3; k++) {
                        pause(random);
                        semaphore.acquire();
                        try {
                            assertThat(++inside[0]).isLessThanOrEqualTo(permits);
                            pause(random);
                        } finally {
                            inside[0]--;
                            semaphore.release();
                        }
                    }
                }));
            }
            disturbAndAwait(random, tasks);
            assertThat(semaphore.availablePermits()).isEqualTo(permits);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 5})
    void Y3_aQueueGivesOutWhatWasPutOnceAndInOrder(int part) throws Exception {
        run(part, random -> {
            int capacity = random.nextInt(4);
            AsyncQueue<Integer> queue = new AsyncQueue<>(capacity);
            ArrayDeque<Integer> model = new ArrayDeque<>();
            int[] next = new int[1];
            int[] got = new int[1];
            List<Task<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                boolean putter = i % 2 == 0;
                tasks.add(someTask(random, () -> {
                    for (int k = 0; k < 5; k++) {
                        pause(random);
                        if (putter) {
                            // Numbers are drawn before a put that may wait, so the model is a set, but for the order of
                            // one putter.
                            int item = next[0]++;
                            boolean put = true;
                            if (random.nextBoolean()) {
                                queue.put(item);
                            } else {
                                put = queue.offer(item, Duration.ofMillis(random.nextInt(3)));
                            }
                            if (put) {
                                model.add(item);
                            }
                        } else {
                            Integer item = random.nextBoolean()
                                    ? queue.get()
                                    : queue.poll(Duration.ofMillis(random.nextInt(3)));
                            if (item != null) {
                                assertThat(model.poll()).isEqualTo(item);
                                got[0]++;
                            }
                        }
                        assertThat(capacity == 0 || queue.size() <= capacity).isTrue();
                    }
                }));
            }
            Task<?> rest = Loops.spawn(() -> {
                Asyncio.sleepMs(100);
                queue.close();
            });
            for (int i = 0; i < tasks.size() / 2; i++) {
                pause(random);
                tasks.get(random.nextInt(tasks.size())).cancel();
            }
            rest.await();
            for (Task<?> t : tasks) {
                try {
                    t.await();
                } catch (CancelledError wasCancelled) {
                    assertThat(t.cancelled()).isTrue();
                }
            }
            for (int item : queue) {
                assertThat(model.poll()).isEqualTo(item);
            }
            assertThat(model).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 7})
    void Y3_aNotificationIsUsedByOneThatGoesOn(int part) throws Exception {
        run(part, random -> {
            Condition condition = new Condition();
            Set<Task<?>> wentOn = new HashSet<>();
            List<Task<?>> waiters = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                waiters.add(Loops.spawn(() -> {
                    condition.lock().acquire();
                    try {
                        condition.await();
                        wentOn.add(Asyncio.currentTask());
                    } finally {
                        assertThat(condition.lock().owner()).isSameAs(Asyncio.currentTask());
                        try {
                            pause(random); // where a second cancel may come
                        } finally {
                            condition.lock().release();
                        }
                    }
                }));
            }
            Loops.settle();
            int notifications = 0;
            int cancels = 0;
            for (int i = 0; i < 10; i++) {
                if (random.nextBoolean()) {
                    condition.signal();
                    notifications++;
                } else if (waiters.get(random.nextInt(10)).cancel()) {
                    cancels++;
                }
                if (random.nextInt(4) == 0) {
                    pause(random);
                }
            }
            Asyncio.sleepMs(100);
            // Each notification lets one go on while there are any who were not cancelled.
            assertThat(wentOn).hasSizeBetween(Math.min(notifications, 10 - cancels), notifications);
            assertThat(condition.lock().locked()).isFalse();
            for (Task<?> t : waiters) {
                t.cancel();
            }
        });
    }
}
