package io.fastio.gpio;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.sync.AsyncQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What is to happen on events: tasks that are started, and queues that are fed. Loop only. */
final class Reactions<E> {
    private final EventLoop loop = Asyncio.runningLoop();
    private final String source;
    private final Map<E, List<Action>> actions = new HashMap<>();
    private final List<AsyncQueue<E>> queues = new ArrayList<>();

    Reactions(String source) {
        this.source = source;
    }

    void on(E event, Action action) {
        actions.computeIfAbsent(event, _ -> new ArrayList<>()).add(Objects.requireNonNull(action, "action"));
    }

    AsyncQueue<E> subscribe() {
        AsyncQueue<E> queue = new AsyncQueue<>();
        queues.add(queue);
        return queue;
    }

    void happened(E event) {
        for (AsyncQueue<E> q : queues) {
            if (!q.isClosed()) {
                q.putNowait(event);
            }
        }
        queues.removeIf(AsyncQueue::isClosed);
        for (Action a : actions.getOrDefault(event, List.of())) {
            var _ = loop.createTask(event + " of " + source, a);
        }
    }

    /** Those who read the queues get what is in them, and then an exception. */
    void close() {
        queues.forEach(AsyncQueue::close);
        queues.clear();
        actions.clear();
    }
}
