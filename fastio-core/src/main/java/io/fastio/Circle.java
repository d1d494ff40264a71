package io.fastio;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tasks of one loop that wait for each other (S12): one awaits another, or joins it as a child of its group or gather.
 * Looked for whenever such a wait is about to begin, so that none that closes a circle ever does.
 *
 * <p>A task awaits one task at a time, so following that chain is cheap; only where it ends in a task that joins many
 * children does the search go the other way, over those who wait for the first one. On the loop.
 */
final class Circle {
    private Circle() {}

    /** Refuses the wait of {@code me} for {@code awaited} if that waits, in the end, for {@code me}. */
    static void refuse(LoopTask<?> me, LoopTask<?> awaited) {
        LoopTask<?> last = awaited;
        while (last != me && last.awaited() != null) {
            last = last.awaited();
        }
        Map<LoopTask<?>, LoopTask<?>> next = last == me || last.joinsNow == null ? null : waitersOf(me, last, null);
        if (last != me && (next == null || !next.containsKey(last))) {
            return;
        }
        StringBuilder circle = new StringBuilder("tasks await each other: ").append(me.name());
        for (LoopTask<?> t = awaited; t != last && t != null; t = t.awaited()) {
            circle.append(" -> ").append(t.name());
        }
        for (LoopTask<?> t = last; t != me && t != null && next != null; t = next.get(t)) {
            circle.append(" -> ").append(t.name());
        }
        throw new IllegalStateException(circle.append(" -> ").append(me.name()).toString());
    }

    /**
     * {@code parent} is about to wait for the children of {@code group}. If one of them waits, in the end, for {@code
     * parent}, that wait ends with the error: a group ends only with its children.
     */
    static void breakBefore(LoopTask<?> parent, Joiner group) {
        while (parent.waiterCount() > 0 || parent.joinerNow() != null) {
            Map<LoopTask<?>, LoopTask<?>> next = waitersOf(parent, null, group);
            LoopTask<?> child = null;
            for (LoopTask<?> t : next.keySet()) {
                if (t.joiner == group) {
                    child = t;
                    break;
                }
            }
            if (child == null) {
                return;
            }
            StringBuilder circle = new StringBuilder("tasks await each other: ").append(parent.name());
            LoopTask<?> weakest = null;
            for (LoopTask<?> t = child; t != parent && t != null; t = next.get(t)) {
                circle.append(" -> ").append(t.name());
                if (weakest == null && t.awaited() != null && t.awaited() == next.get(t)) {
                    weakest = t;
                }
            }
            if (weakest == null) {
                return;
            }
            weakest.endAwait(circle.append(" -> ").append(parent.name()).toString());
        }
    }

    /**
     * Those who wait for {@code task}, directly or not, each with the one it waits for; as far as {@code wanted}, or a child
     * of {@code group}.
     */
    private static Map<LoopTask<?>, LoopTask<?>> waitersOf(
            LoopTask<?> task, @Nullable LoopTask<?> wanted, @Nullable Joiner group) {
        Map<LoopTask<?>, LoopTask<?>> next = new LinkedHashMap<>();
        ArrayDeque<LoopTask<?>> open = new ArrayDeque<>();
        open.add(task);
        while (!open.isEmpty()) {
            LoopTask<?> t = open.remove();
            Joiner joiner = t.joinerNow();
            if (joiner != null && joiner.parent() != task && next.putIfAbsent(joiner.parent(), t) == null) {
                open.add(joiner.parent());
            }
            WaitList awaiters = t.awaiters();
            if (awaiters != null) {
                for (Task<?> w = awaiters.peek(); w != null; w = awaiters.after(w)) {
                    LoopTask<?> waiter = (LoopTask<?>) w;
                    if (waiter != task && next.putIfAbsent(waiter, t) == null) {
                        open.add(waiter);
                    }
                    if (group != null && waiter.joiner == group) {
                        return next;
                    }
                }
            }
            if (wanted != null && next.containsKey(wanted)) {
                return next;
            }
        }
        return next;
    }
}
