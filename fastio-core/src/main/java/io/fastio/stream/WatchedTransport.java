package io.fastio.stream;

import io.fastio.Handle;
import io.fastio.Watch;
import java.io.IOException;

/** A transport whose readiness the loop's poller knows of. */
abstract sealed class WatchedTransport extends Transport
        permits ChannelTransport, DescriptorDeviceTransport, FdTransport, SocketTransport {
    final Watch watch;

    WatchedTransport(Watch watch) {
        this.watch = watch;
    }

    @Override
    final void readShort() {
        watch.readShort();
    }

    @Override
    final void awaitReadable() throws IOException {
        watch.awaitReadable();
    }

    @Override
    final void wakeReader() {
        watch.wakeReader();
    }

    @Override
    void whenWritable(Handle callback) throws IOException {
        watch.whenWritable(callback);
    }

    @Override
    final void readPriority(boolean on) {
        watch.readPriority(on);
    }

    @Override
    final void writePriority(boolean on) {
        watch.writePriority(on);
    }
}
