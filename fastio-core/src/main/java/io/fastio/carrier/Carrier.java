package io.fastio.carrier;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * The one place that knows how JDK 25 puts virtual threads on a scheduler of ours.
 *
 * <p>The JDK has the mechanism but no public face for it yet: {@code java.lang.VirtualThread} takes an
 * {@link Executor} and hands it the thread's continuation, as a {@link Runnable}, whenever the thread can go on.
 * Everything here needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}; {@link #require()} says so where the
 * flag is missing. When the JDK gets a public scheduler interface, this class is what changes.
 *
 * <p>Two departures from {@code Thread.start} matter to the loop:
 *
 * <ul>
 *   <li>A thread from {@link #newThread} is bound to a thread container that does not track it. {@code Thread.start}
 *       and the end of a thread go through a shared map whose bins are monitors; a loop thread that blocks on one
 *       stops every task. Such a thread is started by {@link #markStarted} and a first run of its continuation, so
 *       that neither its start nor its end takes a lock.
 *   <li>A task gives the loop away through {@link #leave}, the part of {@link Thread#yield()} that leaves the carrier,
 *       without the state changes around it and without the way back through the scheduler; the loop, which knows that
 *       the task waits, notes the state by {@link #markYielded}. It is the cheapest way out of a virtual thread (three
 *       fences less than a park), and no {@code unpark} of a stranger can end the wait.
 * </ul>
 */
public final class Carrier {
    private static final int STARTED = 1;
    private static final int YIELDED = 11;

    /**
     * The container to which our threads are bound: one that does nothing at a thread's end. An executor that starts a
     * thread per task is such a container: it keeps account of threads itself, and only of those that it started.
     */
    private static final ExecutorService UNTRACKED =
            Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory());

    private static final @Nullable Throwable FAILURE;

    static {
        Throwable failure = null;
        try {
            MethodHandles.lookup().ensureInitialized(Jdk.class);
        } catch (ExceptionInInitializerError e) {
            failure = e.getCause();
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        FAILURE = failure;
    }

    /**
     * Ways into the JDK; not to be had without the flag. Fields are reached by var handles, which take the wider types of
     * our calls as they are, where each method handle has a class made for it in every young JVM, a millisecond each.
     */
    private static final class Jdk {
        static final MethodHandle NEW_THREAD;
        static final MethodHandle YIELD;
        static final VarHandle SCHEDULER;
        static final VarHandle CONTINUATION;
        static final VarHandle STATE;
        static final VarHandle CONTAINER;

        static {
            try {
                Class<?> virtualThread = Class.forName("java.lang.VirtualThread");
                MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(virtualThread, MethodHandles.lookup());
                NEW_THREAD = lookup.findStatic(
                        Class.forName("java.lang.ThreadBuilders"),
                        "newVirtualThread",
                        MethodType.methodType(Thread.class, Executor.class, String.class, int.class, Runnable.class));
                YIELD = lookup.findVirtual(virtualThread, "yieldContinuation", MethodType.methodType(boolean.class))
                        .asType(MethodType.methodType(boolean.class, Thread.class));
                SCHEDULER = lookup.findVarHandle(virtualThread, "scheduler", Executor.class);
                CONTINUATION = lookup.findVarHandle(virtualThread, "runContinuation", Runnable.class);
                STATE = lookup.findVarHandle(virtualThread, "state", int.class);
                CONTAINER = MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
                        .findVarHandle(Thread.class, "container", Class.forName("jdk.internal.vm.ThreadContainer"));
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    private Carrier() {}

    /** Does once what the making of a thread takes, so that the first one is made sooner. Any thread. */
    public static void rehearse() {
        if (available()) {
            Thread thread = newThread(UNTRACKED, null, Thread.currentThread());
            var _ = continuationOf(thread);
            var _ = schedulerOf(thread);
            markStarted(thread);
        }
    }

    /**
     * The JDK's socket pollers are virtual threads on the scheduler of whoever touches them first; on a loop they would stop
     * with it. So, unless the user has chosen, they become platform threads, which start when a task first blocks in a JDK
     * socket. To touch them before the first loop would do as well, but they sit in a system call from then on, and a JVM
     * waits for such threads for 0.3 s when it ends. Called before a loop runs a task, from a platform thread.
     */
    public static void settleSocketPollers() {
        assert !Thread.currentThread().isVirtual();
        if (System.getProperty(POLLER_MODE) == null) {
            System.setProperty(POLLER_MODE, PLATFORM_THREADS);
            return;
        }
        try {
            Class.forName("sun.nio.ch.Poller", true, null);
        } catch (ClassNotFoundException thisJdkHasNone) {
            return; // then there is nothing that could inherit a scheduler
        }
    }

    /** Of {@code sun.nio.ch.Poller}: read when that is first used. */
    private static final String POLLER_MODE = "jdk.pollerMode";

    private static final String PLATFORM_THREADS = "1";

    /** Whether this JVM lets us schedule virtual threads. Any thread. */
    public static boolean available() {
        return FAILURE == null;
    }

    /**
     * Checks that this JVM lets us schedule virtual threads. Any thread.
     *
     * @throws IllegalStateException with the missing flag and every way to set it
     */
    public static void require() {
        if (FAILURE != null) {
            Module self = Carrier.class.getModule();
            throw new IllegalStateException(
                    self.isNamed() ? MISSING.replace("ALL-UNNAMED", self.getName()) : MISSING, FAILURE);
        }
    }

    private static final String MISSING = """
            fastio needs the JVM flag
                --add-opens java.base/java.lang=ALL-UNNAMED
            to run tasks as virtual threads on its own scheduler. Set it in one of these ways:
                command line:     java --add-opens java.base/java.lang=ALL-UNNAMED ...
                environment:      JDK_JAVA_OPTIONS="--add-opens java.base/java.lang=ALL-UNNAMED"
                executable jar:   Add-Opens: java.base/java.lang          (main attribute of the manifest)
                Maven Surefire:   <argLine>--add-opens java.base/java.lang=ALL-UNNAMED</argLine>
                Gradle:           tasks.withType(JavaForkOptions) { jvmArgs("--add-opens", "java.base/java.lang=ALL-UNNAMED") }
            A JDK 25 or newer is needed.
            """;

    /**
     * A new virtual thread, not started, whose continuation goes to {@code scheduler}. Any thread.
     *
     * @param name the thread's name, or null for none
     */
    public static Thread newThread(Executor scheduler, @Nullable String name, Runnable body) {
        try {
            return (Thread) Jdk.NEW_THREAD.invokeExact(scheduler, name, 0, body);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** The scheduler of a virtual thread; null for a platform thread. Any thread. */
    public static @Nullable Executor schedulerOf(Thread thread) {
        if (!thread.isVirtual() || FAILURE != null) {
            return null;
        }
        return (Executor) Jdk.SCHEDULER.get(thread);
    }

    /** What runs one step of a virtual thread; the same object for the thread's whole life. Any thread. */
    public static Runnable continuationOf(Thread thread) {
        return (Runnable) Jdk.CONTINUATION.get(thread);
    }

    /**
     * Takes the place of {@code thread.start()}: from now on its continuation may be run. Once per thread, by the one
     * that made it. Takes no lock.
     */
    public static void markStarted(Thread thread) {
        Jdk.CONTAINER.set(thread, UNTRACKED);
        Jdk.STATE.setVolatile(thread, STARTED);
    }

    /**
     * Leaves the carrier thread: {@link #continuationOf} returns to whoever ran it, and this call returns when it is run
     * again, after {@link #markYielded}. For the thread itself.
     *
     * @param current the calling virtual thread
     * @return false if something on the stack pins it (a native frame, a class initialiser), and it did not leave
     */
    public static boolean leave(Thread current) {
        try {
            return (boolean) Jdk.YIELD.invokeExact(current);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Notes that a thread has left its carrier by {@link #leave}: from now on its continuation may be run again, and its
     * stack may be looked at. On the carrier, which alone touches a state like this.
     *
     * <p>Whoever looks at the stack takes the continuation out of service meanwhile: a run of it does nothing then, and
     * the JDK hands it to the scheduler anew when it is done.
     */
    public static void markYielded(Thread thread) {
        Jdk.STATE.set(thread, YIELDED);
    }

    /**
     * The virtual thread whose continuation {@code step} is; null where this JDK does not let us see it. Any thread.
     *
     * <p>The continuation of a thread that a library started comes to its scheduler without the thread.
     */
    public static @Nullable Thread threadOf(Runnable step) {
        if (!OwnerOfStep.TYPE.isInstance(step)) {
            return null;
        }
        try {
            return (Thread) OwnerOfStep.GETTER.invokeExact((Object) step);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** What the JDK keeps in a continuation's {@code Runnable}: its thread. Apart, since few programs need it. */
    private static final class OwnerOfStep {
        static final Class<?> TYPE;
        static final MethodHandle GETTER;

        static {
            Class<?> type = Void.class; // nothing is an instance of it
            MethodHandle getter = MethodHandles.empty(MethodType.methodType(Thread.class, Object.class));
            try {
                Class<?> found =
                        continuationOf(Thread.ofVirtual().unstarted(() -> {})).getClass();
                Field[] fields = found.getDeclaredFields();
                if (fields.length == 1 && Thread.class.isAssignableFrom(fields[0].getType())) {
                    fields[0].setAccessible(true);
                    getter = MethodHandles.lookup()
                            .unreflectGetter(fields[0])
                            .asType(MethodType.methodType(Thread.class, Object.class));
                    type = found;
                }
            } catch (ReflectiveOperationException | RuntimeException thisJdkKeepsItElsewhere) {
                type = Void.class;
            }
            TYPE = type;
            GETTER = getter;
        }
    }

    static Error unexpected(Throwable e) {
        if (e instanceof RuntimeException r) {
            throw r;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new AssertionError(e);
    }
}
