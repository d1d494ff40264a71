package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Random programs of sleeps, timeouts, cancel scopes, groups and cleanups with one external cancel, run on a loop on
 * virtual time and on a small sequential model of the rules (C4, C6, C8, T1 to T4, G2). The two must agree on what runs,
 * when, and how the task ends.
 *
 * <p>The model walks the program with a clock of its own. At a wait it asks which pending cancel strikes first, as the
 * rules have it: the external one, then scopes from the outside in. Times are drawn from so wide a range that no two
 * moments of a program are equal, so the model needs no order among equals.
 */
final class CancellationModelTest {
    /** A program. */
    private sealed interface Step {
        record Sleep(long ns, int id) implements Step {}

        record Sequence(List<Step> steps) implements Step {}

        record TimeoutOf(long ns, Step body) implements Step {}

        record ScopeOf(long ns, Step body) implements Step {}

        record GroupOf(long childNs, long cleanupNs, Step body) implements Step {}

        record Cleanup(Step body, Step last) implements Step {}

        record Swallow(Step body) implements Step {}
    }

    private static final long NEVER = Long.MAX_VALUE;
    private static final long LONGEST = 1_000_000_000;

    /** A program of at most {@code depth} levels. */
    private static Step program(SplittableRandom r, int depth) {
        int kind = depth == 0 ? 0 : r.nextInt(7);
        return switch (kind) {
            case 0 -> new Step.Sleep(nanos(r), r.nextInt(100));
            case 1 -> {
                List<Step> steps = new ArrayList<>();
                for (int n = 1 + r.nextInt(3); n > 0; n--) {
                    steps.add(program(r, depth - 1));
                }
                yield new Step.Sequence(steps);
            }
            case 2 -> new Step.TimeoutOf(nanos(r), program(r, depth - 1));
            case 3 -> new Step.ScopeOf(nanos(r), program(r, depth - 1));
            case 4 -> new Step.GroupOf(nanos(r), nanos(r), program(r, depth - 1));
            case 5 -> new Step.Cleanup(program(r, depth - 1), program(r, depth - 1));
            default -> new Step.Swallow(program(r, depth - 1));
        };
    }

    private static long nanos(SplittableRandom r) {
        return 1 + r.nextLong(LONGEST);
    }

    // ---- the real thing

    private static void run(TestLoop t, Step step) throws Exception {
        switch (step) {
            case Step.Sleep(long ns, int id) -> {
                Asyncio.sleepNanos(ns);
                t.log("slept " + id + " at " + t.loop.time());
            }
            case Step.Sequence(List<Step> steps) -> {
                for (Step s : steps) {
                    run(t, s);
                }
            }
            case Step.TimeoutOf(long ns, Step body) -> {
                try {
                    Asyncio.waitFor(() -> run(t, body), Duration.ofNanos(ns));
                } catch (TimeoutException e) {
                    t.log("timeout at " + t.loop.time());
                }
            }
            case Step.ScopeOf(long ns, Step body) -> {
                Asyncio.cancelScope(s -> {
                    s.deadline(Duration.ofNanos(ns));
                    run(t, body);
                    return null;
                });
                t.log("left scope at " + t.loop.time());
            }
            case Step.GroupOf(long childNs, long cleanupNs, Step body) -> {
                Asyncio.taskGroup(g -> {
                    g.createTask(() -> {
                        try {
                            Asyncio.sleepNanos(childNs);
                        } catch (CancelledError e) {
                            Asyncio.sleepNanos(cleanupNs);
                            throw e;
                        }
                    });
                    run(t, body);
                    return null;
                });
                t.log("left group at " + t.loop.time());
            }
            case Step.Cleanup(Step body, Step last) -> {
                try {
                    run(t, body);
                } finally {
                    t.log("finally at " + t.loop.time());
                    run(t, last);
                }
            }
            case Step.Swallow(Step body) -> {
                try {
                    run(t, body);
                } catch (CancelledError e) {
                    t.log("swallowed at " + t.loop.time());
                }
            }
        }
    }

    // ---- the model

    /** A cancel under way in the model: who sent it, null for the external one. */
    private static final class Cancelled extends RuntimeException {
        private static final long serialVersionUID = 1L;
        final transient Frame origin;

        Cancelled(Frame origin) {
            super(null, null, false, false);
            this.origin = origin;
        }
    }

    private static final class Frame {
        final long deadline;
        final boolean levelWise;
        boolean delivered;
        boolean refused;
        Cancelled passed;

        Frame(long deadline, boolean levelWise) {
            this.deadline = deadline;
            this.levelWise = levelWise;
        }
    }

    private static final class Model {
        long now;
        final long externalAt;
        boolean externalDelivered;

        /** How often the task has suspended: a child has begun if it has since the child was made. */
        int waits;

        final List<Frame> frames = new ArrayList<>();
        final List<String> trace = new ArrayList<>();

        Model(long externalAt) {
            this.externalAt = externalAt;
        }

        private boolean pending(Frame f, long at) {
            return f.deadline <= at && (f.levelWise || !f.delivered);
        }

        /** Throws what is pending now; timeouts only where the operation suspends (C3). */
        void deliver(boolean suspends) {
            if (externalAt <= now && !externalDelivered) {
                externalDelivered = true;
                Cancelled e = new Cancelled(null);
                for (Frame f : frames) {
                    f.passed = e;
                }
                throw e;
            }
            for (int i = 0; i < frames.size(); i++) {
                Frame f = frames.get(i);
                if (pending(f, now) && (suspends || f.levelWise)) {
                    f.delivered = true;
                    Cancelled e = new Cancelled(f);
                    for (Frame inner : frames.subList(i + 1, frames.size())) {
                        inner.passed = e;
                    }
                    throw e;
                }
            }
        }

