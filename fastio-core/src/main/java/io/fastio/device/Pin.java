package io.fastio.device;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.Polling;
import io.fastio.Priority;
import io.fastio.Signal;
import io.fastio.Task;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One line of a chip. Any number of tasks may wait for its levels and edges at once, each for its own (I8); a cancel of one
 * leaves the others alone. For the tasks of the loop that made it.
 *
 * <p>Each change that the chip reports is counted, by whatever thread reports it, and the loop then goes through them one by
 * one: as edges alternate, none is lost and none changes its place, however many come before the loop looks. A chip that
 * reports nothing is looked at as long as somebody waits; then a change and its opposite between two looks are missed.
 */
public final class Pin implements AutoCloseable {
    private final EventLoop loop;
    private final PinChip chip;
    private final int line;
    private final boolean reported;
    private final PinChip.Listener listener;

    /** Changes reported so far; any thread. */
    private final AtomicInteger changes = new AtomicInteger();

    private final Signal arrival;
    private int seen;
    private boolean level;
    private boolean priority;
    private boolean closed;
    private final WaitList forHigh = new WaitList();
    private final WaitList forLow = new WaitList();
    private final WaitList forRising = new WaitList();
    private final WaitList forFalling = new WaitList();
    private final List<PinChange> callbacks = new ArrayList<>();
    private @Nullable Polling urgentPolling;
    private @Nullable Polling normalPolling;
    private final Wait.Hook hook = this::abandon;

    private Pin(PinChip chip, int line) throws IOException {
        this.loop = Asyncio.runningLoop();
        this.chip = Objects.requireNonNull(chip, "chip");
        this.line = line;
        this.arrival = new Signal(loop) {
            @Override
            protected void act() {
                takeChanges();
            }
        };
        this.listener = high -> {
            changes.incrementAndGet();
            arrival.raise();
        };
        this.level = chip.read(line);
        this.reported = chip.listen(line, listener);
        if (reported) {
            synchroniseWithChip();
        }
    }

    /** A change between the look at the level and the beginning of the reports must not turn all later ones round. */
    private void synchroniseWithChip() throws IOException {
        int before;
        do {
            before = changes.get();
            level = chip.read(line);
        } while (changes.get() != before);
        seen = before;
    }

    /**
     * A pin of the running loop. Does not wait.
     *
     * @throws IOException if the chip fails
     * @throws IllegalArgumentException if the chip has no such line
     */
    public static Pin of(PinChip chip, int line) throws IOException {
        return new Pin(chip, line);
    }

    /** Whether it is high now. Does not wait. */
    public boolean value() throws IOException {
        loop.requireCurrent(this);
        requireOpen();
        return chip.read(line);
    }

    /** Sets it, if it is an output. Does not wait. */
    public void set(boolean high) throws IOException {
        loop.requireCurrent(this);
        requireOpen();
        chip.write(line, high);
    }

    /** Whether its waiters become ready in class URGENT (I7). At any time. */
    public void priority(boolean on) {
        loop.requireCurrent(this);
        priority = on;
    }

    /**
     * Waits until it is high; goes on at once if it is.
     *
     * @throws IOException if the chip fails
     * @throws IllegalStateException if the pin is closed, also while it waits
     */
    public void awaitHigh() throws IOException {
        awaitLevel(true);
    }

    /** Waits until it is low; otherwise as {@link #awaitHigh}. */
    public void awaitLow() throws IOException {
        awaitLevel(false);
    }

    /** Waits for the next change from low to high; otherwise as {@link #awaitHigh}. */
    public void awaitRising() throws IOException {
        await(begin(), forRising);
    }

    /** Waits for the next change from high to low; otherwise as {@link #awaitHigh}. */
    public void awaitFalling() throws IOException {
        await(begin(), forFalling);
    }

    private void awaitLevel(boolean high) throws IOException {
        Task<?> me = begin();
        if (chip.read(line) != high) {
            await(me, high ? forHigh : forLow);
        }
    }

    private Task<?> begin() {
        Task<?> me = Wait.begin();
        loop.requireCurrent(this);
        requireOpen();
        return me;
    }

    private void await(Task<?> me, WaitList list) throws IOException {
        if (!reported) {
            beginPolling();
        }
        list.add(me);
        Wait.suspend(hook, priority || loop.ioFirst() ? Priority.URGENT : null, Wait.FOREVER);
        requireOpen();
    }

    private boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            boolean was =
                    forHigh.remove(task) || forLow.remove(task) || forRising.remove(task) || forFalling.remove(task);
            assert was;
            endPollingIfIdle();
        }
        return true;
    }

    void add(PinChange callback) throws IOException {
        loop.requireCurrent(this);
        requireOpen();
        if (!reported) {
            beginPolling();
        }
        callbacks.add(callback);
    }

    void remove(PinChange callback) {
        loop.requireCurrent(this);
        callbacks.remove(callback);
        endPollingIfIdle();
    }

    /** Goes through the changes that came since the last time. On the loop, possibly on its carrier. */
    private void takeChanges() {
        while (seen != changes.get() && !closed) {
            seen++;
            change(!level);
        }
    }

    private void change(boolean high) {
        level = high;
        for (PinChange c : callbacks) {
            c.changed(high ? Edge.RISING : Edge.FALLING);
        }
        (high ? forHigh : forLow).wakeAll();
        (high ? forRising : forFalling).wakeAll();
        endPollingIfIdle();
    }

    // ---- chips that report nothing

    private void beginPolling() throws IOException {
        if (!isAwaited()) {
            level = chip.read(line); // what happened while nobody waited is past
        }
        if (priority || loop.ioFirst()) {
            Polling p = urgentPolling;
            if (p == null) {
                p = new Polling(loop, Priority.URGENT, this::look);
                urgentPolling = p;
            }
            p.arm();
        } else {
            Polling p = normalPolling;
            if (p == null) {
                p = new Polling(loop, Priority.NORMAL, this::look);
                normalPolling = p;
            }
            p.arm();
        }
    }

    private void look() {
        boolean high;
        try {
            high = chip.read(line);
        } catch (IOException e) {
            loop.report(new LoopError("reading " + this + " failed; closing it", e, null));
            close();
            return;
        }
        if (high != level) {
            change(high);
        }
    }

    private boolean isAwaited() {
        return !forHigh.isEmpty()
                || !forLow.isEmpty()
                || !forRising.isEmpty()
                || !forFalling.isEmpty()
                || !callbacks.isEmpty();
    }

    private void endPollingIfIdle() {
        if (!isAwaited()) {
            if (urgentPolling != null) {
                urgentPolling.disarm();
            }
            if (normalPolling != null) {
                normalPolling.disarm();
            }
        }
    }

    // ---- ending

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    EventLoop loop() {
        return loop;
    }

    /** Ends all waits for it; the chip stays open. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        loop.requireCurrent(this);
        closed = true;
        callbacks.clear();
        forHigh.wakeAll();
        forLow.wakeAll();
        forRising.wakeAll();
        forFalling.wakeAll();
        endPollingIfIdle();
        if (reported) {
            try {
                chip.unlisten(line, listener);
            } catch (IOException e) {
                loop.report(new LoopError("closing " + this + " failed", e, null));
            }
        }
    }

    @Override
    public String toString() {
        return "Pin[line " + line + " of " + chip + "]";
    }
}
