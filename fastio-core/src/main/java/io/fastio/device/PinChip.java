package io.fastio.device;

import java.io.IOException;

/**
 * What pins are part of: a GPIO chip of the kernel, a library for one, an expander on a bus, a simulation. A line has a number
 * and is high or low. The methods are called on the loop and must return at once.
 */
public interface PinChip extends AutoCloseable {
    /** Told of every change of a line. */
    @FunctionalInterface
    interface Listener {
        /**
         * The line has changed. From any thread, but for one line from one thread at a time, in the order of the changes.
         *
         * @param high its new level
         */
        void changed(boolean high);
    }

    /** Whether the line is high. */
    boolean read(int line) throws IOException;

    /** Sets the level of a line that is an output. */
    void write(int line, boolean high) throws IOException;

    /**
     * Has the listener told of every change of the line from now on.
     *
     * @return false if the chip cannot do that: its lines are then looked at by the loop, as devices are (I8)
     */
    boolean listen(int line, Listener listener) throws IOException;

    /** Ends what {@link #listen} began. */
    void unlisten(int line, Listener listener) throws IOException;

    @Override
    default void close() throws IOException {}
}
