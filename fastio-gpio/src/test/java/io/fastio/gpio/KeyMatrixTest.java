package io.fastio.gpio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.device.Pin;
import io.fastio.device.PinChip;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.QueueClosedException;
import io.fastio.time.LoopClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A matrix of keys without diodes, on virtual time. */
@Timeout(60)
final class KeyMatrixTest {
    /** Rows at lines 0 to 2, columns at lines 10 to 12; a column is low if keys connect it to a row that is low. */
    private static final class Keys implements PinChip {
        final boolean[] rowHigh = {true, true, true};
        final boolean[][] down = new boolean[3][3];
        private final Map<Integer, List<Listener>> listeners = new HashMap<>();
        int writes;
        boolean broken;

        /** A key goes down or up. */
        void key(int row, int column, boolean isDown) throws IOException {
            boolean[] before = columns();
            down[row][column] = isDown;
            tell(before);
        }

        private boolean[] columns() throws IOException {
            boolean[] high = new boolean[3];
            for (int c = 0; c < 3; c++) {
                high[c] = columnIsHigh(c);
            }
            return high;
        }

        private void tell(boolean[] before) throws IOException {
            for (int c = 0; c < 3; c++) {
                boolean high = columnIsHigh(c);
                if (high != before[c]) {
                    for (Listener l : listeners.getOrDefault(10 + c, List.of())) {
                        l.changed(high);
                    }
                }
            }
        }

        /** Follows the keys from the column to every row that is connected with it. */
        private boolean columnIsHigh(int column) {
            boolean[] rows = new boolean[3];
            boolean[] columns = new boolean[3];
            columns[column] = true;
            for (int round = 0; round < 3; round++) {
                for (int r = 0; r < 3; r++) {
                    for (int c = 0; c < 3; c++) {
                        if (down[r][c] && (rows[r] || columns[c])) {
                            rows[r] = true;
                            columns[c] = true;
                        }
                    }
                }
            }
            for (int r = 0; r < 3; r++) {
                if (rows[r] && !rowHigh[r]) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public boolean read(int line) throws IOException {
            if (broken) {
                throw new IOException("the chip is broken");
            }
            return line < 10 ? rowHigh[line] : columnIsHigh(line - 10);
        }

        @Override
        public void write(int line, boolean high) throws IOException {
            writes++;
            boolean[] before = columns();
            rowHigh[line] = high;
            tell(before);
        }

        @Override
        public boolean listen(int line, Listener listener) {
            listeners.computeIfAbsent(line, _ -> new ArrayList<>()).add(listener);
            return true;
        }

        @Override
        public void unlisten(int line, Listener listener) {
            listeners.get(line).remove(listener);
        }
    }

    private final Keys keys = new Keys();
    private final List<LoopError> errors = new ArrayList<>();

    private void virtually(Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .clock(LoopClock.virtual())
                .exceptionHandler(errors::add)
                .build()) {
            loop.run(test);
        }
    }

    private KeyMatrix matrix() throws IOException {
        List<Pin> rows = new ArrayList<>();
        List<Pin> columns = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            rows.add(Pin.of(keys, i));
            columns.add(Pin.of(keys, 10 + i));
        }
        return new KeyMatrix(rows, columns);
    }

    private static List<KeyEvent> drain(AsyncQueue<KeyEvent> queue) {
        List<KeyEvent> events = new ArrayList<>();
        while (!queue.isEmpty()) {
            events.add(queue.getNowait());
        }
        return events;
    }

    @Test
    void tellsEachKeyDownAndUp() throws Exception {
        virtually(() -> {
            try (KeyMatrix m = matrix()) {
                AsyncQueue<KeyEvent> events = m.events();
                Asyncio.sleepMs(50);
                keys.key(1, 2, true);
                Asyncio.sleepMs(50);
                assertThat(m.isPressed(1, 2)).isTrue();
                keys.key(0, 0, true);
                Asyncio.sleepMs(50);
                keys.key(1, 2, false);
                Asyncio.sleepMs(50);
                keys.key(0, 0, false);
                Asyncio.sleepMs(50);
                assertThat(drain(events))
                        .containsExactly(
                                new KeyEvent(1, 2, true),
                                new KeyEvent(0, 0, true),
                                new KeyEvent(1, 2, false),
                                new KeyEvent(0, 0, false));
            }
        });
    }

    @Test
    void S10_isNotScannedWhileNoKeyIsDown() throws Exception {
        virtually(() -> {
            try (KeyMatrix m = matrix()) {
                Asyncio.sleepMs(10);
                int before = keys.writes;
                Asyncio.sleep(Duration.ofHours(1));
                assertThat(keys.writes).isEqualTo(before);
                keys.key(0, 1, true);
                Asyncio.sleepMs(100);
                assertThat(keys.writes).isGreaterThan(before + 30);
                keys.key(0, 1, false);
                Asyncio.sleepMs(100);
                int after = keys.writes;
                Asyncio.sleep(Duration.ofHours(1));
                assertThat(keys.writes).isEqualTo(after);
                assertThat(m.isPressed(0, 1)).isFalse();
            }
        });
    }

    @Test
    void bouncingIsNoChange() throws Exception {
        virtually(() -> {
            try (KeyMatrix m = matrix()) {
                AsyncQueue<KeyEvent> events = m.events();
                for (boolean press : new boolean[] {true, false}) {
                    for (int i = 0; i < 4; i++) {
                        keys.key(2, 2, press == (i % 2 == 0));
                        Asyncio.sleepMs(2);
                    }
                    keys.key(2, 2, press);
                    Asyncio.sleepMs(100);
                }
                assertThat(drain(events)).containsExactly(new KeyEvent(2, 2, true), new KeyEvent(2, 2, false));
            }
        });
    }

    @Test
    void aGhostIsNotTold() throws Exception {
        virtually(() -> {
            try (KeyMatrix m = matrix()) {
                AsyncQueue<KeyEvent> events = m.events();
                keys.key(0, 0, true);
                Asyncio.sleepMs(50);
                keys.key(0, 1, true);
                Asyncio.sleepMs(50);
                keys.key(1, 0, true); // now (1, 1) looks pressed too
                Asyncio.sleepMs(50);
                assertThat(drain(events)).containsExactly(new KeyEvent(0, 0, true), new KeyEvent(0, 1, true));
                keys.key(0, 1, false); // and now all is clear
                Asyncio.sleepMs(50);
                assertThat(drain(events))
                        .containsExactlyInAnyOrder(new KeyEvent(0, 1, false), new KeyEvent(1, 0, true));
                assertThat(m.isPressed(1, 1)).isFalse();
            }
        });
    }

    @Test
    void aBrokenChipEndsItWithAReport() throws Exception {
        virtually(() -> {
            KeyMatrix m = matrix();
            AsyncQueue<KeyEvent> events = m.events();
            Asyncio.sleepMs(10);
            keys.broken = true;
            keys.key(0, 0, true);
            assertThatThrownBy(events::get).isInstanceOf(QueueClosedException.class);
            Asyncio.sleepMs(10);
            assertThat(errors).hasSize(1);
            m.close();
        });
    }
}
