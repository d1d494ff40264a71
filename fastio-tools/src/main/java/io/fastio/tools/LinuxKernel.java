package io.fastio.tools;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** Asks the running Linux kernel what it can do, by doing it once: a version number says less than a call. */
final class LinuxKernel {
    /** The answer to one trial call: {@code errno} is 0 where it went well. */
    record Answer(int errno) {
        boolean works() {
            return errno == 0;
        }

        /** The reason in words, for the errors that a kernel without the feature gives. */
        String reason() {
            return switch (errno) {
                case 0 -> "works";
                case EPERM, EACCES -> "forbidden here (a sandbox, a container's seccomp filter, or a system setting)";
                case ENOSYS -> "this kernel has no such call";
                default -> "error " + errno;
            };
        }
    }

    private static final int EPERM = 1;
    private static final int EACCES = 13;
    private static final int ENOSYS = 38;
    private static final int PR_GET_TIMERSLACK = 30;

    /** System calls since 5.1 have the same number on every architecture. */
    private static final long IO_URING_SETUP = 425;

    private static final long EPOLL_PWAIT2 = 441;

    private static final int IO_URING_PARAMS_BYTES = 120;
    private static final int EPOLL_EVENT_BYTES = 16;
    private static final int KERNEL_SIGSET_BYTES = 8;

    private final Linker linker = Linker.nativeLinker();
    private final StructLayout state = Linker.Option.captureStateLayout();
    private final VarHandle errno = state.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    Answer epollPwait2() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(state);
            int epoll = callC("epoll_create1", captured, 0);
            if (epoll < 0) {
                return failure(captured);
            }
            MemorySegment events = arena.allocate(EPOLL_EVENT_BYTES, Long.BYTES);
            MemorySegment noTime = arena.allocate(JAVA_LONG, 2);
            long result = systemCall(
                    captured, EPOLL_PWAIT2, epoll, events, 1, noTime, MemorySegment.NULL, KERNEL_SIGSET_BYTES);
            Answer answer = result < 0 ? failure(captured) : new Answer(0);
            close(epoll, captured);
            return answer;
        }
    }

    Answer eventfd() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(state);
            int counter = callC("eventfd", captured, 0, 0);
            if (counter < 0) {
                return failure(captured);
            }
            close(counter, captured);
            return new Answer(0);
        }
    }

    Answer ioUring() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(state);
            MemorySegment parameters = arena.allocate(IO_URING_PARAMS_BYTES, Long.BYTES);
            long ring =
                    systemCall(captured, IO_URING_SETUP, 1, parameters, 0, MemorySegment.NULL, MemorySegment.NULL, 0);
            if (ring < 0) {
                return failure(captured);
            }
            close((int) ring, captured);
            return new Answer(0);
        }
    }

    /** By how many nanoseconds the kernel may delay a wake-up of the calling thread to merge it with others. */
    int timerSlackNanos() {
        try (Arena arena = Arena.ofConfined()) {
            return callC("prctl", arena.allocate(state), PR_GET_TIMERSLACK);
        }
    }

    private Answer failure(MemorySegment captured) {
        return new Answer((int) errno.get(captured, 0L));
    }

    private void close(int fd, MemorySegment captured) {
        if (callC("close", captured, fd) != 0) {
            throw new IllegalStateException(
                    "close(" + fd + ") failed with error " + failure(captured).errno());
        }
    }

    /** Calls a C function that takes and returns ints. */
    private int callC(String function, MemorySegment captured, int... arguments) {
        MemoryLayout[] types = new MemoryLayout[arguments.length];
        Object[] values = new Object[arguments.length + 1];
        values[0] = captured;
        for (int i = 0; i < arguments.length; i++) {
            types[i] = JAVA_INT;
            values[i + 1] = arguments[i];
        }
        return (int) call(function, FunctionDescriptor.of(JAVA_INT, types), values);
    }

    private long systemCall(
            MemorySegment captured,
            long number,
            long first,
            MemorySegment second,
            long third,
            MemorySegment fourth,
            MemorySegment fifth,
            long sixth) {
        FunctionDescriptor type =
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG);
        return (long) call("syscall", type, captured, number, first, second, third, fourth, fifth, sixth);
    }

    private Object call(String function, FunctionDescriptor type, Object... arguments) {
        MethodHandle handle = linker.downcallHandle(
                linker.defaultLookup().findOrThrow(function), type, Linker.Option.captureCallState("errno"));
        try {
            return handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IllegalStateException("calling " + function + " failed", e);
        }
    }
}
