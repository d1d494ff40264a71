package io.fastio.poll;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.util.Locale;

/** Chooses the poller, and finds out why it cannot be epoll. */
final class PollerChoice {
    /** Apart, as linking the calls takes a tenth of a second that only those who want epoll should pay. */
    private static final class Epoll {
        /** Why epoll cannot be used in this JVM; empty if it can. */
        static final String OBSTACLE = findObstacle();
    }

    /**
     * Whether every class and call of the epoll poller was used once; that two threads may do so at once is harmless.
     */
    private static volatile boolean warm;

    private PollerChoice() {}

    static Poller open(Poller.Kind kind) throws IOException {
        return switch (kind) {
            case SELECTOR -> new SelectorPoller("chosen");
            case AUTO ->
                Epoll.OBSTACLE.isEmpty() ? openEpoll() : new SelectorPoller("epoll not used because " + Epoll.OBSTACLE);
            case EPOLL -> {
                if (!Epoll.OBSTACLE.isEmpty()) {
                    throw new UnsupportedOperationException("epoll cannot be used because " + Epoll.OBSTACLE);
                }
                yield openEpoll();
            }
        };
    }

    private static EpollPoller openEpoll() throws IOException {
        if (!warm) {
            warmUp();
            warm = true;
        }
        return new EpollPoller();
    }

    /**
     * Goes through every path that a loop takes, so that no class is loaded and no method handle linked while its
     * thread carries tasks.
     */
    private static void warmUp() throws IOException {
        EpollPoller waiting = new EpollPoller();
        EpollPoller other = new EpollPoller();
        try {
            Poller.Registration r = waiting.register(other.wakeFd(), events -> {});
            other.wake();
            for (long timeout : new long[] {0, 1_000_000_000, -1}) {
                r.arm(Poller.READ | Poller.WRITE);
                waiting.poll(timeout);
                waiting.wake();
            }
            waiting.poll(1_000_000_000);
            waiting.poll(1);
            r.close();
        } finally {
            waiting.close();
            other.close();
        }
    }

    private static String findObstacle() {
        String os = System.getProperty("os.name");
        if (!LoopThread.isLinux()) {
            return "this is not Linux but " + os;
        }
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (!arch.equals("amd64") && !arch.equals("aarch64")) {
            return "it is supported on amd64 and aarch64, and this is " + arch;
        }
        try {
            Libc.fdOfChannel();
        } catch (IllegalAccessException e) {
            return "the JVM runs without --add-exports java.base/sun.nio.ch=" + self();
        } catch (ReflectiveOperationException e) {
            return "this JDK has no sun.nio.ch.SelChImpl.getFDVal";
        }
        try {
            MethodHandles.lookup().ensureInitialized(EpollPoller.class);
        } catch (IllegalAccessException | LinkageError e) {
            Throwable cause = e instanceof ExceptionInInitializerError && e.getCause() != null ? e.getCause() : e;
            return cause instanceof IllegalCallerException
                    ? "the JVM denies native access: it needs --enable-native-access=" + self()
                    : cause.toString();
        }
        return "";
    }

    private static String self() {
        Module m = PollerChoice.class.getModule();
        return m.isNamed() ? m.getName() : "ALL-UNNAMED";
    }
}
