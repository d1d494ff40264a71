package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * On which processors the calling thread runs, with which real-time priority, and in how long turns. Linux only. For platform threads: on a
 * virtual thread it would be its carrier's. Everything returns 0 or an error number of {@link Errno}.
 */
public final class ThreadTuning {
    /** Processors that a mask has room for; the C library's own limit. */
    public static final int MAX_CPUS = 1024;

    private static final int MASK_BYTES = MAX_CPUS / Byte.SIZE;
    private static final int SCHED_OTHER = 0;
    private static final int SCHED_FIFO = 1;

    private ThreadTuning() {}

    // Apart, for the same reason; through syscall(2), since the C library has no name for them.
    private static final class Attributes {
        /** {@code struct sched_attr}, in its first form. */
        static final int BYTES = 48;

        static final long POLICY = 4;
        static final long FLAGS = 8;
        static final long NICE = 16;
        static final long RUNTIME = 24;

        /** SCHED_FLAG_RESET_ON_FORK: threads that this one starts are as others are. Once set, it stays. */
        static final long RESET_ON_FORK = 1;

        private static final boolean X86 = System.getProperty("os.arch").equals("amd64");
        private static final long SET = X86 ? 314 : 274;
        private static final long GET = X86 ? 315 : 275;
        private static final MethodHandle SYSCALL = Libc.link(
                "syscall",
                Libc.returnsLong(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                Linker.Option.firstVariadicArg(1));

        static int get(MemorySegment attributes) {
            return call(GET, attributes, BYTES);
        }

        static int set(MemorySegment attributes) {
            return call(SET, attributes, 0);
        }

        private static int call(long number, MemorySegment attributes, long third) {
            MemorySegment errno = Libc.newErrno();
            try {
                long r = (long) SYSCALL.invokeExact(errno, number, 0L, attributes.address(), third, 0L);
                return r < 0 ? Libc.errno(errno) : 0;
            } catch (Throwable t) {
                throw Libc.thrown(t);
            }
        }
    }

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
        return LoopThread.isLinux();
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

    /**
     * Whether the kernel is one whose numbers of calls are known here, and native calls are allowed without a warning. Links
     * nothing.
     */
    public static boolean hasTimeSlices() {
        String arch = System.getProperty("os.arch");
        return LoopThread.isLinux()
                && (arch.equals("amd64") || arch.equals("aarch64"))
                && ThreadTuning.class.getModule().isNativeAccessEnabled();
    }

    /** Links what {@link #setTimeSlice} calls, which takes tens of milliseconds in a young JVM. Any thread. */
    public static void linkTimeSlices() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(Attributes.BYTES, Long.BYTES);
            int ignored = Attributes.get(attributes); // whoever sets one hears of an error
        }
    }

    /**
     * For how long the kernel lets the calling thread run when others want its processor, or 0: as long as all others. The
     * shorter its turns, the sooner it gets one when it wakes (EEVDF scheduler; kernels before 6.12 do not look at it). Leaves
     * threads alone that have a real-time policy or more than the usual share.
     */
    public static int setTimeSlice(long nanos) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(Attributes.BYTES, Long.BYTES);
            int error = Attributes.get(attributes);
            if (error != 0
                    || attributes.get(JAVA_INT, Attributes.POLICY) != SCHED_OTHER
                    || attributes.get(JAVA_INT, Attributes.NICE) < 0) {
                return error;
            }
            attributes.set(JAVA_LONG, Attributes.FLAGS, Attributes.RESET_ON_FORK);
            attributes.set(JAVA_LONG, Attributes.RUNTIME, nanos);
            return Attributes.set(attributes);
        }
    }

    /** The time slice of the calling thread in nanoseconds; kernels that do not look at it say 0, or -1. */
    public static long timeSlice() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(Attributes.BYTES, Long.BYTES);
            return Attributes.get(attributes) == 0 ? attributes.get(JAVA_LONG, Attributes.RUNTIME) : -1;
        }
    }
}
