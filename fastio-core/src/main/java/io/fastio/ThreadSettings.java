package io.fastio;

import io.fastio.poll.Errno;
import io.fastio.poll.ThreadTuning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a loop asks of the operating system for its thread: {@link EventLoop.Builder#thread}. Linux only. It is asked for
 * when {@link EventLoop#run}, {@link EventLoop#runForever} or {@link EventLoop#start} begins, and taken back when a thread
 * that was only lent to the loop leaves it; a host that calls {@link EventLoop#poll} keeps its thread as it is. What the
 * system refuses is reported once, and the loop runs without it. {@code ./fastio doctor} tells what this machine allows.
 *
 * <p>Not thread-safe; done with once the loop is built.
 */
public final class ThreadSettings {
    private static final long NO_SLACK = -1;

    // What the kernel takes.
    private static final long SLICE_MIN = 100_000;
    private static final long SLICE_MAX = 100_000_000;

    /** A program that ends before these milliseconds are over is spared the linking. */
    private static final long BEFORE_LINKING = 100;

    /** The call that sets time slices is linked. */
    private static volatile boolean linked;

    private int[] cpus = {};
    private int realtime;
    private long slack = NO_SLACK;
    private long slice = SLICE_MIN;
    private boolean sliceAsked;

    // The thread that carries the loop at present.
    private byte @Nullable [] affinityBefore;
    private boolean realtimeSet;
    private boolean sliceSet;
    private boolean applied;
    private boolean refusalTold;

    ThreadSettings() {}

    /**
     * Pins the thread to processors, counted from 0. The JVM's other threads keep to none; keep them away by {@code taskset}
     * or {@code isolcpus} if the loop is to have one for itself.
     *
     * @param numbers at least one, each from 0 to 1023
     */
    public ThreadSettings cpu(int... numbers) {
        Objects.requireNonNull(numbers, "numbers");
        if (numbers.length == 0) {
            throw new IllegalArgumentException("no processor given");
        }
        for (int n : numbers) {
            if (n < 0 || n >= ThreadTuning.MAX_CPUS) {
                throw new IllegalArgumentException("no such processor: " + n);
            }
        }
        cpus = numbers.clone();
        return this;
    }

    /**
     * The processors on which the calling thread may run, for {@link #cpu}: not all that the machine has where a container, a
     * {@code taskset} or a loop's own settings keep it to some. Where the system does not tell: 0 and on, as many as there are.
     */
    public static int[] processors() {
        byte[] mask = ThreadTuning.isSupported() ? ThreadTuning.affinity() : null;
        return mask == null
                ? IntStream.range(0, Runtime.getRuntime().availableProcessors()).toArray()
                : BitSet.valueOf(mask).stream().toArray();
    }

    /**
     * A real-time priority (SCHED_FIFO): the thread runs whenever it can, before all threads of the machine with less. A step
     * that never ends then takes its processor for good.
     *
     * @param priority 1 to 99
     */
    public ThreadSettings realtime(int priority) {
        if (priority < 1 || priority > 99) {
            throw new IllegalArgumentException("a real-time priority is from 1 to 99: " + priority);
        }
        realtime = priority;
        return this;
    }

    /**
     * How late the kernel may end timed waits, in order to end several at once. Default 1, the least.
     *
     * @param nanos from 1
     */
    public ThreadSettings timerSlack(long nanos) {
        if (nanos < 1) {
            throw new IllegalArgumentException("timer slack of " + nanos + " ns");
        }
        slack = nanos;
        return this;
    }

    /**
     * For how long the kernel lets the thread run at a time when others want its processor. The share of the processor stays
     * the same; but the shorter its turns, the sooner the thread gets one when it wakes. Default 100,000, the least, which is
     * set 0.1 s after the first loop of the JVM has begun; later ones have it at once. By default threads with a real-time
     * policy or raised priority are left alone, and so is a JVM without {@code --enable-native-access}. Kernels before 6.12 do
     * not look at it.
     *
     * @param nanos 100,000 to 100,000,000, or 0: as other threads
     */
    public ThreadSettings timeSlice(long nanos) {
        if (nanos != 0 && (nanos < SLICE_MIN || nanos > SLICE_MAX)) {
            throw new IllegalArgumentException(
                    "a time slice is from " + SLICE_MIN + " to " + SLICE_MAX + " ns, or 0: " + nanos);
        }
        slice = nanos;
        sliceAsked = true;
        return this;
    }

    long timerSlack() {
        return slack == NO_SLACK ? 1 : slack;
    }

    /** The same settings, for one loop. */
    ThreadSettings copy() {
        ThreadSettings c = new ThreadSettings();
        c.cpus = cpus;
        c.realtime = realtime;
        c.slack = slack;
        c.slice = slice;
        c.sliceAsked = sliceAsked;
        return c;
    }

    private boolean isAnything() {
        return cpus.length > 0 || realtime > 0 || sliceAsked && slice > 0;
    }

    /**
     * Asks for all of it, for the calling thread; on virtual time for no time slice of its own accord. Returns what was
     * refused, for people, or null, or if it was told before.
     */
    @Nullable
    String apply(EventLoop loop, boolean virtualTime) {
        applied = true;
        if (!sliceAsked && !virtualTime && realtime == 0 && ThreadTuning.hasTimeSlices()) {
            sliceWhenLinked(loop);
        }
        if (!isAnything()) {
            return null;
        }
        List<String> refused = new ArrayList<>();
        if (!ThreadTuning.isSupported()) {
            refused.add("this system has no processor masks, SCHED_FIFO or time slices");
        } else {
            if (cpus.length > 0) {
                affinityBefore = ThreadTuning.affinity();
                int error = ThreadTuning.setAffinity(cpus);
                if (error != 0) {
                    affinityBefore = null;
                    refused.add("cpu" + Arrays.toString(cpus) + ": " + Errno.text(error));
                }
            }
            if (realtime > 0 && !ThreadTuning.isRealtime()) {
                int error = ThreadTuning.setRealtime(realtime);
                realtimeSet = error == 0;
                if (error != 0) {
                    refused.add("realtime(" + realtime + "): " + Errno.text(error));
                }
            }
            if (sliceAsked && slice > 0) {
                int error = setSlice();
                if (error != 0) {
                    refused.add("timeSlice(" + slice + "): " + Errno.text(error));
                }
            }
        }
        if (refused.isEmpty() || refusalTold) {
            return null;
        }
        refusalTold = true;
        return String.join("; ", refused);
    }

    private int setSlice() {
        int error = ThreadTuning.setTimeSlice(slice);
        sliceSet = error == 0;
        return error;
    }

    /** Nobody asked for a time slice: what the system refuses is left so, and linking the call holds up nobody. */
    private void sliceWhenLinked(EventLoop loop) {
        if (linked) {
            setSlice();
            return;
        }
        Thread.ofPlatform().daemon().name("fastio-link").start(new Linking(loop));
    }

    /** Links on a thread of its own, and then has the loop set its time slice. */
    private final class Linking extends Signal implements Runnable {
        Linking(EventLoop loop) {
            super(loop);
        }

        @Override
        public void run() {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(BEFORE_LINKING));
            ThreadTuning.linkTimeSlices();
            linked = true;
            raise();
        }

        @Override
        protected void act() {
            if (applied) {
                setSlice();
            }
        }
    }

    /** Takes back what {@link #apply} changed; on the same thread. */
    void restore() {
        applied = false;
        if (sliceSet) {
            sliceSet = false;
            ThreadTuning.setTimeSlice(0);
        }
        byte[] mask = affinityBefore;
        affinityBefore = null;
        if (mask != null) {
            ThreadTuning.restoreAffinity(mask);
        }
        if (realtimeSet) {
            realtimeSet = false;
            ThreadTuning.setRealtime(0);
        }
    }
}
