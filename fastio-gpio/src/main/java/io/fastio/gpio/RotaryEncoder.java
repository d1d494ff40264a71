package io.fastio.gpio;

import io.fastio.Wait;
import io.fastio.WaitList;
import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * A knob that turns, at two pins whose levels change one after the other: which one is first tells the direction. Bouncing
 * needs no time here: a contact that bounces goes forth and back, and so does the count. For the tasks of the pins' loop.
 */
public final class RotaryEncoder implements AutoCloseable {
    /** Steps by old and new levels of both pins, two bits each; where both have changed at once the direction is unknown. */
    private static final int[] STEPS = {0, 1, -1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 0, -1, 1, 0};

    private final int stepsPerDetent;
    private final int least;
    private final int most;
    private final PinChange changeOfA;
    private final PinChange changeOfB;
    private final WaitList waiters = new WaitList();
    private final List<IntConsumer> listeners = new ArrayList<>();
    private int levels;
    private int steps;
    private int detents;
    private int position;

    /** An encoder with four steps per detent and no limits. */
    public RotaryEncoder(Pin a, Pin b) throws IOException {
        this(a, b, 4, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /**
     * An encoder at those pins, from now on, at position 0 or the limit next to it. Exchange the pins to turn it round.
     *
     * @param stepsPerDetent steps from one place where the knob rests to the next: 1, 2 or 4
     * @param least lowest position
     * @param most highest position
     * @throws IOException if a chip fails
     */
    public RotaryEncoder(Pin a, Pin b, int stepsPerDetent, int least, int most) throws IOException {
        if (stepsPerDetent != 1 && stepsPerDetent != 2 && stepsPerDetent != 4) {
            throw new IllegalArgumentException("stepsPerDetent must be 1, 2 or 4: " + stepsPerDetent);
        }
        if (least > most) {
            throw new IllegalArgumentException("least must not be above most: " + least + ", " + most);
        }
        this.stepsPerDetent = stepsPerDetent;
        this.least = least;
        this.most = most;
        this.position = Math.clamp(0, least, most);
        this.levels = (a.value() ? 2 : 0) | (b.value() ? 1 : 0);
        this.changeOfA = new PinChange(a, e -> changed(2, e));
        this.changeOfB = new PinChange(b, e -> changed(1, e));
    }

    private void changed(int bit, Edge e) {
        int now = e == Edge.RISING ? levels | bit : levels & ~bit;
        // Pin a first is forwards.
        steps -= STEPS[levels << 2 | now];
        levels = now;
        if (steps % stepsPerDetent == 0 && steps / stepsPerDetent != detents) {
            int moved = steps / stepsPerDetent - detents;
            detents += moved;
            position(Math.clamp((long) position + moved, least, most));
        }
    }

    /** Where it is, in detents. */
    public int position() {
        return position;
    }

    /**
     * Says where it is.
     *
     * @throws IllegalArgumentException beyond the limits
     */
    public void position(int detent) {
        if (detent < least || detent > most) {
            throw new IllegalArgumentException("position must be " + least + " to " + most + ": " + detent);
        }
        if (detent != position) {
            position = detent;
            waiters.wakeAll();
            for (IntConsumer l : List.copyOf(listeners)) {
                l.accept(detent);
            }
        }
    }

    /**
     * Waits until the position has changed. A cancel leaves nothing behind.
     *
     * @return the new position
     */
    public int awaitChange() {
        int before = position;
        Wait.begin();
        if (position == before) {
            waiters.await(null, Wait.FOREVER);
        }
        return position;
    }

    /** Has the listener told of each new position, on the loop, as a callback: fastio's waits are for tasks. */
    public RotaryEncoder onChange(IntConsumer listener) {
        listeners.add(listener);
        return this;
    }

    /** Ends its looking after the pins, which stay open. Idempotent. */
    @Override
    public void close() {
        changeOfA.close();
        changeOfB.close();
        listeners.clear();
    }
}
