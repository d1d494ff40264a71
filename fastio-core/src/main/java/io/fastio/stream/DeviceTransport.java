package io.fastio.stream;

import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.Signal;
import io.fastio.Task;
import io.fastio.Wait;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/** A device: waited for by asking it, over and over (I8) or, if it tells of changes, after each of those. */
final class DeviceTransport extends Transport {
    private final LoopIo io;
    private final Device device;
    final Side read = new Side(Device.READ);
    final Side write = new Side(Device.WRITE);
    private final Handle urgentAsk;
    private final Handle normalAsk;
    private final Signal news;
    private final boolean notifies;

    /** It told of a change, and was not asked since because nobody waited. */
    private boolean missed;

    private boolean closed;

    /** One direction: who waits for it, and its place among all that the loop asks. */
    final class Side implements Wait.Hook {
        private final int interest;
        private @Nullable Task<?> waiter;
        private @Nullable Handle callback;
        private @Nullable Throwable thrown;
        private boolean answered;
        boolean urgent;

        /** The loop's list in which it stands; null if nobody waits. */
        @Nullable
        DevicePoller list;

        @Nullable
        Side previous;

        @Nullable
        Side next;

        Side(int interest) {
            this.interest = interest;
        }

        /** Whether the device may be read or written now, as far as it says. */
        boolean isReady() {
            if (answered) {
                answered = false;
                return true;
            }
            return isReady(device.poll(interest));
        }

        private boolean isReady(int events) {
            return (events & (interest | Device.ERROR | Device.HANGUP)) != 0;
        }

        /** Asks the device on behalf of who waits. On a runner. */
        void ask() {
            boolean ready;
            try {
                ready = isReady(device.poll(interest));
            } catch (RuntimeException | Error e) { // I8: its exceptions go to its waiter only
                thrown = e;
                ready = true;
            }
            if (ready) {
                answered = true;
                wake();
            }
        }

        void wake() {
            leave();
            Task<?> w = waiter;
            Handle h = callback;
            waiter = null;
            callback = null;
            if (w != null) {
                Wait.resume(w);
            } else if (h != null && !io.loop.isClosed()) {
                h.callSoon();
            }
        }

        private void leave() {
            if (list != null) {
                list.remove(this);
            }
        }

        private void enter() throws IOException {
            if (closed) {
                throw new ClosedChannelException();
            }
            if (isAwaited()) {
                throw new IllegalStateException("another task waits for the same direction of " + device);
            }
            if (!notifies) {
                (isUrgent() ? io.urgentDevices() : io.normalDevices()).add(this);
            }
        }

        boolean isUrgent() {
            return urgent || io.loop.ioFirst();
        }

        boolean isAwaited() {
            return waiter != null || callback != null;
        }

        void await() throws IOException {
            Task<?> me = Wait.begin();
            enter();
            waiter = me;
            askIfMissed();
            Wait.suspend(this, isUrgent() ? Priority.URGENT : null, Wait.FOREVER);
            throwIfAny();
        }

        void throwIfAny() {
            Throwable t = thrown;
            if (t != null) {
                thrown = null;
                answered = false;
                if (t instanceof Error e) {
                    throw e;
                }
                throw (RuntimeException) t;
            }
        }

        void call(Handle h) throws IOException {
            enter();
            callback = h;
            askIfMissed();
        }

        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            if (!woken) {
                leave();
                waiter = null;
            }
            return true;
        }
    }

    DeviceTransport(LoopIo io, Device device) {
        this.io = io;
        this.device = device;
        this.urgentAsk = io.loop.handle(Priority.URGENT, this::ask);
        this.normalAsk = io.loop.handle(Priority.NORMAL, this::ask);
        this.news = new Signal(io.loop) {
            @Override
            protected void act() {
                missed = true;
                askIfMissed();
            }
        };
        this.notifies = device.notifies(news::raise);
        io.opened(this);
    }

    /** The driver says that something has changed: it is asked by a callback, as it is user code. */
    private void askIfMissed() {
        if (missed && !closed && (read.isAwaited() || write.isAwaited())) {
            missed = false;
            boolean isUrgent = read.isAwaited() && read.isUrgent() || write.isAwaited() && write.isUrgent();
            Handle h = isUrgent ? urgentAsk : normalAsk;
            if (!h.scheduled()) {
                h.callSoon();
            }
        }
    }

    private void ask() {
        if (read.isAwaited()) {
            read.ask();
        }
        if (write.isAwaited()) {
            write.ask();
        }
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        read.throwIfAny();
        if (!read.isReady()) {
            return 0;
        }
        int room = dst.remaining();
        int n = device.read(dst);
        if (n < -1 || n > room) {
            throw new IOException(device + " claims to have read " + n + " bytes where there was room for " + room);
        }
        return n;
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        write.throwIfAny();
        if (!write.isReady()) {
            return 0;
        }
        int there = src.remaining();
        int n = device.write(src);
        if (n < 0 || n > there) {
            throw new IOException(device + " claims to have written " + n + " bytes of " + there);
        }
        return n;
    }

    @Override
    void readShort() {
        // It is asked each time.
    }

    @Override
    void awaitReadable() throws IOException {
        read.await();
    }

    @Override
    void wakeReader() {
        read.wake();
    }

    @Override
    void whenWritable(Handle callback) throws IOException {
        write.call(callback);
    }

    @Override
    void readPriority(boolean on) {
        read.urgent = on;
    }

    @Override
    void writePriority(boolean on) {
        write.urgent = on;
    }

    /** An overrun or a parity error passes (F85). */
    @Override
    boolean failsForGood() {
        return false;
    }

    @Override
    boolean canHalfClose() {
        return device.canEndOutput();
    }

    @Override
    void shutdownOutput() throws IOException {
        device.endOutput();
    }

    @Override
    void dropOnClose() {
        // Nothing of it is under way.
    }

    @Override
    void close() throws IOException {
        closed = true;
        io.closed(this);
        read.wake();
        write.wake();
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
