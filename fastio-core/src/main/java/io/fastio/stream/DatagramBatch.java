package io.fastio.stream;

import io.fastio.poll.DatagramIo;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where {@link Datagram#receive(DatagramBatch)} puts several datagrams at once. Made once and used again and again; its memory
 * is outside the heap. One task at a time.
 */
public final class DatagramBatch {
    private static final int LARGEST = 65_535;

    private final int datagramSize;
    private final ByteBuffer data;
    private final ByteBuffer[] slots;
    private final int[] lengths;
    private final @Nullable InetSocketAddress[] senders;
    private int count;
    private DatagramIo.@Nullable Batch batch;

    /**
     * Room for datagrams.
     *
     * @param capacity the number of datagrams, 1 to 1,024
     * @param datagramSize bytes for each of them, 1 to 65,535
     */
    public DatagramBatch(int capacity, int datagramSize) {
        if (capacity < 1 || capacity > 1024) {
            throw new IllegalArgumentException("capacity must be 1 to 1024: " + capacity);
        }
        if (datagramSize < 1 || datagramSize > LARGEST) {
            throw new IllegalArgumentException("datagramSize must be 1 to " + LARGEST + ": " + datagramSize);
        }
        this.datagramSize = datagramSize;
        data = ByteBuffer.allocateDirect(capacity * datagramSize);
        slots = new ByteBuffer[capacity];
        for (int i = 0; i < capacity; i++) {
            slots[i] = data.slice(i * datagramSize, datagramSize);
        }
        lengths = new int[capacity];
        senders = new @Nullable InetSocketAddress[capacity];
    }

    /** How many datagrams there is room for. */
    public int capacity() {
        return slots.length;
    }

    /** How many datagrams the last receive brought. */
    public int count() {
        return count;
    }

    /**
     * The bytes of a datagram, or as many of them as there was room for: a direct buffer of this batch, good until the next
     * receive.
     *
     * @param i 0 to {@code count() - 1}
     */
    public ByteBuffer data(int i) {
        Objects.checkIndex(i, count);
        return slots[i];
    }

    /** Bytes that the {@code i}th datagram had, which may be more than there was room for. */
    public int length(int i) {
        Objects.checkIndex(i, count);
        return lengths[i];
    }

    /** Whether the {@code i}th datagram was longer than there was room for; its end is lost. */
    public boolean isTruncated(int i) {
        return length(i) > datagramSize;
    }

    /** Who sent the {@code i}th datagram. */
    public InetSocketAddress sender(int i) {
        Objects.checkIndex(i, count);
        return Objects.requireNonNull(senders[i]);
    }

    DatagramIo.Batch batch() {
        DatagramIo.Batch b = batch;
        if (b == null) {
            b = new DatagramIo.Batch(slots.length, data);
            batch = b;
        }
        return b;
    }

    void begin() {
        count = 0;
    }

    boolean isFull() {
        return count == slots.length;
    }

    /** Counts one that the kernel has put into its place. */
    void received(int length, InetSocketAddress sender) {
        slots[count].clear().limit(Math.min(length, datagramSize));
        lengths[count] = length;
        senders[count++] = sender;
    }

    /** Puts one that has been received elsewhere. */
    void add(ByteBuffer bytes, InetSocketAddress sender) {
        int length = bytes.remaining();
        slots[count].clear();
        slots[count].put(0, bytes, bytes.position(), Math.min(length, datagramSize));
        received(length, sender);
    }

    @Override
    public String toString() {
        return "DatagramBatch[" + count + " of " + slots.length + " x " + datagramSize + " bytes]";
    }
}
