package io.fastio;

/** What can stand in a {@link TimerQueue}: a task's own deadline, a scope's, a handle's. One queue at a time. */
abstract class Timed extends Posted {
    /** When, in nanoseconds of the loop's clock. */
    long due;

    /** Order of insertion among equal {@link #due}; given by the queue. */
    long order;

    /** Its slot in the queue; -1 while in none. */
    int slot = -1;

    /** Its moment has come; it is in no queue any more. On the loop. */
    abstract void timeReached();
}
