package io.fastio;

import java.lang.invoke.LambdaConversionException;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C while a main task runs (G4): the first one cancels main, so that the loop ends as it always does and the process
 * exits with 130; a second one ends the process at once.
 */
final class Interrupts implements AutoCloseable {
    static final int EXIT_CODE = 130;

    private final Signals signals;
    private final LoopTask<?> main;
    private final Object before;
    private volatile boolean received;

    private Interrupts(Signals signals, LoopTask<?> main) {
        this.signals = signals;
        this.main = main;
        this.before = signals.handle(signals.handlerOf(this));
    }

    /** Loads what a first handler needs. */
    static void prepare() {
        var _ = Signals.JDK;
    }

    /** From now until close, Ctrl-C cancels {@code main}; null where the JVM does not let us (-Xrs, a small image). */
    static @Nullable Interrupts cancel(LoopTask<?> main) {
        Signals jdk = Signals.JDK;
        try {
            return jdk == null ? null : new Interrupts(jdk, main);
        } catch (IllegalArgumentException keptByTheJvm) {
            return null;
        }
    }

    /** Ctrl-C. On a thread of the JVM. */
    @SuppressWarnings({"unused", "UnusedMethod"}) // by Signals
    private void interrupt(Object signal) {
        if (received) {
            Runtime.getRuntime().halt(EXIT_CODE);
        }
        received = true;
        main.cancel();
    }

    boolean received() {
        return received;
    }

    @Override
    public void close() {
        var _ = signals.handle(before);
    }

    /**
     * The JDK's only way to a signal: {@code sun.misc.Signal} of {@code jdk.unsupported}. It is reached by method handles,
     * since javac warns of it and offers no way to accept the warning, and the handler is made as that of a lambda
     * expression, which takes a quarter of the time of a {@code Proxy}.
     *
     * @param handle {@code (SignalHandler) -> SignalHandler}: takes the place of the handler of Ctrl-C, and returns that
     * @param handlerOf {@code (Interrupts) -> SignalHandler}
     */
    private record Signals(MethodHandle handle, MethodHandle handlerOf) {
        static final @Nullable Signals JDK = find();

        private static @Nullable Signals find() {
            try {
                Class<?> signal = Class.forName("sun.misc.Signal");
                Class<?> handler = Class.forName("sun.misc.SignalHandler");
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                Object ctrlC = signal.getConstructor(String.class).newInstance("INT");
                MethodHandle handle = lookup.findStatic(
                                signal, "handle", MethodType.methodType(handler, signal, handler))
                        .bindTo(ctrlC);
                MethodHandle interrupt = lookup.findVirtual(
                        Interrupts.class, "interrupt", MethodType.methodType(void.class, Object.class));
                MethodType handlerOfSignal = MethodType.methodType(void.class, signal);
                MethodHandle handlerOf = LambdaMetafactory.metafactory(
                                lookup,
                                "handle",
                                MethodType.methodType(handler, Interrupts.class),
                                handlerOfSignal,
                                interrupt,
                                handlerOfSignal)
                        .getTarget();
                MethodType erased = MethodType.methodType(Object.class, Object.class);
                return new Signals(handle.asType(erased), handlerOf.asType(erased));
            } catch (ReflectiveOperationException | LambdaConversionException notOnThisJvm) {
                return null; // then Ctrl-C does what it always did
            }
        }

        Object handlerOf(Interrupts interrupts) {
            try {
                return handlerOf.invokeExact((Object) interrupts);
            } catch (Throwable t) {
                throw unexpected(t);
            }
        }

        /** Sets the handler of Ctrl-C; returns the one before. */
        Object handle(Object handler) {
            try {
                return handle.invokeExact(handler);
            } catch (Throwable t) {
                throw unexpected(t);
            }
        }

        private static Error unexpected(Throwable t) {
            if (t instanceof RuntimeException e) {
                throw e;
            }
            if (t instanceof Error e) {
                throw e;
            }
            return new AssertionError(t);
        }
    }
}
