package io.fastio.gpio;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Event;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Keys at the crossings of rows, which are outputs, and columns, which are inputs: a key connects its column to its row. While
 * no key is pressed all rows are active and nothing is scanned; the first key ends that wait, and the matrix is scanned until
 * all keys are up again. A key counts as changed when two scans in a row say so, which takes out the bouncing. For the tasks
 * of the pins' loop.
 *
 * <p>Without diodes, three keys at the corners of a rectangle look as if the fourth were pressed as well. What cannot be told
 * apart is left as it was until it can.
 */
public final class KeyMatrix implements AutoCloseable {
    private final List<Pin> rows;
    private final List<Pin> columns;
    private final boolean activeHigh;
    private final Duration scanPeriod;
    private final boolean[][] pressed;
    private boolean[][] seen;
    private boolean[][] before;
    private final Event stir = new Event();
    private final List<PinChange> changes = new ArrayList<>();
    private final Reactions<KeyEvent> reactions;
    private final Task<?> scanner;
    private int down;

    /** {@link #KeyMatrix(List, List, boolean, Duration)} with active rows low and 10 ms between scans. */
    public KeyMatrix(List<Pin> rows, List<Pin> columns) throws IOException {
        this(rows, columns, false, Duration.ofMillis(10));
    }

    /**
     * A matrix at those pins, from now on. Does not wait.
     *
     * @param rows outputs; best of open drain, so that two keys in a column do not connect two rows that differ
     * @param columns inputs, pulled to the level that an active row has not
     * @param activeHigh whether an active row is high
     * @param scanPeriod time between two scans while a key is down; longer than the keys bounce; positive
     * @throws IOException if a chip fails
     */
    public KeyMatrix(List<Pin> rows, List<Pin> columns, boolean activeHigh, Duration scanPeriod) throws IOException {
        if (rows.isEmpty() || columns.isEmpty() || !scanPeriod.isPositive()) {
            throw new IllegalArgumentException("a matrix has rows and columns, and a time between scans");
        }
        EventLoop loop = Asyncio.runningLoop();
        this.rows = List.copyOf(rows);
        this.columns = List.copyOf(columns);
        this.activeHigh = activeHigh;
        this.scanPeriod = scanPeriod;
        this.pressed = new boolean[rows.size()][columns.size()];
        this.seen = new boolean[rows.size()][columns.size()];
        this.before = new boolean[rows.size()][columns.size()];
        this.reactions = new Reactions<>("key matrix");
        for (Pin c : columns) {
            changes.add(new PinChange(c, _ -> stir.set()));
        }
        this.scanner = loop.createTask("key matrix", this::scanForEver);
    }

    private void scanForEver() throws IOException {
        try {
            while (true) {
                awaitKey();
                do {
                    scan();
                    Asyncio.sleep(scanPeriod);
                } while (down > 0 || any(seen));
            }
        } finally {
            changes.forEach(PinChange::close);
            reactions.close();
        }
    }

    /** Waits until a column is active, with all rows active. */
    private void awaitKey() throws IOException {
        for (Pin r : rows) {
            r.set(activeHigh);
        }
        stir.clear();
        for (Pin c : columns) {
            if (c.value() == activeHigh) {
                return;
            }
        }
        stir.await();
    }

    private void scan() throws IOException {
        boolean[][] now = before;
        before = seen;
        seen = now;
        for (Pin r : rows) {
            r.set(!activeHigh);
        }
        for (int r = 0; r < rows.size(); r++) {
            rows.get(r).set(activeHigh);
            for (int c = 0; c < columns.size(); c++) {
                now[r][c] = columns.get(c).value() == activeHigh;
            }
            rows.get(r).set(!activeHigh);
        }
        for (int r = 0; r < rows.size(); r++) {
            for (int c = 0; c < columns.size(); c++) {
                if (now[r][c] != pressed[r][c] && now[r][c] == before[r][c] && !(now[r][c] && isAmbiguous(r, c))) {
                    pressed[r][c] = now[r][c];
                    down += now[r][c] ? 1 : -1;
                    reactions.happened(new KeyEvent(r, c, now[r][c]));
                }
            }
        }
    }

    /** Whether it is a corner of a rectangle of which all corners look pressed. */
    private boolean isAmbiguous(int r, int c) {
        for (int r2 = 0; r2 < rows.size(); r2++) {
            for (int c2 = 0; c2 < columns.size(); c2++) {
                if (r2 != r && c2 != c && seen[r2][c] && seen[r][c2] && seen[r2][c2]) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean any(boolean[][] keys) {
        for (boolean[] row : keys) {
            for (boolean key : row) {
                if (key) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a key is pressed, as told last. */
    public boolean isPressed(int row, int column) {
        return pressed[row][column];
    }

    /**
     * The changes from now on, in their order; each call gives a queue of its own, to be closed when it is not read any more. If
     * a chip fails the queues are closed, and the failure is reported to the loop's exception handler.
     */
    public AsyncQueue<KeyEvent> events() {
        return reactions.subscribe();
    }

    /** Ends the scanning and closes the queues; the pins stay open. Idempotent. */
    @Override
    public void close() {
        scanner.cancel();
        reactions.close();
    }
}
