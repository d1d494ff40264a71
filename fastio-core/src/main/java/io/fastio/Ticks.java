package io.fastio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The ticks of one loop: whom to ring, and whether {@link Ticker} knows that it has to. On a virtual clock a timer of the
 * loop takes the thread's place.
 *
 * <p>Nobody is forgotten while the thread stops: it writes {@code armed} and then looks for users, and a new user is
 * counted before it looks at {@code armed}; one of the two sees the other. In the same way the loop takes a tick before it
 * looks at {@code armed}, and the thread looks for one that waits after it has written it.
 */
final class Ticks extends Timed {
    private static final int TICK = 1;

    /** Ticks for which the thread goes on when nobody needs them any more, so that a chatty source finds it awake. */
    private static final int LINGER = 32;

    private static final Signal[] NOBODY = {};
    private static final VarHandle ARMED;
    private static final VarHandle USERS;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            ARMED = l.findVarHandle(Ticks.class, "armed", boolean.class);
            USERS = l.findVarHandle(Ticks.class, "users", Signal[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop loop;
    final long period;
    private volatile Signal[] users = NOBODY;

    /** One more, which comes and goes often: without an array to be made each time. The loop writes it. */
    private volatile @Nullable Signal oftenUser;

    private volatile boolean armed;

    // The ticker's thread.
    @Nullable
    Ticks nextNewcomer;

    long next;
    private int quiet;

    Ticks(EventLoop loop, long period) {
        this.loop = loop;
        this.period = period;
    }

    /** Raises {@code s} at every tick from now on, or no more. Idempotent. Any thread. */
    void ring(Signal s, boolean on) {
        Signal[] before;
        Signal[] after;
        do {
            before = users;
            if (on == Arrays.asList(before).contains(s)) {
                return;
            }
            if (on) {
                after = Arrays.copyOf(before, before.length + 1);
                after[before.length] = s;
            } else {
                after = Arrays.stream(before).filter(other -> other != s).toArray(Signal[]::new);
            }
        } while (!USERS.compareAndSet(this, before, after));
        if (on) {
            arm();
        }
    }

    /** The same for one user of the loop's own, null for none; allocates nothing. Loop only. */
    void ringOften(@Nullable Signal s) {
        oftenUser = s;
        if (s != null) {
            arm();
        }
    }

    /** Sees to it that ticks come. Any thread. */
    void arm() {
        if (!armed && ARMED.compareAndSet(this, false, true)) {
            quiet = 0;
            if (loop.isVirtual()) {
                loop.postIfOpen(this, TICK);
            } else {
                Ticker.add(this);
            }
        }
    }

    /** The loop has been closed: it is rung no more. */
    void end() {
        if (armed && !loop.isVirtual()) {
            Ticker.look();
        }
    }

    boolean isOver() {
        return loop.isClosed();
    }

    private boolean needed() {
        return users.length > 0 || oftenUser != null || loop.hasBatch();
    }

    /** One tick; false if there is to be no other. The ticker's thread. */
    boolean ring() {
        if (hasSignals()) {
            return disarm(); // the loop is in a long step, or does not run: it asks again when it takes the tick that
            // waits
        }
        if (needed()) {
            quiet = 0;
            return loop.postIfOpen(this, TICK) || disarm();
        }
        return ++quiet < LINGER || disarm();
    }

    private boolean disarm() {
        armed = false;
        return needed() && !hasSignals() && !isOver() && ARMED.compareAndSet(this, false, true);
    }

    @Override
    void deliver(int signals) {
        if (loop.isVirtual()) {
            if (slot < 0) {
                loop.scheduler.setTimer(this, (loop.readClock() / period + 1) * period);
            }
        } else {
            tell();
            if (needed()) {
                arm();
            }
        }
    }

    /** A tick of virtual time. */
    @Override
    void timeReached() {
        tell();
        if (needed()) {
            loop.scheduler.setTimer(this, (loop.readClock() / period + 1) * period);
        } else {
            disarm();
        }
    }

    private void tell() {
        for (Signal s : users) {
            s.act();
        }
        Signal often = oftenUser;
        if (often != null) {
            often.act();
        }
    }
}
