package io.fastio.benchmarks.subject;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The limit of a wake that ends a poll: a thread in {@code epoll_wait} on an eventfd, woken by a plain {@code write} of
 * another, through {@code java.lang.foreign}. Linux only.
 */
final class EventfdPair implements Subject.Wake {
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLLIN = 1;
    private static final int EVENT_BYTES = 16;

    @Override
    public String config() {
        return "eventfd write + epoll_wait + read through java.lang.foreign, two platform threads, timer slack 1 ns";
    }

    @Override
    public Reading wake(int count) throws Exception {
        Alarm alarm = new Alarm(count);
        try (Arena arena = Arena.ofShared()) {
            Calls calls = new Calls();
            int eventfd = calls.eventfd();
            int epoll = calls.epoll(eventfd, arena);
            MemorySegment one = arena.allocateFrom(JAVA_LONG, 1L);
            Thread sleeper = Thread.ofPlatform().daemon().start(() -> {
                MemorySegment events = arena.allocate(EVENT_BYTES, 8);
                MemorySegment value = arena.allocate(JAVA_LONG);
                calls.exactTimers();
                do {
                    calls.await(epoll, events);
                    calls.read(eventfd, value);
                } while (alarm.awake());
            });
            alarm.ring(() -> calls.write(eventfd, one));
            sleeper.join();
            calls.close(epoll);
            calls.close(eventfd);
        }
        return alarm.reading();
    }

    /** The system calls needed, each failing loudly. */
    private static final class Calls {
        private static final Linker LINKER = Linker.nativeLinker();

        private final MethodHandle eventfd = call("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
        private final MethodHandle epollCreate = call("epoll_create1", JAVA_INT, JAVA_INT);
        private final MethodHandle epollCtl = call("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
        private final MethodHandle epollWait = call("epoll_wait", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
        private final MethodHandle read = call("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        private final MethodHandle write = call("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        private final MethodHandle close = call("close", JAVA_INT, JAVA_INT);
        private final MethodHandle prctl = call("prctl", JAVA_INT, JAVA_INT, JAVA_LONG);

        private static MethodHandle call(String name, MemoryLayout result, MemoryLayout... parameters) {
            return LINKER.downcallHandle(
                    LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
        }

        int eventfd() {
            try {
                return checked("eventfd", (int) eventfd.invokeExact(0, 0));
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        int epoll(int fd, Arena arena) {
            // The mask is the first word of the struct on every architecture; the data that follows is not used.
            MemorySegment event = arena.allocate(EVENT_BYTES, 8);
            event.set(JAVA_INT, 0, EPOLLIN);
            try {
                int epoll = checked("epoll_create1", (int) epollCreate.invokeExact(0));
                checked("epoll_ctl", (int) epollCtl.invokeExact(epoll, EPOLL_CTL_ADD, fd, event));
                return epoll;
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        void await(int epoll, MemorySegment events) {
            try {
                int ready;
                do {
                    ready = checked("epoll_wait", (int) epollWait.invokeExact(epoll, events, 1, -1));
                } while (ready == 0);
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        void read(int fd, MemorySegment value) {
            try {
                checked("read", (int) (long) read.invokeExact(fd, value, 8L));
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        void write(int fd, MemorySegment value) {
            try {
                checked("write", (int) (long) write.invokeExact(fd, value, 8L));
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        void exactTimers() {
            try {
                checked("prctl", (int) prctl.invokeExact(29, 1L));
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        void close(int fd) {
            try {
                checked("close", (int) close.invokeExact(fd));
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        private static int checked(String name, int result) {
            if (result < 0) {
                throw new IllegalStateException(name + " failed");
            }
            return result;
        }

        private static RuntimeException failed(Throwable e) {
            return e instanceof RuntimeException r ? r : new IllegalStateException(e);
        }
    }
}
