package io.fastio.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A driver for something that is no file of the kernel: a chip on a bus, a radio, a simulation. {@link Stream#Stream(Device)}
 * makes a stream of it. The contract is that of MicroPython's stream drivers: the loop asks {@link #poll} until it reports
 * what is waited for, and only then {@link #read} or {@link #write} is called.
 *
 * <p>The loop asks at every look between steps if the stream has priority, else once a round, and every {@code
 * devicePollInterval} while it has nothing else to do (I8). All methods are called on the loop, one at a time; they must
 * return at once. What they throw goes to the task that waits, and to nobody else; a {@link DeviceGoneException} also closes
 * the stream.
 */
public interface Device {
    /** Interest and readiness to read. */
    int READ = 1;
    /** Interest and readiness to write. */
    int WRITE = 4;
    /** Never asked for: something is wrong, and the next read or write will tell what. */
    int ERROR = 8;
    /** Never asked for: the other side is gone, and the next read or write will tell. */
    int HANGUP = 16;

    /**
     * What is ready.
     *
     * @param interest {@link #READ} or {@link #WRITE} or both
     * @return any of {@code interest}, {@link #ERROR} and {@link #HANGUP}; 0: nothing
     */
    int poll(int interest);

    /**
     * Reads what there is, up to what {@code dst} has room for.
     *
     * @param dst may be direct: it need not have an array
     * @return the number of bytes put, 0 if there is nothing after all, -1 at the end of all data
     */
    int read(ByteBuffer dst) throws IOException;

    /**
     * Writes what can be taken now.
     *
     * @param src may be direct: it need not have an array
     * @return the number of bytes taken, 0 if none can be taken after all
     */
    int write(ByteBuffer src) throws IOException;

    /**
     * A file descriptor by which the kernel tells when to read and when to write, or -1. Where the loop's poller can watch
     * descriptors it is watched instead of asking {@link #poll}; then {@link #read} and {@link #write} may return 0 only if the
     * descriptor must become ready anew. Asked once.
     */
    default int descriptor() {
        return -1;
    }

    /**
     * For drivers that learn by themselves when something has changed, from an interrupt or another thread: these need not
     * be asked over and over.
     *
     * @param changed to be run, from any thread, whenever {@link #poll} may answer otherwise than before; cheap, and coalesces
     * @return true if the driver will do so: then it is asked after each such call only. False, the default: it is asked
     *     as the class says
     */
    default boolean notifies(Runnable changed) {
        return false;
    }

    /** Whether {@link #endOutput} does anything. */
    default boolean canEndOutput() {
        return false;
    }

    /** Tells the other side that nothing more will come. Called once, after the last write. */
    default void endOutput() throws IOException {}

    /** The stream is closed. Called once. */
    default void close() throws IOException {}
}
