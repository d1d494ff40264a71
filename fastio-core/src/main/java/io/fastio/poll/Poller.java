package io.fastio.poll;

import java.io.IOException;
import java.nio.channels.SelectableChannel;

/**
 * Finds out which channels and file descriptors are ready. Knows descriptors, interest and readiness, nothing of tasks.
 * Not thread-safe: loop thread only, except {@link #wake()}.
 *
 * <h2>The protocol of a consumer</h2>
 *
 * <ol>
 *   <li>{@linkplain #register Register} once, before or after connecting.
 *   <li>Try the operation. Where it succeeds there is nothing more to do.
 *   <li>Where it would have blocked, call {@link Registration#drained drained}, then {@link Registration#arm arm}, then
 *       wait for {@link Target#ready}, and try again. A report is a hint: the operation may still find nothing.
 *   <li>{@link Registration#close()} before the channel or descriptor is closed.
 * </ol>
 *
 * <p>Between the operation that would have blocked and {@code drained} there must be no {@link #poll}: what a poll
 * learns in between would be taken for part of what was used up. A task that does both in one step keeps this by
 * itself.
 *
 * <p>Readiness is remembered. What became ready while nobody waited is reported by the first poll after {@code arm}.
 * Readiness that the consumer did not use up (an {@code accept} that failed for want of descriptors, a read that filled
 * its buffer) is reported again at the next {@code arm}; whoever cannot use it up must wait by other means.
 */
public interface Poller extends AutoCloseable {
    /** Interest and readiness to read, accept, or see the end of input. The number is that of poll(2). */
    int READ = 1;
    /** Interest and readiness to write, or the end of a connect, good or bad. The number is that of poll(2). */
    int WRITE = 4;
    /** Reported beside READ and WRITE, never armed: an error is pending. Not every poller can tell. */
    int ERROR = 8;
    /** Reported beside READ and WRITE, never armed: the other side is gone. Not every poller can tell. */
    int HANGUP = 16;

    /** What readiness is reported to. */
    @FunctionalInterface
    interface Target {
        /**
         * Something that was armed is ready. Called on the loop thread from inside {@link Poller#poll}; may arm,
         * disarm, register and close whatever it likes, but must neither poll nor block. What it throws comes out of
         * {@code poll}, after the rest of the batch has been reported.
         *
         * @param events the armed bits that are ready, with ERROR and HANGUP where the poller knows of them
         */
        void ready(int events);
    }

    /** One registered channel or descriptor. Loop thread only. */
    interface Registration {
        /**
         * Wants these to be reported from now on, in addition to what is armed already. Each is reported at least
         * once after it has become ready, by the next poll if it is ready now, and is disarmed by its report. Reports
         * without cause are allowed. An error or a hang-up counts as readiness of whatever is armed.
         *
         * @param interest READ, WRITE or both
         * @throws IllegalArgumentException for other bits, for none, and for a direction that the channel does not have
         * @throws IllegalStateException if this registration is closed
         */
        void arm(int interest);

        /**
         * Nobody waits for these any more. Readiness that is already known stays known; a report that is still owed for
         * the bits is dropped. Does nothing after {@link #close()}.
         *
         * @param interest READ, WRITE or both
         */
        void disarm(int interest);

        /**
         * The consumer saw would-block: readiness known so far is used up and must come anew. Does nothing on pollers
         * that ask the kernel afresh each time, nor after {@link #close()}.
         *
         * @param interest the direction that would have blocked
         */
        void drained(int interest);

        /**
         * The consumer read something, but less than it had room for. Where that proves that nothing is left (TCP,
         * with no end of stream, error or urgent data behind it) this is {@code drained(READ)} without the cost of
         * another read; elsewhere it does nothing, and the next read will tell.
         */
        void shortRead();

        /**
         * The descriptor's number, or -1 where the poller does not know it. It means something else once the channel is
         * closed.
         */
        int fd();

        /**
         * Forgets the channel or descriptor, which itself stays open. No report comes afterwards, also not from the
         * batch that is being delivered. Idempotent. Tolerates a descriptor that is closed already, but the consumer
         * should not rely on it: while a duplicate of a closed descriptor lives on, the kernel keeps waking the loop
         * for it.
         */
        void close();
    }

    /** Which poller to open. */
    enum Kind {
        /** Epoll where it works, else the selector; {@link Poller#toString()} tells which, and why. */
        AUTO,
        /** Epoll or an exception with the reason. */
        EPOLL,
        /** The portable one. */
        SELECTOR
    }

    /**
     * Registers a channel; nothing is armed yet. The channel may be unconnected.
     *
     * @param ch in non-blocking mode, not registered with this poller already
     * @param target what to tell; the same one may serve several registrations
     * @throws java.nio.channels.IllegalBlockingModeException if the channel is in blocking mode
     * @throws java.nio.channels.ClosedChannelException if it is closed
     * @throws IllegalStateException if it is registered already
     */
    Registration register(SelectableChannel ch, Target target) throws IOException;

    /**
     * Registers any descriptor that the kernel can wait for: socket, pipe, FIFO, tty, pty, GPIO line handle, timerfd,
     * inotify and so on. Its file may be shared with other processes and may be in blocking mode: exactly one read or
     * write after a report does not block, unless another process was faster.
     *
     * @param fd not registered with this poller already
     * @throws UnsupportedOperationException if this poller serves channels only
     * @throws IOException if the kernel cannot wait for this kind of file (regular files, directories, /dev/null)
     * @throws IllegalStateException if it is registered already
     */
    Registration register(int fd, Target target) throws IOException;

    /**
     * Waits until something is ready, {@link #wake()} is called or the time is over, and reports what is ready. May end
     * earlier than asked only after a wake, a report, or an interrupt of the thread; the interrupt is cleared.
     *
     * @param timeoutNanos nanoseconds; 0 looks without waiting, negative waits for ever
     * @return the number of reports made
     * @throws IllegalStateException if the poller is closed, or if called from a target
     */
    int poll(long timeoutNanos) throws IOException;

    /**
     * Any thread: ends the poll in progress, or else the next one. Takes constant time and allocates nothing. Several
     * wakes may end one poll, but each costs a system call: call it only for a loop that sleeps. Does nothing once the
     * poller is closed, as there is nobody to wake.
     *
     * @return false if the way to wake was found broken and has been made anew (F92): the wake took place, and somebody
     *     should be told
     * @throws java.io.UncheckedIOException if the kernel refuses, and refuses to make it anew
     */
    boolean wake();

    /** Whether a poll has cleared an interrupt of its thread since this was last asked (F97). */
    boolean takeInterrupted();

    /** Whether {@link #register(int, Target)} works. */
    boolean supportsFds();

    /**
     * Closes the poller and all its registrations; the channels and descriptors stay open. Loop thread, or any thread
     * once the loop has ended. Idempotent.
     */
    @Override
    void close();

    /** Which poller this is and why, for people. */
    @Override
    String toString();

    /**
     * Opens a poller; the thread that calls does not become its loop thread.
     *
     * @throws UnsupportedOperationException for {@link Kind#EPOLL} where it does not work, with the reason
     * @throws IOException if the kernel refuses, as when the process has no descriptor left
     */
    static Poller open(Kind kind) throws IOException {
        return PollerChoice.open(kind);
    }
}
