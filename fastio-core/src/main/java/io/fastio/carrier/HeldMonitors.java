package io.fastio.carrier;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.StackWalker.StackFrame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whether a thread is inside {@code synchronized}, and so must not carry virtual threads. JDK 25 keeps the uncontended
 * monitors of a thread on a small stack in its native record, its lock stack. A virtual thread that leaves its carrier takes
 * along all that is on it, what belongs to the carrier too, and the JVM breaks when it comes back. A monitor that others
 * have waited for lives elsewhere, and does no harm.
 *
 * <p>Where the JVM lets us read memory, the lock stack is looked at: a few nanoseconds, exact. Its place comes from the
 * table by which HotSpot describes itself to debuggers, and is tried out on a monitor of ours before it is relied on.
 * Elsewhere each frame of the thread is asked for its monitors, which takes microseconds and sees the harmless ones as well.
 */
public final class HeldMonitors {
    private static final Object PROBE = new Object();

    /** {@code (Thread) -> long}: where HotSpot's record of a thread is. */
    private static final MethodHandle NATIVE_THREAD = nativeThread();

    /** All memory of the process, if that may be read without a warning; else none. */
    private static final MemorySegment MEMORY = memory();

    private static final @Nullable LockStack LOCK_STACK = tried(LockStack.find());

    private HeldMonitors() {}

    /** Whether the calling thread holds a monitor that a carrier must not hold; false on a virtual thread. Any thread. */
    public static boolean any() {
        if (Thread.currentThread().isVirtual()) {
            return false; // what it holds is its own, and has no lock stack of its own while it does not run
        }
        LockStack s = LOCK_STACK;
        return s != null ? top(s) != s.empty : Frames.anyHoldsAMonitor();
    }

    /** Whether {@link #any} is cheap here. Any thread. */
    public static boolean isCheap() {
        return LOCK_STACK != null;
    }

    private static int top(LockStack s) {
        return MEMORY.get(JAVA_INT, address() + s.top);
    }

    /** Of the calling thread's record; 0 for a virtual thread. */
    private static long address() {
        try {
            return (long) NATIVE_THREAD.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            throw Carrier.unexpected(e);
        }
    }

    private static MethodHandle nativeThread() {
        MethodType type = MethodType.methodType(long.class, Thread.class);
        try {
            return MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
                    .findGetter(Thread.class, "eetop", long.class)
                    .asType(type);
        } catch (ReflectiveOperationException | RuntimeException notThisJdk) {
            return MethodHandles.empty(type); // nowhere: then the frames are asked
        }
    }

    @SuppressWarnings("restricted") // only where the user has allowed it
    private static MemorySegment memory() {
        boolean allowed = ADDRESS.byteSize() == Long.BYTES
                && HeldMonitors.class.getModule().isNativeAccessEnabled();
        return allowed ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE) : MemorySegment.NULL;
    }

    /** What was found, if it shows a monitor come and go. */
    private static @Nullable LockStack tried(@Nullable LockStack s) {
        if (s == null || address() == 0) {
            return null;
        }
        int before = top(s);
        int inside;
        synchronized (PROBE) {
            inside = top(s);
        }
        return before >= s.empty && inside == before + Long.BYTES && top(s) == before ? s : null;
    }

    /**
     * The lock stack in HotSpot's record of a thread.
     *
     * @param top where the field is that says where it ends, from the record's begin
     * @param empty what that field says while nothing is on it
     */
    private record LockStack(long top, int empty) {
        @SuppressWarnings("restricted")
        static @Nullable LockStack find() {
            boolean windows =
                    System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows");
            Path jvm = Path.of(
                    System.getProperty("java.home"), windows ? "bin" : "lib", "server", System.mapLibraryName("jvm"));
            if (MEMORY.byteSize() == 0 || !Files.exists(jvm)) {
                return null;
            }
            try {
                return find(SymbolLookup.libraryLookup(jvm, Arena.global()));
            } catch (RuntimeException notThisJvm) {
                return null; // then the frames are asked
            }
        }

        private static @Nullable LockStack find(SymbolLookup jvm) {
            long stride = number(jvm, "gHotSpotVMStructEntryArrayStride");
            long typeName = number(jvm, "gHotSpotVMStructEntryTypeNameOffset");
            long fieldName = number(jvm, "gHotSpotVMStructEntryFieldNameOffset");
            long offset = number(jvm, "gHotSpotVMStructEntryOffsetOffset");
            long lockStack = -1;
            long top = -1;
            long base = -1;
            long lastType = 0;
            String type = "";
            for (long e = number(jvm, "gHotSpotVMStructs"); ; e += stride) {
                long t = MEMORY.get(JAVA_LONG, e + typeName);
                if (t == 0) {
                    break;
                }
                if (t != lastType) { // entries of a type follow one another: few strings to read
                    lastType = t;
                    type = MEMORY.getString(t);
                }
                if (!type.equals("JavaThread") && !type.equals("LockStack")) {
                    continue;
                }
                switch (type + "." + MEMORY.getString(MEMORY.get(JAVA_LONG, e + fieldName))) {
                    case "JavaThread._lock_stack" -> lockStack = MEMORY.get(JAVA_LONG, e + offset);
                    case "LockStack._top" -> top = MEMORY.get(JAVA_LONG, e + offset);
                    case "LockStack._base[0]" -> base = MEMORY.get(JAVA_LONG, e + offset);
                    default -> {}
                }
            }
            return lockStack < 0 || top < 0 || base < 0
                    ? null
                    : new LockStack(lockStack + top, Math.toIntExact(lockStack + base));
        }

        private static long number(SymbolLookup jvm, String name) {
            return MEMORY.get(JAVA_LONG, jvm.findOrThrow(name).address());
        }
    }

    /** Made when it is needed: what asks the frames of a thread. */
    private static final class Frames {
        private static final StackWalker WALKER;
        private static final MethodHandle MONITORS;

        static {
            try {
                Class<?> frame = Class.forName("java.lang.LiveStackFrame");
                MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(frame, MethodHandles.lookup());
                WALKER = (StackWalker)
                        lookup.findStatic(frame, "getStackWalker", MethodType.methodType(StackWalker.class))
                                .invoke();
                MONITORS = lookup.findVirtual(frame, "getMonitors", MethodType.methodType(Object[].class))
                        .asType(MethodType.methodType(Object[].class, StackFrame.class));
            } catch (Throwable e) {
                throw Carrier.unexpected(e);
            }
        }

        static boolean anyHoldsAMonitor() {
            return WALKER.walk(frames -> frames.anyMatch(Frames::holdsAMonitor));
        }

        private static boolean holdsAMonitor(StackFrame frame) {
            try {
                return ((Object[]) MONITORS.invokeExact(frame)).length > 0;
            } catch (Throwable e) {
                throw Carrier.unexpected(e);
            }
        }
    }
}
