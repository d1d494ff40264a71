package io.fastio.gpio;

import com.pi4j.io.gpio.digital.Digital;
import com.pi4j.io.gpio.digital.DigitalInput;
import com.pi4j.io.gpio.digital.DigitalOutput;
import com.pi4j.io.gpio.digital.DigitalState;
import com.pi4j.io.gpio.digital.DigitalStateChangeListener;
import io.fastio.device.Pin;
import io.fastio.device.PinChip;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Inputs and outputs of Pi4J as lines of a chip. They are made by Pi4J's own means, with its provider, resistors and names, and
 * then added under a number. Pi4J tells of changes on threads of its own; they reach the loop without losing their order.
 *
 * <p>Needs Pi4J (com.pi4j:pi4j-core 4) and one of its providers at run time; both are the program's choice, and its context is
 * the program's to shut down.
 */
public final class Pi4jChip implements PinChip {
    private final Map<Integer, Line> lines = new ConcurrentHashMap<>();

    /** A line: passes on changes that are changes. */
    private static final class Line {
        final Digital<?, ?, ?> source;
        final @Nullable DigitalOutput output;
        private final IdentityHashMap<Listener, DigitalStateChangeListener> listeners = new IdentityHashMap<>();

        Line(Digital<?, ?, ?> source, @Nullable DigitalOutput output) {
            this.source = source;
            this.output = output;
        }

        synchronized void listen(Listener listener) {
            boolean[] level = {source.state().isHigh()};
            DigitalStateChangeListener l = event -> {
                boolean high = event.state().isHigh();
                synchronized (level) { // from any thread, but for one line from one at a time
                    if (high != level[0]) {
                        level[0] = high;
                        listener.changed(high);
                    }
                }
            };
            listeners.put(listener, l);
            source.addListener(l);
        }

        synchronized void unlisten(Listener listener) {
            DigitalStateChangeListener l = listeners.remove(listener);
            if (l != null) {
                source.removeListener(l);
            }
        }

        synchronized List<Listener> listeners() {
            return new ArrayList<>(listeners.keySet());
        }
    }

    /** A chip without lines yet. */
    public Pi4jChip() {}

    /** Adds an input of Pi4J as line {@code line}, and makes a pin of it. For tasks. */
    public Pin add(int line, DigitalInput input) throws IOException {
        return add(line, new Line(Objects.requireNonNull(input, "input"), null));
    }

    /** Adds an output of Pi4J as line {@code line}, and makes a pin of it. For tasks. */
    public Pin add(int line, DigitalOutput output) throws IOException {
        return add(line, new Line(Objects.requireNonNull(output, "output"), output));
    }

    private Pin add(int number, Line line) throws IOException {
        if (lines.putIfAbsent(number, line) != null) {
            throw new IllegalArgumentException("there is a line " + number + " already");
        }
        return Pin.of(this, number);
    }

    private Line line(int number) {
        Line l = lines.get(number);
        if (l == null) {
            throw new IllegalArgumentException("no line " + number + " was added");
        }
        return l;
    }

    @Override
    public boolean read(int line) throws IOException {
        DigitalState state = line(line).source.state();
        if (state == DigitalState.UNKNOWN) {
            throw new IOException("the level of line " + line + " is not known");
        }
        return state.isHigh();
    }

    @Override
    public void write(int line, boolean high) throws IOException {
        DigitalOutput output = line(line).output;
        if (output == null) {
            throw new IOException("line " + line + " is not an output");
        }
        try {
            output.state(high ? DigitalState.HIGH : DigitalState.LOW);
        } catch (com.pi4j.io.exception.IOException e) {
            throw new IOException("setting line " + line + " failed: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean listen(int line, Listener listener) {
        line(line).listen(listener);
        return true;
    }

    @Override
    public void unlisten(int line, Listener listener) {
        line(line).unlisten(listener);
    }

    /** Ends all reports; Pi4J's inputs and outputs stay as they are. Idempotent. */
    @Override
    public void close() {
        for (Line l : lines.values()) {
            for (Listener listener : l.listeners()) {
                l.unlisten(listener);
            }
        }
    }

    @Override
    public String toString() {
        return "Pi4jChip[" + lines.size() + " lines]";
    }
}
