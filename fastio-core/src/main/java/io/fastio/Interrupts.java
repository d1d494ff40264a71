package io.fastio;

import org.jspecify.annotations.Nullable;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Ctrl-C while a main task runs (G4): the first one cancels main, so that the loop ends as it always does and the process
 * exits with 130; a second one ends the process at once.
 */
final class Interrupts implements AutoCloseable {
    static final int EXIT_CODE = 130;

    private final Signal signal = new Signal("INT");
    private final SignalHandler before;
    private volatile boolean received;

    private Interrupts(LoopTask<?> main) {
        before = Signal.handle(signal, s -> {
            if (received) {
                Runtime.getRuntime().halt(EXIT_CODE);
            }
            received = true;
            main.cancel();
        });
    }

    /** From now until close, Ctrl-C cancels {@code main}; null where the JVM does not let us (-Xrs). */
    static @Nullable Interrupts cancel(LoopTask<?> main) {
        try {
            return new Interrupts(main);
        } catch (IllegalArgumentException reservedByTheJvm) {
            return null;
        }
    }

    boolean received() {
        return received;
    }

    @Override
    public void close() {
        Signal.handle(signal, before);
    }
}
