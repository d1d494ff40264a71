package io.fastio;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C while a main task runs (G4): the first one cancels main, so that the loop ends as it always does and the process
 * exits with 130; a second one ends the process at once.
 *
 * <p>The JDK's only way to a signal is {@code sun.misc.Signal} of {@code jdk.unsupported}. It is reached by reflection,
 * since javac warns of it and offers no way to accept the warning; where it is missing, Ctrl-C does what it always did.
 */
final class Interrupts implements AutoCloseable, InvocationHandler {
    static final int EXIT_CODE = 130;

    private final LoopTask<?> main;
    private final Object signal;
    private final Method handle;
    private final Object before;
    private volatile boolean received;

    private Interrupts(LoopTask<?> main) throws ReflectiveOperationException {
        this.main = main;
        Class<?> signals = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        signal = signals.getConstructor(String.class).newInstance("INT");
        handle = signals.getMethod("handle", signals, handler);
        before = handle.invoke(
                null, signal, Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, this));
    }

    /** Loads what a first handler needs. */
    static void prepare() {
        try {
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, (p, m, a) -> null);
        } catch (ClassNotFoundException notOnThisJvm) {
            return; // cancel() will say so
        }
    }

    /** From now until close, Ctrl-C cancels {@code main}; null where the JVM does not let us (-Xrs, a small image). */
    static @Nullable Interrupts cancel(LoopTask<?> main) {
        try {
            return new Interrupts(main);
        } catch (ReflectiveOperationException notOnThisJvm) {
            return null;
        }
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) {
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> args != null && proxy == args[0];
                default -> "fastio's handler of Ctrl-C";
            };
        }
        if (received) {
            Runtime.getRuntime().halt(EXIT_CODE);
        }
        received = true;
        main.cancel();
        return null;
    }

    boolean received() {
        return received;
    }

    @Override
    public void close() {
        try {
            handle.invoke(null, signal, before);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new LinkageError("a handler that was taken off cannot be put back", e);
        }
    }
}
