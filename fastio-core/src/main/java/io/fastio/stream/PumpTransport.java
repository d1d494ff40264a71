package io.fastio.stream;

import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.Signal;
import io.fastio.Task;
import io.fastio.Wait;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Blocking streams of {@code java.io}, each served by a daemon thread: for what the loop's poller cannot wait for. A read that
 * is cancelled leaves its bytes with the thread, for the next one. Loop only but for the threads.
 */
final class PumpTransport extends Transport {
    private static final int SIZE = 8192;

    /** The thread has nothing to do; the loop may touch everything. */
    private static final int IDLE = 0;
    /** The thread reads or writes; the buffer is its own. */
    private static final int BUSY = 1;
    /** The thread is through, with {@code count} bytes or a failure; the loop may touch everything. */
    private static final int DONE = 2;

    private final LoopIo io;
    private final String name;
    private final @Nullable Reader reader;
    private final @Nullable Writer writer;
    private boolean readUrgent;

    PumpTransport(LoopIo io, @Nullable InputStream in, @Nullable OutputStream out, String name) {
        this.io = io;
        this.name = name;
        this.reader = in == null ? null : new Reader(in);
        this.writer = out == null ? null : new Writer(out);
        io.opened(this);
    }

    /** A thread, and what it shares with the loop: {@code state} says whose the rest is. */
    private abstract class Pump extends Signal implements Runnable {
        final byte[] buffer = new byte[SIZE];
        int count;

        @Nullable
        IOException failure;

        volatile int state = IDLE;
        private volatile boolean ending;
        private @Nullable Thread thread;

        Pump() {
            super(io.loop);
        }

        abstract void transfer() throws IOException;

        abstract void closeStream() throws IOException;

        /** Has the thread do its work once. */
        final void go() {
            state = BUSY;
            Thread t = thread;
            if (t == null) {
                thread =
                        Thread.ofPlatform().daemon().name("fastio-pump " + name).start(this);
            } else {
                LockSupport.unpark(t);
            }
        }

        @Override
        public final void run() {
            while (true) {
                while (state != BUSY) {
                    if (ending) {
                        endStream();
                        return;
                    }
                    LockSupport.park(this);
                }
                try {
                    transfer();
                } catch (IOException e) {
                    failure = e;
                }
                boolean over = failure != null || count < 0;
                state = DONE;
                raise();
                if (over) {
                    endStream();
                    return;
                }
            }
        }

        final boolean ending() {
            return ending;
        }

        /** Has the thread close the stream once it is through: a write in progress must not be torn. */
        final void end() throws IOException {
            ending = true;
            if (thread == null) {
                closeStream();
            } else {
                LockSupport.unpark(thread);
            }
        }

        private void endStream() {
            try {
                closeStream();
            } catch (IOException e) {
                System.getLogger("io.fastio").log(System.Logger.Level.WARNING, "closing " + name + " failed", e);
            }
        }
    }

    private final class Reader extends Pump implements Wait.Hook {
        private final InputStream in;
        private int taken;

        @Nullable
        Task<?> waiter;

        Reader(InputStream in) {
            this.in = in;
        }

        @Override
        void transfer() throws IOException {
            count = in.read(buffer);
        }

        @Override
        void closeStream() throws IOException {
            in.close();
        }

        @Override
        protected void act() {
            wake();
        }

        void wake() {
            Task<?> w = waiter;
            if (w != null) {
                waiter = null;
                Wait.resume(w);
            }
        }

        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            if (!woken) {
                waiter = null;
            }
            return true;
        }

        int read(ByteBuffer dst) throws IOException {
            if (state == IDLE) {
                go();
            }
            if (state == BUSY) {
                return 0;
            }
            if (failure != null) {
                throw failure;
            }
            if (count < 0) {
                return -1;
            }
            int n = Math.min(count - taken, dst.remaining());
            dst.put(buffer, taken, n);
            taken += n;
            if (taken == count) {
                taken = 0;
                state = IDLE;
            }
            return n;
        }
    }

    private final class Writer extends Pump {
        private final OutputStream out;

        @Nullable
        Handle callback;

        Writer(OutputStream out) {
            this.out = out;
        }

        @Override
        void transfer() throws IOException {
            out.write(buffer, 0, count);
            out.flush();
        }

        @Override
        void closeStream() throws IOException {
            out.close();
        }

        @Override
        protected void act() {
            Handle h = callback;
            if (h != null) {
                callback = null;
                h.callSoon();
            }
        }

        /** Bytes count as written when the thread has written them: the same ones, as the queue offers them again. */
        int write(ByteBuffer src) throws IOException {
            int written = 0;
            if (state == DONE) {
                if (failure != null) {
                    throw failure;
                }
                written = count;
                src.position(src.position() + written);
                state = IDLE;
            }
            if (state == IDLE && written == 0) {
                count = Math.min(src.remaining(), SIZE);
                src.get(src.position(), buffer, 0, count);
                go();
            }
            return written;
        }
    }

    @Override
    boolean canHalfClose() {
        return writer != null;
    }

    @Override
    int read(ByteBuffer dst) throws IOException {
        if (reader == null) {
            throw new IOException(name + " cannot be read");
        }
        return reader.read(dst);
    }

    @Override
    int write(ByteBuffer src) throws IOException {
        if (writer == null) {
            throw new IOException(name + " cannot be written");
        }
        return writer.write(src);
    }

    @Override
    void readShort() {
        // The thread knows no more than the stream does.
    }

    @Override
    void awaitReadable() throws IOException {
        Task<?> me = Wait.begin();
        Reader r = reader;
        if (r == null) {
            throw new IOException(name + " cannot be read");
        }
        if (r.ending()) {
            throw new ClosedChannelException();
        }
        if (r.state == IDLE) {
            r.go();
        }
        if (r.state == BUSY) { // else its signal has come, or is as good as here
            r.waiter = me;
            Wait.suspend(r, readUrgent || io.loop.ioFirst() ? Priority.URGENT : null, Wait.FOREVER);
        }
    }

    @Override
    void wakeReader() {
        if (reader != null) {
            reader.wake();
        }
    }

    @Override
    void whenWritable(Handle callback) {
        Writer w = writer;
        if (w == null || w.state != BUSY) {
            callback.callSoon();
        } else {
            w.callback = callback;
        }
    }

    @Override
    void readPriority(boolean on) {
        readUrgent = on;
    }

    @Override
    void writePriority(boolean on) {
        // The callback has its class.
    }

    @Override
    void shutdownOutput() throws IOException {
        if (writer != null) {
            writer.end();
        }
    }

    @Override
    void dropOnClose() {
        // What the thread does cannot be undone.
    }

    @Override
    void close() throws IOException {
        io.closed(this);
        if (reader != null) {
            reader.end();
            reader.wake();
        }
        if (writer != null) {
            writer.end();
            if (!io.loop.isClosed()) {
                writer.act();
            }
        }
    }

    @Override
    @Nullable
    Object info(String what) {
        return null;
    }
}