        /** The first moment after now at which something strikes, up to {@code end}. */
        long nextStrike(long end) {
            long first = NEVER;
            if (!externalDelivered && externalAt > now) {
                first = externalAt;
            }
            for (Frame f : frames) {
                if (f.deadline > now && f.deadline < first) {
                    first = f.deadline;
                }
            }
            return first < end ? first : end;
        }

        void sleep(long ns) {
            deliver(false);
            deliver(true);
            waits++;
            long end = now + ns;
            now = nextStrike(end);
            if (now < end) {
                deliver(true);
                throw new AssertionError("something struck");
            }
        }

        void run(Step step) {
            switch (step) {
                case Step.Sleep(long ns, int id) -> {
                    sleep(ns);
                    trace.add("slept " + id + " at " + now);
                }
                case Step.Sequence(List<Step> steps) -> steps.forEach(this::run);
                case Step.TimeoutOf(long ns, Step body) -> {
                    Frame f = new Frame(now + ns, false);
                    Cancelled thrown = inside(f, body);
                    if (thrown != null && thrown.origin != f) {
                        throw thrown; // T4
                    }
                    if (thrown == null && f.passed != null) {
                        throw f.passed; // T4: swallowed
                    }
                    if (thrown != null || f.delivered || f.refused) {
                        trace.add("timeout at " + now); // T2
                    }
                }
                case Step.ScopeOf(long ns, Step body) -> {
                    Frame f = new Frame(now + ns, true);
                    Cancelled thrown = inside(f, body);
                    if (thrown != null && thrown.origin != f) {
                        throw thrown; // C8
                    }
                    trace.add("left scope at " + now);
                }
                case Step.GroupOf(long childNs, long cleanupNs, Step body) -> group(childNs, cleanupNs, body);
                case Step.Cleanup(Step body, Step last) -> {
                    try {
                        run(body);
                    } finally {
                        trace.add("finally at " + now);
                        run(last);
                    }
                }
                case Step.Swallow(Step body) -> {
                    try {
                        run(body);
                    } catch (Cancelled e) {
                        trace.add("swallowed at " + now);
                    }
                }
            }
        }

        private Cancelled inside(Frame f, Step body) {
            frames.add(f);
            try {
                run(body);
                return null;
            } catch (Cancelled e) {
                return e;
            } finally {
                frames.remove(frames.size() - 1);
            }
        }

        /** A child of a group: sleeps, and when it is cancelled cleans up, and when it is again ends at once. */
        private final class Child {
            final int waitsBefore = waits;
            final long cleanupNs;
            long end;
            boolean inCleanup;

            Child(long ns, long cleanupNs) {
                this.end = now + ns;
                this.cleanupNs = cleanupNs;
            }

            boolean begun() {
                return waits > waitsBefore;
            }

            void cancel() {
                if (!begun() || inCleanup) {
                    end = now;
                } else {
                    inCleanup = true;
                    end = now + cleanupNs;
                }
            }
        }

        private void group(long childNs, long cleanupNs, Step body) {
            Frame f = new Frame(NEVER, false);
            Child child = new Child(childNs, cleanupNs);
            Cancelled thrown = inside(f, body);
            boolean joins = !child.begun() || now < child.end;
            if (joins) {
                join(child, thrown != null);
            }
            if (thrown != null) {
                throw thrown;
            }
            deliver(joins);
            if (f.passed != null) {
                throw f.passed;
            }
            trace.add("left group at " + now);
        }

        private void join(Child child, boolean aborts) {
            boolean external = externalAt <= now && !externalDelivered;
            Frame outermost =
                    frames.stream().filter(x -> pending(x, now)).findFirst().orElse(null);
            if (aborts || external || outermost != null) {
                child.cancel();
            }
            if (!external && outermost != null) {
                outermost.refused = true;
            }
            waits++;
            while (now < child.end) {
                now = nextStrike(child.end);
                if (now < child.end) {
                    for (Frame x : frames) {
                        x.refused |= x.deadline == now;
                    }
                    child.cancel();
                }
            }
        }
    }

    @Property(tries = 5_000)
    void programsDoWhatTheRulesSay(@ForAll @IntRange(min = 1, max = 7) int depth, @ForAll long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        Step program = program(random, depth);
        long externalAt = random.nextInt(3) == 0 ? NEVER : 1 + random.nextLong(3 * LONGEST);
        Model model = new Model(externalAt);
        String expectedEnd;
        try {
            model.run(program);
            expectedEnd = "value";
        } catch (Cancelled e) {
            expectedEnd = "cancelled";
        }
        String modelEnd = expectedEnd;
        TestLoop.run(t -> {
            Task<Void> task = Asyncio.createTask(() -> run(t, program));
            if (externalAt != NEVER) {
                t.loop.callAt(externalAt, task::cancel);
            }
            Throwable e = TestLoop.thrownBy(task::await);
            List<String> trace = t.trace();
            assertThat(trace).as("%s, cancelled at %d", program, externalAt).isEqualTo(model.trace);
            assertThat(e == null ? "value" : e instanceof CancelledError ? "cancelled" : e.toString())
                    .isEqualTo(modelEnd);
            assertThat(t.loop.time()).isEqualTo(model.now);
            Asyncio.sleepNanos(100 * LONGEST); // nothing is left that could hit a later wait
            assertThat(Asyncio.allTasks()).hasSize(1);
        });
    }
}
