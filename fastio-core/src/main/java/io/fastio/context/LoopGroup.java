package io.fastio.context;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.ThreadSettings;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Several loops, each on a daemon thread of its own: one for each core, or an urgent one beside the rest, which gives the
 * preemption that one loop cannot give ({@code thread(t -> t.cpu(1).realtime(50))}).
 *
 * <p>Loops share nothing. What belongs to a loop (its streams, events, locks, queues, tasks that wait for one another) is
 * touched by its own tasks and callbacks only; waits on another loop's objects are errors at once. From loop to loop go
 * {@link #runOn}, {@link Channel}s, and whatever is for any thread. A server is spread either by one {@code Server} per loop
 * with {@code reusePort}, which lets the kernel deal the connections out, or by handing accepted sockets over a channel.
 *
 * <p>All methods are for any thread unless stated otherwise.
 */
public final class LoopGroup implements AutoCloseable, Iterable<EventLoop> {
    private final List<EventLoop> loops;
    private final AtomicInteger turn = new AtomicInteger();

    private LoopGroup(List<EventLoop> loops) {
        this.loops = List.copyOf(loops);
    }

    /**
     * Starts loops.
     *
     * @param count how many, from 1
     * @param settings gets the settings of each loop, and its number from 0; its name is then {@code fastio-loop-N} unless set
     */
    public static LoopGroup start(int count, ObjIntConsumer<EventLoop.Builder> settings) {
        Objects.requireNonNull(settings, "settings");
        if (count < 1) {
            throw new IllegalArgumentException("a group needs a loop: " + count);
        }
        List<EventLoop> loops = new ArrayList<>(count);
        try {
            for (int i = 0; i < count; i++) {
                EventLoop.Builder b = EventLoop.builder().name("fastio-loop-" + i);
                settings.accept(b, i);
                EventLoop loop = b.build();
                loops.add(loop);
                loop.start();
            }
        } catch (RuntimeException | Error e) {
            loops.forEach(EventLoop::close);
            throw e;
        }
        return new LoopGroup(loops);
    }

    /** {@link #start(int, ObjIntConsumer)} with default settings. */
    public static LoopGroup start(int count) {
        return start(count, (settings, number) -> {});
    }

    /** One loop for each processor on which the calling thread may run, pinned to it. */
    public static LoopGroup perCore() {
        int[] cpus = ThreadSettings.processors();
        return start(
                Runtime.getRuntime().availableProcessors(),
                (settings, number) -> settings.thread(t -> t.cpu(cpus[number % cpus.length])));
    }

    /** How many loops there are. */
    public int size() {
        return loops.size();
    }

    /** One of the loops, counted from 0. */
    public EventLoop get(int number) {
        return loops.get(number);
    }

    /** The loops, in turn: the simplest way to spread work. */
    public EventLoop next() {
        return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
    }

    @Override
    public Iterator<EventLoop> iterator() {
        return loops.iterator();
    }

    /**
     * Runs {@code body} in a task of {@code loop} and waits for its value. A task gives its own loop away meanwhile, and its
     * cancel cancels the body; a foreign thread blocks, and an interrupt of it cancels the body.
     *
     * @throws Exception the very exception of the body
     * @throws CancelledError if the calling task was cancelled, or the body was
     * @throws CancellationException if the body was cancelled, and the caller is no task
     * @throws InterruptedException if the calling thread was interrupted
     * @throws IllegalStateException if the loop is closed
     */
    public static <T extends @Nullable Object> T runOn(EventLoop loop, Callable<T> body) throws Exception {
        Objects.requireNonNull(loop, "loop");
        Objects.requireNonNull(body, "body");
        Task<Ended<T>> task = loop.createTask(() -> Ended.of(body));
        if (Asyncio.inTask()) {
            boolean answered = false;
            try {
                Ended<T> end = task.await();
                answered = true;
                return end.valueOrThrow();
            } finally {
                if (!answered) {
                    task.cancel(); // no effect if it was cancelled itself
                }
            }
        }
        try {
            return task.get().valueOrThrow();
        } catch (InterruptedException e) {
            task.cancel();
            throw e;
        }
    }

    /** How a body ended, brought to its caller as a value: nobody need report what the caller is about to get. */
    private record Ended<T extends @Nullable Object>(
            T value, @Nullable Throwable failure) {
        @SuppressWarnings("NullAway") // there is no value with a failure
        static <T extends @Nullable Object> Ended<T> of(Callable<T> body) {
            try {
                return new Ended<>(body.call(), null);
            } catch (CancelledError e) {
                throw e;
            } catch (Throwable e) {
                return new Ended<>(null, e);
            }
        }

        T valueOrThrow() throws Exception {
            if (failure != null) {
                throw AsyncContext.<RuntimeException>unchecked(failure);
            }
            return value;
        }
    }

    /**
     * Runs {@code body} on every loop and waits for all. If the caller is cancelled or interrupted meanwhile, the bodies are
     * cancelled.
     *
     * @return the values, by the number of the loop
     * @throws Exception the first failure, once all have ended
     * @throws InterruptedException if the calling thread was interrupted
     * @throws IllegalStateException if one of the loops is closed; bodies that have begun on others are cancelled
     */
    public <T extends @Nullable Object> List<T> runOnAll(Callable<T> body) throws Exception {
        Objects.requireNonNull(body, "body");
        List<Task<Ended<T>>> tasks = new ArrayList<>(loops.size());
        List<T> values = new ArrayList<>(loops.size());
        Throwable failure = null;
        boolean ended = false;
        try {
            for (EventLoop loop : loops) {
                tasks.add(loop.createTask(() -> Ended.of(body)));
            }
            for (Task<Ended<T>> t : tasks) {
                try {
                    Ended<T> end = t.get();
                    values.add(end.value());
                    failure = failure == null ? end.failure() : failure;
                } catch (CancellationException | ExecutionException e) {
                    failure = failure == null ? e : failure;
                }
            }
            ended = true;
        } finally {
            if (!ended) {
                tasks.forEach(Task::cancel);
            }
        }
        if (failure != null) {
            throw AsyncContext.<RuntimeException>unchecked(failure);
        }
        return values;
    }

    /**
     * Closes all loops, one after the other; each ends its tasks first.
     *
     * @throws IllegalStateException from within one of them, and nothing is closed
     */
    @Override
    public void close() {
        for (EventLoop loop : loops) {
            if (loop.isCurrent()) {
                throw new IllegalStateException("a loop group cannot be closed from within " + loop);
            }
        }
        RuntimeException failure = null;
        for (EventLoop loop : loops) {
            try {
                loop.close();
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public String toString() {
        return "LoopGroup" + loops;
    }
}
