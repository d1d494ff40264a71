package io.fastio;

import org.jspecify.annotations.Nullable;

/**
 * A part of a task's body that can be cancelled by itself: a timeout, a cancel scope, the body of a group. Scopes of a
 * task form a stack; a strike ends the waits inside.
 *
 * <p>A scope that strikes once (timeout, group) has its cancel delivered to one wait, as {@link Task#cancel()} has (C4);
 * a level-wise one (cancel scope) ends every wait until it is left (C8). Loop only, but for the signal.
 */
abstract class Scope extends Timed {
    private static final int STRIKE = 1;

    final LoopTask<?> task;

    @Nullable
    Scope outer;

    /** On its task's stack. */
    boolean entered;

    /** To be cancelled. */
    boolean struck;

    /** Its cancel, which strikes once, has been thrown. */
    boolean delivered;

    /** A wait that has to finish acted on its cancel, but refused to end. */
    boolean refused;

    /** Its cancel interrupted a blocking JDK call. */
    boolean interrupted;

    /** The latest cancel from further out that was thrown inside this scope. */
    @Nullable
    CancelledError passed;

    Scope(LoopTask<?> task) {
        this.task = task;
    }

    /** Whether every wait inside throws once it is struck, rather than one. */
    abstract boolean levelWise();

    /** Whether its cancel is delivered also where an operation need not suspend; a timeout's is not (C3). */
    abstract boolean atOnce();

    /** What it is, and of which task. */
    abstract String describe();

    /** The message of its cancel: what it is, and who or what has struck it. */
    abstract String verdict();

    boolean shields() {
        return false;
    }

    /** Whether it still has something to throw. */
    final boolean pending() {
        return struck && (levelWise() || !delivered);
    }

    /** Cancels it. On the loop. */
    final void strike() {
        if (!struck) {
            struck = true;
            if (entered) {
                task.scopeStruck(this);
            }
        }
    }

    /** Cancels it. Any thread. */
    final void strikeFromAnywhere() {
        if (task.loop.isCurrent()) {
            strike();
        } else {
            task.loop.postIfOpen(this, STRIKE);
        }
    }

    @Override
    final void deliver(int signals) {
        strike();
    }

    @Override
    final void timeReached() {
        strike();
    }
}
