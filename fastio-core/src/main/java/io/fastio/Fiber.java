package io.fastio;

import io.fastio.carrier.Carrier;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A virtual thread of a loop, and the scheduler of that thread: the JDK hands the continuation of the thread to
 * {@link #execute} when a JDK call that parked it is over. Threads that a library starts inside it inherit the
 * scheduler, so their continuations arrive here too and run on the same loop, in the class of this fiber.
 *
 * <pre>
 *   NEW ------runStep--> RUNNING --giveWay--> LEAVING --(it left)--> WAITING --runStep--> RESUMING --> RUNNING
 *                           |                                                                '--> REFUSED
 *                           |--(a JDK call parks it)--> BLOCKED --execute--> ready --runStep--> RUNNING
 *                           '--(its body returned)--> ENDED
 * </pre>
 *
 * While a thread dump or a debugger looks at the stack of a waiting thread, the JDK takes its continuation out of
 * service: a step of it then does nothing (REFUSED), and when the look is over the JDK calls {@link #execute}, in any
 * case. So for a WAITING fiber that call means nothing, and a REFUSED one gets its step then.
 */
abstract class Fiber extends Entry implements Executor, Runnable {
    static final byte NEW = 0;
    static final byte RUNNING = 1;
    static final byte LEAVING = 2;
    static final byte WAITING = 3;
    static final byte RESUMING = 4;
    static final byte REFUSED = 5;
    static final byte BLOCKED = 6;
    static final byte ENDED = 7;

    /** Signal of the inbox: the JDK says that the thread can go on. */
    static final int CONTINUE = 1;

    final EventLoop loop;
    final Thread thread;
    private final Runnable continuation;
    byte phase;

    Fiber(EventLoop loop, @Nullable String name) {
        this.loop = loop;
        this.thread = Carrier.newThread(this, name, this);
        this.continuation = Carrier.continuationOf(thread);
    }

    /** What the virtual thread runs; throws nothing. The fiber is its own Runnable: one object and one frame less a task. */
    @Override
    public abstract void run();

    /** Whether {@link #run} is over. */
    abstract boolean bodyEnded();

    /** The class in which a step of this fiber, or of a thread started inside it, becomes ready. */
    abstract byte ownClass();

    /** Called by the JDK, from whatever thread: must not block, yield or reject. */
    @Override
    public final void execute(Runnable step) {
        if (step != continuation) {
            loop.runInside(this, step);
        } else if (loop.isCurrent()) {
            goOn();
        } else if (!loop.postIfOpen(this, CONTINUE)) {
            loopIsClosed();
        }
    }

    /** Its thread was started, or could go on, but its loop is closed and will not run it (S13). On any thread. */
    void loopIsClosed() {}

    /** The JDK says that the thread can go on: its call is over, it was started, or nobody looks at it any more. */
    void goOn() {
        if (phase == WAITING || phase == ENDED || readyIn != ReadyQueues.NONE) {
            return;
        }
        if (phase == BLOCKED) {
            loop.elsewhere.blocked(-1);
        }
        loop.scheduler.ready(this, ownClass());
    }

    /** Gives the loop away; false if something on the stack pins the thread, and nothing was given. */
    final boolean giveWay() {
        phase = LEAVING;
        boolean left = Carrier.leave(thread);
        phase = RUNNING;
        return left;
    }

    @Override
    void runStep() {
        byte before = phase;
        phase = before == WAITING || before == REFUSED ? RESUMING : RUNNING;
        continuation.run();
        switch (phase) {
            case LEAVING -> {
                Carrier.markYielded(thread);
                phase = WAITING;
            }
            case RUNNING -> {
                if (bodyEnded()) {
                    phase = ENDED;
                } else if (readyIn == ReadyQueues.NONE) {
                    phase = BLOCKED;
                    loop.elsewhere.blocked(1);
                }
            }
            case RESUMING -> phase = REFUSED;
            default -> throw new AssertionError("phase " + phase);
        }
    }

    @Override
    void deliver(int signals) {
        if ((signals & CONTINUE) != 0) {
            goOn();
        }
    }
}
