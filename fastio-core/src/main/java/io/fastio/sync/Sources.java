package io.fastio.sync;

import io.fastio.Priority;
import io.fastio.Task;
import io.fastio.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What {@link WaitAny} and {@link WaitAll} wait for: a watch on each event, and one wait for the first or for all. */
final class Sources implements Wait.Hook {
    private final List<Source> all = new ArrayList<>();
    private @Nullable Task<?> waiting;
    private int missing;

    private final class Source implements Event.Watcher {
        final Object face;
        final Event event;
        final boolean end;
        boolean happened;

        Source(Object face, Event event, boolean end) {
            this.face = face;
            this.event = event;
            this.end = end;
        }

        @Override
        public void wasSet() {
            if (!happened) {
                happened = true;
                Task<?> t = waiting;
                if (--missing == 0 && t != null) {
                    Wait.resume(t);
                }
            }
        }
    }

    void add(Object face, Event event) {
        all.add(new Source(face, event, false));
    }

    void addAll(Event[] events) {
        Objects.requireNonNull(events, "events");
        for (int i = 0; i < events.length; i++) {
            if (events[i] == null) {
                throw new NullPointerException("events[" + i + "]");
            }
            add(events[i], events[i]);
        }
    }

    void add(Task<?> task) {
        Objects.requireNonNull(task, "task");
        Event end = new Event();
        task.addDoneCallback(ended -> end.set());
        all.add(new Source(task, end, true));
    }

    int size() {
        return all.size();
    }

    /** Waits until {@code wanted} of them have happened, and returns those that have. */
    List<Object> awaitSome(int wanted) {
        if (all.isEmpty()) {
            throw new IllegalStateException("there is nothing to wait for");
        }
        Task<?> me = Wait.begin();
        if (waiting != null) {
            throw new IllegalStateException(waiting.name() + " waits for it already");
        }
        missing = wanted;
        int watched = 0;
        waiting = me;
        try {
            for (Source s : all) {
                s.happened = s.event.watch(me, s);
                watched++;
                if (s.happened) {
                    missing--;
                }
            }
            if (missing > 0) {
                Wait.suspend(this, wakeClass(), Wait.FOREVER);
            }
            List<Object> found = new ArrayList<>();
            for (Source s : all) {
                if (s.happened) {
                    found.add(s.face);
                }
            }
            return found;
        } finally {
            waiting = null;
            for (Source s : all.subList(0, watched)) {
                s.event.unwatch(s);
            }
        }
    }

    /** S1: URGENT if one of the events is. */
    private @Nullable Priority wakeClass() {
        for (Source s : all) {
            if (s.event.wakeClass() != null) {
                return s.event.wakeClass();
            }
        }
        return null;
    }

    @Override
    public boolean abandon(Task<?> task, boolean woken) {
        return true;
    }

    void clear() {
        for (Source s : all) {
            if (!s.end) {
                s.event.clear();
            }
        }
    }

    List<Object> happened() {
        List<Object> set = new ArrayList<>();
        for (Source s : all) {
            if (s.event.isSet()) {
                set.add(s.face);
            }
        }
        return set;
    }
}
