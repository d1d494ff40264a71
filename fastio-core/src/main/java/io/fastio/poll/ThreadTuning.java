package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * On which processors the calling thread runs, and with which real-time priority. Linux only. For platform threads: on a
 * virtual thread it would be its carrier's. Everything returns 0 or an error number of {@link Errno}.
 */
public final class ThreadTuning {
    /** Processors that a mask has room for; the C library's own limit. */
    public static final int MAX_CPUS = 1024;

    private static final int MASK_BYTES = MAX_CPUS / Byte.SIZE;
    private static final int SCHED_OTHER = 0;
    private static final int SCHED_FIFO = 1;

    private ThreadTuning() {}

    // Apart, so that only those who tune a thread pay for the linking.
    private static final class Calls {
        static final MethodHandle SET_AFFINITY =
                Libc.link("sched_setaffinity", Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_LONG));
        static final MethodHandle GET_AFFINITY =
                Libc.link("sched_getaffinity", Libc.returnsInt(JAVA_INT, JAVA_LONG, JAVA_LONG));
        static final MethodHandle SET_SCHEDULER =
                Libc.link("sched_setscheduler", Libc.returnsInt(JAVA_INT, JAVA_INT, JAVA_LONG));
        static final MethodHandle GET_SCHEDULER = Libc.link("sched_getscheduler", Libc.returnsInt(JAVA_INT));
    }

    /** Whether this system has the calls. */
    public static boolean isSupported() {
        return Libc.isLinux();
    }

    /** The processors on which the calling thread may run, as a mask for {@link #restoreAffinity}; null if not known. */
    public static byte @Nullable [] affinity() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
            int n;
            try {
                n = (int) Calls.GET_AFFINITY.invokeExact(Libc.newErrno(), 0, (long) MASK_BYTES, mask.address());
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
            return n < 0 ? null : mask.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        }
    }

    /** Lets the calling thread run on these processors only, counted from 0. */
    public static int setAffinity(int... cpus) {
        byte[] mask = new byte[MASK_BYTES];
        for (int cpu : cpus) {
            mask[cpu / Byte.SIZE] |= (byte) (1 << cpu % Byte.SIZE);
        }
        return restoreAffinity(mask);
    }

    /** Sets what {@link #affinity} returned. */
    public static int restoreAffinity(byte[] mask) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment m = arena.allocate(MASK_BYTES, Long.BYTES);
            MemorySegment.copy(mask, 0, m, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, mask.length);
            MemorySegment errno = Libc.newErrno();
            int r;
            try {
                r = (int) Calls.SET_AFFINITY.invokeExact(errno, 0, (long) MASK_BYTES, m.address());
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
            return r < 0 ? Libc.errno(errno) : 0;
        }
    }

    /** Whether the calling thread has a real-time policy. */
    public static boolean isRealtime() {
        int policy;
        try {
            policy = (int) Calls.GET_SCHEDULER.invokeExact(Libc.newErrno(), 0);
        } catch (Throwable t) {
            throw Libc.thrown(t);
        }
        return policy > SCHED_OTHER && policy <= 2;
    }

    /**
     * Has the calling thread run before all threads of lesser priority (SCHED_FIFO), or 0: as all others do.
     *
     * @param priority 1 to 99, or 0
     */
    public static int setRealtime(int priority) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment parameter = arena.allocateFrom(JAVA_INT, priority);
            MemorySegment errno = Libc.newErrno();
            int r;
            try {
                r = (int) Calls.SET_SCHEDULER.invokeExact(
                        errno, 0, priority == 0 ? SCHED_OTHER : SCHED_FIFO, parameter.address());
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
            return r < 0 ? Libc.errno(errno) : 0;
        }
    }
}
