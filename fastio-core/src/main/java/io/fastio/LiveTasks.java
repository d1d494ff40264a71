package io.fastio;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tasks of a loop that have not ended. The links are fields of the task. Loop only. */
final class LiveTasks {
    private @Nullable LoopTask<?> newest;
    private int size;

    void add(LoopTask<?> t) {
        LoopTask<?> n = newest;
        t.nextTask = n;
        if (n != null) {
            n.previousTask = t;
        }
        newest = t;
        t.listed = true;
        size++;
    }

    /** No effect if it is not in here. */
    void remove(LoopTask<?> t) {
        if (!t.listed) {
            return;
        }
        LoopTask<?> p = t.previousTask;
        LoopTask<?> n = t.nextTask;
        if (p == null) {
            newest = n;
        } else {
            p.nextTask = n;
        }
        if (n != null) {
            n.previousTask = p;
        }
        t.previousTask = null;
        t.nextTask = null;
        t.listed = false;
        size--;
    }

    boolean isEmpty() {
        return newest == null;
    }

    int size() {
        return size;
    }

    /** A copy, oldest first. */
    Set<Task<?>> all() {
        ArrayDeque<LoopTask<?>> oldestFirst = new ArrayDeque<>(size);
        for (LoopTask<?> t = newest; t != null; t = t.nextTask) {
            oldestFirst.addFirst(t);
        }
        return new LinkedHashSet<>(oldestFirst);
    }

    /** What each of them is doing, a line each. */
    String tree() {
        StringBuilder s = new StringBuilder();
        for (Task<?> t : all()) {
            s.append("  ")
                    .append(t.name())
                    .append(": ")
                    .append(((LoopTask<?>) t).doing())
                    .append('\n');
        }
        return s.toString();
    }
}
