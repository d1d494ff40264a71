package io.fastio.serial;

import io.fastio.Asyncio;
import io.fastio.stream.Stream;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * What a serial port is beside a stream of bytes: its settings, its modem lines, its counters. For tasks of the stream's loop;
 * only {@link #sendBreak} and {@link #awaitSent} wait. After the stream's close everything here throws {@link
 * java.nio.channels.ClosedChannelException}.
 */
public abstract sealed class SerialLine permits LinuxLine, LibraryLine {
    SerialLine() {}

    /**
     * The line under a stream made by {@link SerialPort#open}.
     *
     * @throws IllegalArgumentException if the stream is none of those
     */
    public static SerialLine of(Stream stream) {
        if (stream.getExtraInfo("device") instanceof SerialLine line) {
            return line;
        }
        throw new IllegalArgumentException(stream + " is not a serial port");
    }

    /** What was opened. */
    public abstract String path();

    /** The settings in force, as the driver tells them. */
    public abstract SerialOptions settings() throws IOException;

    /**
     * Changes the settings at once, all or none; what has not been sent may be sent by the new ones: see {@link #awaitSent}.
     *
     * @throws IOException if the port cannot do that, or another has it and {@link SerialOptions#exclusive} is wanted
     */
    public abstract void configure(SerialOptions options) throws IOException;

    /** The modem lines; {@link IOException} if the port has none, as a pseudo-terminal. */
    public abstract ModemLines modemLines() throws IOException;

    /** Asserts DTR or takes it back; many boards are reset by it. */
    public abstract void dtr(boolean on) throws IOException;

    /** Asserts RTS or takes it back; without RTS_CTS flow control only. */
    public abstract void rts(boolean on) throws IOException;

    /** What the driver has counted; empty if it does not count. */
    public abstract Optional<SerialCounters> counters() throws IOException;

    /** Bytes that have come and were not read. */
    public abstract int available() throws IOException;

    /** Bytes that the stream has given to the system, and that are not on the line yet. */
    public abstract int unsent() throws IOException;

    /** Forgets what has come and was not read by the stream yet. */
    public abstract void discardInput() throws IOException;

    /** Forgets what the system has not sent yet. */
    public abstract void discardOutput() throws IOException;

    abstract void setBreak(boolean on) throws IOException;

    /**
     * Holds the line low. Waits; a cancel ends it.
     *
     * @param time positive; at least the time of two bytes to be noticed
     */
    public final void sendBreak(Duration time) throws IOException {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException("time must be positive: " + time);
        }
        setBreak(true);
        try {
            Asyncio.sleep(time);
        } finally {
            setBreak(false);
        }
    }

    /**
     * Waits until the system has put everything on the line that the stream has given it ({@code flush} the stream before);
     * looks as often as a few bytes take. A cancel ends the wait only.
     */
    public final void awaitSent() throws IOException {
        SerialOptions s = settings();
        while (true) {
            int n = unsent();
            if (n == 0) {
                return;
            }
            Asyncio.sleepNanos(Math.max(100_000, 1_000_000_000L * s.bitsPerByte() * n / s.speed()));
        }
    }
}
