package io.fastio;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C while a main task runs (G4): the first one cancels main, so that the loop ends as it always does and the process
 * exits with 130; a second one ends the process at once.
 *
 * <p>The JDK's only way to a signal is {@code sun.misc.Signal} of {@code jdk.unsupported}. It is reached by reflection,
 * since javac warns of it and offers no way to accept the warning; where it is missing, Ctrl-C does what it always did.
 */
final class Interrupts implements AutoCloseable {
    static final int EXIT_CODE = 130;

    private final LoopTask<?> main;
    private final Object signal;
    private final MethodHandle handle;
    private final Object before;
    private volatile boolean received;

    private Interrupts(LoopTask<?> main) throws Throwable {
        this.main = main;
        Class<?> signals = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        this.signal = lookup.findConstructor(signals, MethodType.methodType(void.class, String.class))
                .invoke("INT");
        this.handle = lookup.findStatic(signals, "handle", MethodType.methodType(handler, signals, handler));
        MethodHandle onSignal = lookup.findVirtual(Interrupts.class, "onSignal", MethodType.methodType(void.class))
                .bindTo(this);
        this.before = handle.invoke(
                signal,
                MethodHandleProxies.asInterfaceInstance(handler, MethodHandles.dropArguments(onSignal, 0, signals)));
    }

    /** From now until close, Ctrl-C cancels {@code main}; null where the JVM does not let us (-Xrs, a small image). */
    static @Nullable Interrupts cancel(LoopTask<?> main) {
        try {
            return new Interrupts(main);
        } catch (IllegalArgumentException | ReflectiveOperationException notOnThisJvm) {
            return null;
        } catch (Throwable e) {
            throw LoopTask.sneaky(e);
        }
    }

    @SuppressWarnings("UnusedMethod") // called through a method handle
    private void onSignal() {
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
        try {
            Object ours = handle.invoke(signal, before);
            assert ours != null;
        } catch (Throwable e) {
            throw LoopTask.sneaky(e);
        }
    }
}
