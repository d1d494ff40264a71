package io.fastio.sync;

import io.fastio.EventLoop;
import io.fastio.Signal;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WakePolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The loop on which the waiters of an object wait, and the bell by which other threads call it.
 *
 * <p>No wake is lost while the first waiter moves in: it writes {@link #bell} and then looks at what was asked for, and
 * another thread asks and then reads {@link #bell}, both volatile; one of the two sees the other.
 */
abstract class Home {
    /** As a deadline: whoever is not served at once does not wait. */
    static final long NO_WAIT = Long.MIN_VALUE;

    private static final VarHandle BELL;

    static {
        try {
            BELL = MethodHandles.lookup().findVarHandle(Home.class, "bell", Bell.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final WakePolicy policy;
    private volatile @Nullable Bell bell;

    Home() {
        this(WakePolicy.AT_ONCE);
    }

    /** @param policy how soon the loop hears the bell (W2) */
    Home(WakePolicy policy) {
        this.policy = Objects.requireNonNull(policy, "policy");
    }

    private static final class Bell extends Signal {
        private final Home home;

        Bell(EventLoop loop, Home home) {
            super(loop, home.policy);
            this.home = home;
        }

        @Override
        protected void act() {
            home.settle();
        }
    }

    /** Does what other threads have asked for. On the loop, possibly on its carrier. */
    abstract void settle();

    /** The loop has been closed and another one takes its place: forgets the waiters that it abandoned. */
    abstract void forsake();

    /**
     * Moves in, before anything is taken.
     *
     * @throws IllegalStateException if it lives on another loop
     */
    final void enter(Task<?> task) {
        EventLoop loop = Wait.loopOf(task);
        Bell b = bell;
        if (b == null || b.loop() != loop) {
            enter(loop);
        }
    }

    /** {@link #enter(Task)} for callers that may be callbacks. */
    final void enter(EventLoop loop) {
        for (Bell b = bell; b == null || b.loop() != loop; b = bell) {
            if (b != null && !b.loop().isClosed()) {
                throw new IllegalStateException("it belongs to " + b.loop() + " and cannot be waited for on " + loop);
            }
            if (BELL.compareAndSet(this, b, new Bell(loop, this)) && b != null) {
                forsake();
            }
        }
    }

    /** Whether the caller is on the loop, and may do everything itself. Any thread. */
    final boolean isCurrent() {
        Bell b = bell;
        return b != null && b.loop().isCurrent();
    }

    /** Has the loop {@link #settle}; nothing to do if nobody has moved in yet. Any thread. */
    final void ring() {
        for (Bell b = bell; b != null && !b.raise(); ) {
            Bell now = bell;
            if (now == b) {
                return; // closed, and nobody waits elsewhere
            }
            b = now;
        }
    }

    /** The deadline of a wait of at most {@code timeout}; null: no limit. For tasks. */
    static long deadline(@Nullable Duration timeout) {
        return timeout != null && (timeout.isZero() || timeout.isNegative()) ? NO_WAIT : Wait.deadlineIn(timeout);
    }
}
