package io.fastio.stream;

import io.fastio.Watch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A device whose readiness the kernel knows of, by a descriptor of the driver's. */
final class DescriptorDeviceTransport extends WatchedTransport {
    private final LoopIo io;
    private final Device device;

    DescriptorDeviceTransport(LoopIo io, Device device) {
        super(watch(device));
        this.io = io;
        this.device = device;
        io.opened(this);
    }

    private static Watch watch(Device device) {
        try {
            return Watch.of(device.descriptor(), null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        int n = device.read(dst);
        if (n == 0) {
            watch.readWouldBlock();
        }
        return n;
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        int n = device.write(src);
        if (n == 0) {
            watch.writeWouldBlock();
        }
        return n;
    }

    @Override
    boolean failsForGood() {
        return false;
    }

    @Override
    boolean canHalfClose() {
        return false;
    }

    @Override
    void shutdownOutput() {
        throw new AssertionError("a device cannot be half-closed");
    }

    @Override
    void dropOnClose() {
        // The driver's matter.
    }

    @Override
    void close() throws IOException {
        io.closed(this);
        watch.close();
        device.close();
    }

    @Override
    @Nullable
    Object info(String name) {
        return name.equals("device") ? device : null;
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
