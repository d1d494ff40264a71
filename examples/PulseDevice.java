import io.fastio.stream.Device;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A driver for a device that does not exist: it has a message to read every so often, and takes a byte to write every so
 * often. The loop asks {@link #poll} while a task waits for it, and calls {@link #read} or {@link #write} when it is ready.
 */
final class PulseDevice implements Device {
    private final long periodNanos;
    private long readable;
    private long writable;
    private int messages;
    private final StringBuilder written = new StringBuilder();

    PulseDevice(long periodMs) {
        periodNanos = periodMs * 1_000_000;
        readable = System.nanoTime() + periodNanos;
        writable = System.nanoTime();
    }

    @Override
    public int poll(int interest) {
        long now = System.nanoTime();
        return interest & ((now - readable >= 0 ? READ : 0) | (now - writable >= 0 ? WRITE : 0));
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
        byte[] message = ("message " + ++messages + "\n").getBytes(StandardCharsets.US_ASCII);
        to.put(message);
        readable = System.nanoTime() + periodNanos;
        return message.length;
    }

    @Override
    public int write(ByteBuffer from) {
        written.append((char) from.get());
        writable = System.nanoTime() + periodNanos;
        return 1;
    }

    /** What was written so far. */
    String written() {
        return written.toString();
    }

    @Override
    public String toString() {
        return "PulseDevice";
    }
}
