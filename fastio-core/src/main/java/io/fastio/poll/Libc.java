package io.fastio.poll;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/**
 * Links functions of the C library. All handles made here are plain calls: an option {@code critical} gains nothing on
 * system calls, and holds up every garbage collection while one blocks.
 *
 * <p>Pointers are passed as {@code long}, which spares the liveness check of a segment at each call: the caller keeps
 * the segment reachable.
 */
final class Libc {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup SYMBOLS = LINKER.defaultLookup();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final long ERRNO_OFFSET =
            Linker.Option.captureStateLayout().byteOffset(PathElement.groupElement("errno"));

    private Libc() {}

    static boolean has(String name) {
        return SYMBOLS.find(name).isPresent();
    }

    /** A call that leaves its errno in the segment given as first argument; see {@link #newErrno()}. */
    static MethodHandle link(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = Arrays.copyOf(options, options.length + 1);
        all[options.length] = CAPTURE_ERRNO;
        return linkWithoutErrno(name, type, all);
    }

    /** A call whose errno nobody reads; any thread may make it without a segment of its own. */
    static MethodHandle linkWithoutErrno(String name, FunctionDescriptor type, Linker.Option... options) {
        return LINKER.downcallHandle(SYMBOLS.findOrThrow(name), type, options);
    }

    static FunctionDescriptor returnsInt(ValueLayout... args) {
        return FunctionDescriptor.of(JAVA_INT, args);
    }

    static FunctionDescriptor returnsLong(ValueLayout... args) {
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, args);
    }

    /** Where calls of one thread leave their errno. Given back to the system when it is no longer reachable. */
    static MemorySegment newErrno() {
        return Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
    }

    static int errno(MemorySegment captured) {
        return captured.get(JAVA_INT, ERRNO_OFFSET);
    }

    /**
     * {@code (Object)int}: the descriptor of a NIO channel.
     *
     * @throws IllegalAccessException if the JDK does not export sun.nio.ch to this code
     */
    static MethodHandle fdOfChannel() throws ReflectiveOperationException {
        return MethodHandles.lookup()
                .findVirtual(Class.forName("sun.nio.ch.SelChImpl"), "getFDVal", MethodType.methodType(int.class))
                .asType(MethodType.methodType(int.class, Object.class));
    }

    /** What a downcall threw: its signature allows any Throwable, but linked functions throw none of their own. */
    static RuntimeException thrown(Throwable t) {
        if (t instanceof Error e) {
            throw e;
        }
        if (t instanceof RuntimeException e) {
            throw e;
        }
        throw new AssertionError(t);
    }
}
