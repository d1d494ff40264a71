package io.fastio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Reads the counters of a loop from any thread. Apart, so that a program that counts nothing links nothing. */
final class Counts {
    private static final VarHandle STEPS = field(Scheduler.class, "steps");
    private static final VarHandle EMPTY_TURNS = field(Idle.class, "emptyTurns");
    private static final VarHandle COALESCED = field(EventLoop.class, "coalesced");
    private static final VarHandle SLEEPS = field(Sleeper.class, "sleeps");
    private static final VarHandle WAKES = field(Sleeper.class, "wakes");
    private static final VarHandle POLLS = field(Sleeper.class, "polls");

    private Counts() {}

    private static VarHandle field(Class<?> owner, String name) {
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static LoopCounters of(EventLoop loop) {
        Scheduler s = loop.scheduler;
        return new LoopCounters(
                (long) STEPS.getOpaque(s),
                (long) SLEEPS.getOpaque(s.sleeper()),
                (long) WAKES.getOpaque(s.sleeper()),
                (long) EMPTY_TURNS.getOpaque(s.idle()),
                (long) POLLS.getOpaque(s.sleeper()),
                (long) COALESCED.getOpaque(loop));
    }
}
