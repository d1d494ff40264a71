package io.fastio;

import io.fastio.poll.Poller;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A channel or file descriptor whose readiness tasks can wait for: what streams are built on, and the way to wait for
 * whatever else the kernel can report on (Trio's {@code wait_readable}, asyncio's {@code add_reader}).
 *
 * <p>The protocol: try the operation; where it would have blocked, say so by {@link #readWouldBlock} or {@link
 * #writeWouldBlock}, wait by {@link #awaitReadable} or {@link #awaitWritable}, and try again; there may be wakes without
 * cause. One task at a time waits for each direction; the two directions have nothing to do with each other (I1).
 * Everything here is for the loop of the watch; waits there always, the rest in debug mode, refuse others by an
 * {@link IllegalStateException}.
 */
public final class Watch implements AutoCloseable {
    private final EventLoop loop;
    private final Poller poller;
    private final Poller.Registration registration;
    private final @Nullable Closeable owner;
    private final Side read = new Side(Poller.READ);
    private final Side write = new Side(Poller.WRITE);
    private boolean closed;

    // The watches of the loop.
    private @Nullable Watch previous;
    private @Nullable Watch next;

    /** One direction, and the task that waits for it. */
    private final class Side implements Wait.Hook {
        final int interest;

        @Nullable
        LoopTask<?> waiter;

        @Nullable
        Handle callback;

        boolean priority;

        /** Whether the wait in progress ends in class URGENT. */
        private boolean urgent;

        Side(int interest) {
            this.interest = interest;
        }

        void await() throws ClosedChannelException {
            LoopTask<?> me = LoopTask.current();
            me.begin();
            if (me.loop != loop) {
                loop.requireCurrent(Watch.this);
            }
            if (closed) {
                throw new ClosedChannelException();
            }
            requireFree();
            registration.arm(interest);
            waiter = me;
            boolean first = priority || loop.ioFirst();
            begin(first || me.effectivePriority() == Priority.URGENT);
            me.suspend(this, first ? Priority.URGENT : null, Wait.FOREVER);
            if (closed) {
                throw new AsynchronousCloseException(); // I4
            }
        }

        void call(Handle h) throws ClosedChannelException {
            loop.checkOwner(Watch.this);
            if (closed) {
                throw new ClosedChannelException();
            }
            requireFree();
            registration.arm(interest);
            callback = Objects.requireNonNull(h, "h");
            begin(h.isUrgent());
        }

        private void begin(boolean endsUrgent) {
            urgent = endsUrgent;
            loop.scheduler.sleeper().watch(1, endsUrgent);
        }

        private void end() {
            loop.scheduler.sleeper().watch(-1, urgent);
        }

        private void requireFree() {
            if (waiter != null) {
                throw new IllegalStateException(waiter.name() + " waits for the same already"); // I1
            }
            if (callback != null) {
                throw new IllegalStateException("a callback waits for the same already");
            }
        }

        void wake() {
            Handle h = callback;
            if (h != null) {
                callback = null;
                end();
                if (!loop.isClosed()) {
                    h.callSoon();
                }
                return;
            }
            LoopTask<?> w = waiter;
            if (w != null) {
                waiter = null;
                end();
                w.wakeIfWaiting();
            }
        }

        /** Cancelled: nothing is left of the wait; the other direction is untouched (I1, C2). */
        @Override
        public boolean abandon(Task<?> task, boolean woken) {
            if (!woken) {
                waiter = null;
                end();
                registration.disarm(interest);
            }
            return true;
        }
    }

    private Watch(EventLoop loop, Registrar register, @Nullable Closeable owner) throws IOException {
        this.loop = loop;
        this.owner = owner;
        this.poller = loop.poller();
        this.registration = register.register(poller, this::ready);
        next = loop.watches;
        if (next != null) {
            next.previous = this;
        }
        loop.watches = this;
    }

    @FunctionalInterface
    private interface Registrar {
        Poller.Registration register(Poller poller, Poller.Target target) throws IOException;
    }

    /**
     * Watches a channel, which must be in non-blocking mode, on the running loop.
     *
     * @param owner closed with the loop, if it is still watched then; null: the channel is
     * @throws IllegalStateException outside a loop, or if the channel is watched already
     */
    public static Watch of(SelectableChannel channel, @Nullable Closeable owner) throws IOException {
        Objects.requireNonNull(channel, "channel");
        EventLoop loop = Asyncio.runningLoop();
        return new Watch(loop, (p, t) -> p.register(channel, t), owner == null ? channel : owner);
    }

    /**
     * Watches a file descriptor on the running loop: a socket, pipe, terminal, line handle, or whatever else the kernel
     * can wait for. The descriptor stays the caller's.
     *
     * @param owner closed with the loop, if it is still watched then; null for none
     * @throws UnsupportedOperationException if the loop's poller serves channels only
     * @throws IOException if the kernel cannot wait for this kind of file
     */
    public static Watch of(int fd, @Nullable Closeable owner) throws IOException {
        EventLoop loop = Asyncio.runningLoop();
        return new Watch(loop, (p, t) -> p.register(fd, t), owner);
    }

    /** Whether the running loop can watch file descriptors, and not only channels. */
    public static boolean supportsFds() {
        try {
            return Asyncio.runningLoop().poller().supportsFds();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("cannot open the poller", e);
        }
    }

    private void ready(int events) {
        if ((events & Poller.READ) != 0) {
            read.wake();
        }
        if ((events & Poller.WRITE) != 0) {
            write.wake();
        }
    }

    /**
     * Waits until reading (or accepting) may succeed, or tell of an error or the end. A cancel leaves nothing behind.
     *
     * @throws ClosedChannelException if the watch is closed, or is being closed meanwhile
     * @throws IllegalStateException if another task waits for the same
     */
    public void awaitReadable() throws ClosedChannelException {
        read.await();
    }

    /** Waits until writing may succeed, or a connect has ended, well or not; otherwise as {@link #awaitReadable}. */
    public void awaitWritable() throws ClosedChannelException {
        write.await();
    }

    /**
     * Has a callback scheduled once, when reading may succeed ({@code add_reader}, but one shot); in place of a task that
     * waits. Closing the watch schedules it too.
     */
    public void whenReadable(Handle h) throws ClosedChannelException {
        read.call(Objects.requireNonNull(h, "h"));
    }

    /** {@link #whenReadable} for writing. */
    public void whenWritable(Handle h) throws ClosedChannelException {
        write.call(Objects.requireNonNull(h, "h"));
    }

    /** Ends a wait to read without cause: who waits finds out why by trying. */
    public void wakeReader() {
        loop.checkOwner(this);
        read.wake();
    }

    /** The read just tried would have blocked: readiness must come anew. */
    public void readWouldBlock() {
        loop.checkOwner(this);
        registration.drained(Poller.READ);
    }

    /** The read just tried gave less than there was room for; often as good as {@link #readWouldBlock}. */
    public void readShort() {
        loop.checkOwner(this);
        registration.shortRead();
    }

    /** The write just tried would have blocked: readiness must come anew. */
    public void writeWouldBlock() {
        loop.checkOwner(this);
        registration.drained(Poller.WRITE);
    }

    /** Whether readiness to read wakes in class URGENT (I7). */
    public void readPriority(boolean on) {
        loop.checkOwner(this);
        read.priority = on;
    }

    /** Whether readiness to write wakes in class URGENT (I7). */
    public void writePriority(boolean on) {
        loop.checkOwner(this);
        write.priority = on;
    }

    /** Whether a task or callback waits to read at present. */
    public boolean isReadAwaited() {
        return read.waiter != null || read.callback != null;
    }

    /** Whether a task or callback waits to write at present. */
    public boolean isWriteAwaited() {
        return write.waiter != null || write.callback != null;
    }

    /** The file descriptor's number, or -1 where it is not known. */
    public int fd() {
        return registration.fd();
    }

    public boolean isClosed() {
        return closed;
    }

    /** Ends the watch, before its channel or descriptor is closed; who waits gets an exception. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        loop.checkOwner(this);
        closed = true;
        try {
            registration.close();
        } finally { // also where the system refuses
            loop.scheduler.sleeper().watchClosed(poller);
            unlink();
            read.wake();
            write.wake();
        }
    }

    private void unlink() {
        if (previous == null) {
            loop.watches = next;
        } else {
            previous.next = next;
        }
        if (next != null) {
            next.previous = previous;
        }
        previous = null;
        next = null;
    }

    /** The loop ends: closes the watch and whatever it belongs to. */
    void closeWithLoop() {
        loop.ending.close(this);
        if (owner != null) {
            loop.ending.close(owner);
        }
    }

    @Override
    public String toString() {
        return "Watch[" + (owner != null ? owner : "fd " + fd()) + (closed ? ", closed]" : "]");
    }
}
