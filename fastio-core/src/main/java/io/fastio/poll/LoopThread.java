package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Settings of the operating system for the thread that calls. Linux only; elsewhere they do nothing. */
public final class LoopThread {
    private static final int PR_SET_TIMERSLACK = 29;
    private static final int PR_GET_TIMERSLACK = 30;

    private LoopThread() {}

    // Apart, so that nothing is linked where it cannot be.
    private static final class Prctl {
        static final MethodHandle PRCTL =
                Libc.linkVariadic("prctl", Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), 1);

        static int call(int option, long arg) {
            MemorySegment errno = Libc.newErrno();
            try {
                int r = (int) PRCTL.invokeExact(errno, option, arg, 0L, 0L, 0L);
                return r < 0 ? -Libc.errno(errno) : r;
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        }
    }

    /**
     * How late the kernel may end timed waits of the calling thread, in order to end several at once. Threads begin
     * with 50,000 ns; a loop thread wants 1. To be called on a platform thread: on a virtual thread it would set its
     * carrier's.
     *
     * @param nanos nanoseconds, from 1
     * @return whether it is set; false off Linux and where a sandbox forbids it
     * @throws IllegalArgumentException if {@code nanos} is less than 1
     */
    public static boolean setTimerSlack(long nanos) {
        if (nanos < 1) {
            throw new IllegalArgumentException("timer slack of " + nanos + " ns");
        }
        return Libc.isLinux() && Prctl.call(PR_SET_TIMERSLACK, nanos) == 0;
    }

    /** The calling thread's timer slack in nanoseconds, or -1 where it is not known. */
    public static long timerSlack() {
        return Libc.isLinux() ? Math.max(-1, Prctl.call(PR_GET_TIMERSLACK, 0)) : -1;
    }
}
