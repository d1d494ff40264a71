package io.fastio.serial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SerialOptionsTest {
    @ParameterizedTest
    @ValueSource(strings = {"9600 8N1", "115200 7E2", "50 5O1", "4000000 8M2", "19200 6S1"})
    void namesGoBothWays(String name) {
        assertThat(SerialOptions.of(name).name()).isEqualTo(name);
    }

    @Test
    void understandsShortNames() {
        assertThat(SerialOptions.of(" 9600 "))
                .isEqualTo(SerialOptions.defaults().speed(9600));
        assertThat(SerialOptions.of("9600,7e1").name()).isEqualTo("9600 7E1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "fast", "9600 9N1", "9600 8X1", "9600 8N3", "9600 8N", "1 8N1", "99999999", "9600 8N1 x"})
    void refusesWhatIsNoName(String name) {
        assertThatThrownBy(() -> SerialOptions.of(name)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void knowsTheLengthOfAByte() {
        assertThat(SerialOptions.of("9600 8N1").bitsPerByte()).isEqualTo(10);
        assertThat(SerialOptions.of("9600 7E2").bitsPerByte()).isEqualTo(11);
    }

    @Test
    void everyCombinationSurvivesTheKernelsStructure() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment t = arena.allocate(Termios.SIZE, 4).fill((byte) 0xFF); // whatever was set before
            for (int bits = 5; bits <= 8; bits++) {
                for (Parity parity : Parity.values()) {
                    for (FlowControl flow : FlowControl.values()) {
                        for (BadBytes bad : BadBytes.values()) {
                            for (int stop = 1; stop <= 2; stop++) {
                                SerialOptions o =
                                        new SerialOptions(4_711, bits, parity, stop, flow, bad, (bits & 1) == 0);
                                Termios.set(t, o);
                                assertThat(Termios.get(t, o.exclusive())).isEqualTo(o);
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void F85_countersAreReadAndSubtracted() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment c = arena.allocate(Termios.COUNTERS_SIZE, 4);
            for (int i = 0; i < 11; i++) {
                c.setAtIndex(ValueLayout.JAVA_INT, i, i + 1);
            }
            SerialCounters first = Termios.counters(c);
            assertThat(first).isEqualTo(new SerialCounters(5, 6, 7, 9, 8, 11, 10));
            assertThat(first.errors()).isEqualTo(35);
            c.setAtIndex(ValueLayout.JAVA_INT, 6, 12);
            c.setAtIndex(ValueLayout.JAVA_INT, 4, Integer.MIN_VALUE);
            SerialCounters later = Termios.counters(c).since(first);
            assertThat(later.framingErrors()).isEqualTo(5);
            assertThat(later.errors()).isEqualTo(5);
        }
    }

    @Test
    void modemLinesAreTheirBits() {
        assertThat(Termios.modemLines(Termios.TIOCM_DTR | Termios.TIOCM_CTS))
                .isEqualTo(new ModemLines(true, false, false, false, true, false));
        assertThat(Termios.modemLines(Termios.TIOCM_DSR | Termios.TIOCM_RNG | Termios.TIOCM_CAR | Termios.TIOCM_RTS))
                .isEqualTo(new ModemLines(false, true, true, true, false, true));
    }

    /** The kernel sets something else and says nothing; a wrong speed damages bytes, a wrong parity loses errors. */
    @Test
    void whatTheHardwareDoesNotDoIsTold() {
        SerialOptions wanted = SerialOptions.of("115200 7E1");
        assertThat(LinuxLine.missing(wanted, wanted, false)).isNull();
        assertThat(LinuxLine.missing(wanted, wanted.speed(115_385), false))
                .as("near enough")
                .isNull();
        assertThat(LinuxLine.missing(wanted, wanted.speed(125_000), false)).contains("115200", "125000");
        assertThat(LinuxLine.missing(wanted, wanted.speed(125_000), true)).contains("115200", "125000");
        for (SerialOptions other : new SerialOptions[] {
            wanted.parity(Parity.NONE), wanted.dataBits(8), wanted.stopBits(2), wanted.flowControl(FlowControl.RTS_CTS)
        }) {
            assertThat(LinuxLine.missing(wanted, other, false)).contains("it does", other.toString());
            assertThat(LinuxLine.missing(wanted, other, true)).isNull();
        }
    }
}
