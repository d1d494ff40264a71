package io.fastio.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A chip in memory, for tests and for programs on a machine without pins. Its lines are set from outside by {@link #drive},
 * from any thread.
 */
public final class SimulatedChip implements PinChip {
    private final boolean interrupts;
    private final Line[] lines;

    private static final class Line {
        boolean high;
        final List<Listener> listeners = new ArrayList<>();
    }

    /** A chip that reports changes, with all its lines low. */
    public SimulatedChip(int lines) {
        this(lines, true);
    }

    /**
     * A chip with all its lines low.
     *
     * @param lines number of lines, 1 or more
     * @param interrupts whether it reports changes; else it has to be looked at
     */
    public SimulatedChip(int lines, boolean interrupts) {
        if (lines < 1) {
            throw new IllegalArgumentException("a chip has at least one line: " + lines);
        }
        this.interrupts = interrupts;
        this.lines = new Line[lines];
        for (int i = 0; i < lines; i++) {
            this.lines[i] = new Line();
        }
    }

    /** Sets a line from outside, as a button or another machine does. Any thread. */
    public void drive(int line, boolean high) {
        Line l = line(line);
        synchronized (l) {
            if (l.high != high) {
                l.high = high;
                for (Listener listener : l.listeners) {
                    listener.changed(high);
                }
            }
        }
    }

    private Line line(int number) {
        if (number < 0 || number >= lines.length) {
            throw new IllegalArgumentException("no line " + number + " among " + lines.length);
        }
        return lines[number];
    }

    @Override
    public boolean read(int line) {
        Line l = line(line);
        synchronized (l) {
            return l.high;
        }
    }

    @Override
    public void write(int line, boolean high) {
        drive(line, high);
    }

    @Override
    public boolean listen(int line, Listener listener) {
        Objects.requireNonNull(listener, "listener");
        Line l = line(line);
        synchronized (l) {
            if (interrupts) {
                l.listeners.add(listener);
            }
        }
        return interrupts;
    }

    @Override
    public void unlisten(int line, Listener listener) {
        Objects.requireNonNull(listener, "listener");
        Line l = line(line);
        synchronized (l) {
            l.listeners.remove(listener);
        }
    }

    @Override
    public String toString() {
        return "SimulatedChip[" + lines.length + " lines" + (interrupts ? "]" : ", polled]");
    }
}
