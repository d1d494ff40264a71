package io.fastio;

import io.fastio.carrier.Carrier;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A virtual thread of a loop, and the scheduler of that thread: the JDK hands the continuation of the thread to
 * {@link #execute} whenever it can go on. Threads that a library starts inside it inherit the scheduler, so their
 * continuations arrive here too and run on the same loop, in the class of this fiber.
 *
 * <pre>
 *   NEW --runStep--> RUNNING --giveWay--> SUSPENDING --(JDK hands the continuation back)--> WAITING --runStep--> RUNNING
 *                       |--(a JDK call parks it)--> BLOCKED --(JDK: execute)--> ready --runStep--> RUNNING
 *                       '--(its body returned)--> ENDED
 * </pre>
 */
abstract class Fiber extends Entry implements Executor {
    static final byte NEW = 0;
    static final byte RUNNING = 1;
    static final byte SUSPENDING = 2;
    static final byte WAITING = 3;
    static final byte BLOCKED = 4;
    static final byte ENDED = 5;

    /** Signal of the inbox: the JDK says that the thread can go on. */
    static final int CONTINUE = 1;

    final EventLoop loop;
    final Thread thread;
    private final Runnable continuation;
    byte phase;

    Fiber(EventLoop loop, @Nullable String name) {
        this.loop = loop;
        this.thread = Carrier.newThread(this, name, this::body);
        this.continuation = Carrier.continuationOf(thread);
    }

    /** What the virtual thread runs; throws nothing. */
    abstract void body();

    /** Whether {@link #body} is over. */
    abstract boolean bodyEnded();

    /** The class in which a step of this fiber, or of a thread started inside it, becomes ready. */
    abstract byte ownClass();

    /**
     * Called by the JDK, from whatever thread: must not block, yield or reject. A fiber that gives way keeps its
     * continuation; one whose JDK call is over becomes ready.
     */
    @Override
    public final void execute(Runnable step) {
        if (step != continuation) {
            loop.runInside(this, step);
        } else if (phase == SUSPENDING) {
            phase = WAITING;
        } else if (loop.isCurrent()) {
            goOn();
        } else {
            loop.postIfOpen(this, CONTINUE);
        }
    }

    /** The JDK call that it was in is over, or its thread was started. On the loop. */
    final void goOn() {
        if (phase == BLOCKED) {
            loop.blockedFibers--;
            phase = WAITING;
        }
        loop.ready(this, ownClass());
    }

    /** Gives the loop away; false if something on the stack pins the thread, and nothing was given. */
    final boolean giveWay() {
        phase = SUSPENDING;
        Thread.yield();
        if (phase != SUSPENDING) {
            return true;
        }
        phase = RUNNING;
        return false;
    }

    @Override
    void runStep() {
        phase = RUNNING;
        loop.running = this;
        continuation.run();
        loop.running = null;
        if (phase == RUNNING) {
            if (bodyEnded()) {
                phase = ENDED;
            } else if (readyIn == ReadyQueues.NONE) {
                phase = BLOCKED;
                loop.blockedFibers++;
            }
        }
    }

    @Override
    void deliver(int signals) {
        if ((signals & CONTINUE) != 0) {
            goOn();
        }
    }
}
