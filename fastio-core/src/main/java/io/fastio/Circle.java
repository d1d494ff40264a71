package io.fastio;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that wait for each other (S12): one awaits another, or joins it as a child of its group or gather. Looked for
 * whenever such a wait is about to begin, so that none that closes a circle ever does.
 *
 * <p>A task awaits one task at a time, so following that chain is cheap; only where it ends in a task that joins many
 * children does the search go the other way, over those who wait for the first one. That is for the loop alone: the lists of
 * those who wait are its own, so a circle that leads through a group and another loop is not seen.
 *
 * <p>A chain of awaits may lead to other loops, whose tasks go on meanwhile. Nobody locks anything: a task writes whom it
 * awaits, and then looks. Of those that close a circle at the same time the last one sees the others' awaits; several may,
 * and then each of them is refused. What is read is true only if it was so at one moment: an await is taken for part of a
 * circle if it has the same number, and nothing has ended it, after all of them have been seen.
 */
final class Circle {
    private Circle() {}

    /** Refuses the wait of {@code me} for {@code awaited} if that waits, in the end, for {@code me}. */
    static void refuse(LoopTask<?> me, LoopTask<?> awaited) {
        LoopTask<?> last = awaited;
        for (LoopTask<?> next; last != me && last.loop == me.loop && (next = last.awaited()) != null; ) {
            last = next;
        }
        if (last.loop != me.loop) {
            refuseAcross(me, awaited);
            return;
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

    /** The same where the chain of awaits leads to another loop. */
    private static void refuseAcross(LoopTask<?> me, LoopTask<?> awaited) {
        VarHandle.fullFence(); // our await is written: from here on those of others are seen, or they see ours
        Map<LoopTask<?>, Long> chain = new LinkedHashMap<>(4);
        for (LoopTask<?> t = awaited; t != me; ) {
            long number = t.awaits();
            VarHandle.acquireFence();
            LoopTask<?> next = t.awaited();
            if (next == null || chain.putIfAbsent(t, number) != null) {
                return; // the second: a circle of others
            }
            t = next;
        }
        VarHandle.fullFence();
        StringBuilder circle = new StringBuilder("tasks await each other: ").append(me.name());
        for (Map.Entry<LoopTask<?>, Long> seen : chain.entrySet()) {
            LoopTask<?> t = seen.getKey();
            boolean open = t.awaited() != null;
            VarHandle.acquireFence();
            if (!open || t.awaits() != seen.getValue()) {
                return; // it is over; whoever awaits next has us to look at
            }
            circle.append(" -> ").append(t.name());
            if (t.loop != me.loop) {
                circle.append(" (on ").append(t.loop.name()).append(')');
            }
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
