package io.fastio.serial;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.EventLoop.PollerKind;
import io.fastio.Task;
import io.fastio.stream.DeviceGoneException;
import io.fastio.stream.LimitExceededException;
import io.fastio.stream.Stream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Serial ports on pseudo-terminals: a real terminal driver, with everything but the wire. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
final class SerialPortTest {
    /** Ways to a port: by the loop's poller, by asking, and by the library, which is asked too. */
    enum Way {
        WATCHED(PollerKind.EPOLL),
        ASKED(PollerKind.SELECTOR),
        LIBRARY(PollerKind.EPOLL);

        final PollerKind poller;

        Way(PollerKind poller) {
            this.poller = poller;
        }

        Stream open(String path, SerialOptions options) throws IOException {
            return this == LIBRARY
                    ? SerialPort.stream(SerialPort.openByLibrary(path, options))
                    : SerialPort.open(path, options);
        }

        Stream open(Pty pty) throws IOException {
            return open(pty.path, SerialOptions.defaults());
        }
    }

    private static void on(PollerKind poller, Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder().poller(poller).build()) {
            loop.run(() -> Asyncio.waitFor(test, Duration.ofSeconds(30)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void I1_readsAndWritesAtTheSameTime(Way way) throws Exception {
        on(way.poller, () -> {
            try (Pty pty = new Pty();
                    Stream port = way.open(pty)) {
                int size = 300_000;
                byte[] out = new byte[size];
                byte[] in = new byte[size];
                new Random(1).nextBytes(out); // every byte value: nothing is translated or echoed
                new Random(2).nextBytes(in);
                Task<?> farWriter = Asyncio.createTask(() -> {
                    pty.far.write(in);
                    pty.far.flush();
                });
                Task<byte[]> farReader = Asyncio.createTask(() -> pty.far.readExactly(size));
                Task<byte[]> reader = Asyncio.createTask(() -> port.readExactly(size));
                port.write(out);
                port.flush();
                assertThat(reader.await()).isEqualTo(in);
                assertThat(farReader.await()).isEqualTo(out);
                farWriter.await();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void I4_F83_aPortTakenAwayWhileReadingGivesOneErrorAndIsClosed(Way way) throws Exception {
        on(way.poller, () -> {
            Pty pty = new Pty();
            Stream port = way.open(pty);
            Task<Throwable> reader = Asyncio.createTask(() -> catchThrowable(() -> port.read(10)));
            pty.far.write("last");
            Asyncio.sleepMs(20);
            assertThat(reader.await()).as("what came before").isNull();
            Task<Throwable> second = Asyncio.createTask(() -> catchThrowable(() -> port.read(10)));
            Asyncio.sleepMs(5);
            pty.close();
            assertThat(second.await())
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessage("serial port " + pty.path + " is gone");
            assertThat(port.isClosing()).isTrue();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> port.read(1)).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(() -> port.write(new byte[1])).isInstanceOf(ClosedChannelException.class);
            }
            assertThatThrownBy(() -> SerialLine.of(port).settings()).isInstanceOf(ClosedChannelException.class);
            port.close();
            assertThat(port.waitClosed()).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void I4_F83_aPortTakenAwayWhileWritingGivesOneErrorAndIsClosed(Way way) throws Exception {
        on(way.poller, () -> {
            Pty pty = new Pty();
            Stream port = way.open(pty);
            port.write(new byte[500_000]);
            assertThat(port.pendingBytes()).isPositive();
            Task<Throwable> reader = Asyncio.createTask(() -> catchThrowable(() -> port.read(10)));
            Task<Throwable> writer = Asyncio.createTask(() -> catchThrowable(port::flush));
            Asyncio.sleepMs(5);
            pty.close();
            List<Throwable> errors = List.of(reader.await(), writer.await());
            assertThat(errors).allMatch(e -> e instanceof DeviceGoneException || e instanceof ClosedChannelException);
            assertThat(errors).anyMatch(DeviceGoneException.class::isInstance);
            assertThatThrownBy(() -> port.write(new byte[1])).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> port.read(1)).isInstanceOf(ClosedChannelException.class);
        });
    }

    /** Whatever is waited for: room, bytes, a line, the end of a break. Nobody is left waiting. */
    @ParameterizedTest
    @EnumSource
    void I4_F83_aPortTakenAwayEndsEveryKindOfWait(Way way) throws Exception {
        on(way.poller, () -> {
            List<Waiting> waits = List.of(
                    Stream::drain,
                    p -> SerialLine.of(p).sendBreak(Duration.ofMillis(50)),
                    Stream::readLine,
                    p -> p.copyTo(p),
                    p -> p.readExactly(10));
            for (Waiting w : waits) {
                Pty pty = new Pty();
                Stream port = way.open(pty);
                port.write(new byte[500_000]);
                Task<Throwable> waiter = Asyncio.createTask(() -> catchThrowable(() -> w.at(port)));
                Asyncio.sleepMs(10);
                assertThat(waiter.done()).isFalse();
                pty.close();
                assertThat(Asyncio.waitFor(waiter::await, Duration.ofSeconds(5)))
                        .isInstanceOf(IOException.class);
                port.close();
                Asyncio.waitFor(() -> port.waitClosed(), Duration.ofSeconds(5));
            }
        });
    }

    private interface Waiting {
        void at(Stream port) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void C6_aCancelledReadLosesNothing(Way way) throws Exception {
        on(way.poller, () -> {
            try (Pty pty = new Pty();
                    Stream port = way.open(pty)) {
                Task<String> reader = Asyncio.createTask(() -> port.readLine());
                pty.far.write("half a ");
                Asyncio.sleepMs(20);
                reader.cancel();
                assertThatThrownBy(reader::await).isInstanceOf(CancelledError.class);
                pty.far.write("line\r\n");
                assertThat(port.readLine()).isEqualTo("half a line");
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void I4_closeEndsAWaitingRead(Way way) throws Exception {
        on(way.poller, () -> {
            try (Pty pty = new Pty()) {
                Stream port = way.open(pty);
                Task<Throwable> reader = Asyncio.createTask(() -> catchThrowable(() -> port.read(10)));
                Asyncio.sleepMs(5);
                port.close();
                assertThat(reader.await()).isInstanceOf(ClosedChannelException.class);
                try (Stream again = way.open(pty)) {
                    again.write("again");
                    assertThat(pty.far.readExactly(5)).isEqualTo("again".getBytes(UTF_8));
                }
            }
        });
    }

    @Test
    void I1_F64_severalWritersKeepEachWriteInOnePiece() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty();
                    Stream port = SerialPort.open(pty.path)) {
                List<Task<?>> writers = new ArrayList<>();
                for (char c = 'a'; c < 'e'; c++) {
                    String line = String.valueOf(c).repeat(989) + "\n";
                    writers.add(Asyncio.createTask(() -> {
                        for (int i = 0; i < 20; i++) {
                            port.write(line);
                            port.drain();
                            Asyncio.yieldNow();
                        }
                    }));
                }
                for (int i = 0; i < 80; i++) {
                    String line = pty.far.readLine();
                    assertThat(line).hasSize(989).matches("(.)\\1*");
                }
                for (Task<?> w : writers) {
                    w.await();
                }
            }
        });
    }

    @Test
    void F85_noiseEndsNothing() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty();
                    Stream port = SerialPort.open(pty.path)) {
                port.limit(100);
                byte[] noise = new byte[5_000];
                Random random = new Random(3);
                for (int i = 0; i < noise.length; i++) {
                    byte b = (byte) random.nextInt();
                    noise[i] = b == '\n' ? 0 : b;
                }
                pty.far.write(noise);
                pty.far.write("\n$OK\n");
                assertThatThrownBy(port::readLine).isInstanceOf(LimitExceededException.class);
                int skipped = 0;
                while (skipped < noise.length + 1) {
                    skipped += port.read(noise.length + 1 - skipped).length;
                }
                assertThat(port.readLine()).isEqualTo("$OK");
            }
        });
    }

    /** What flow control is for: the other side says when it has no room, and nothing is sent until it says that it has. */
    @ParameterizedTest
    @EnumSource
    void flowControlHoldsTheWriter(Way way) throws Exception {
        on(way.poller, () -> {
            try (Pty pty = new Pty();
                    Stream port = way.open(pty.path, SerialOptions.defaults().flowControl(FlowControl.XON_XOFF))) {
                byte xoff = 19;
                byte xon = 17;
                pty.far.write(new byte[] {'a', xoff, 'b'});
                assertThat(port.readExactly(2)).as("the signs are no data").isEqualTo("ab".getBytes(UTF_8));
                port.write("held back");
                Task<byte[]> far = Asyncio.createTask(() -> pty.far.readExactly(9));
                Asyncio.sleepMs(50);
                assertThat(far.done()).isFalse();
                Task<String> reader = Asyncio.createTask(() -> port.readLine());
                pty.far.write("reading goes on\n");
                assertThat(reader.await()).isEqualTo("reading goes on");
                assertThat(far.done()).isFalse();
                pty.far.write(new byte[] {xon});
                assertThat(far.await()).isEqualTo("held back".getBytes(UTF_8));
            }
        });
    }

    /** A protocol that looks for damaged bytes itself gets them marked by 255, and a 255 of its own doubled. */
    @Test
    void F85_markedBytesCanBeToldFromGoodOnes() throws Exception {
        on(PollerKind.AUTO, () -> {
            for (BadBytes bad : BadBytes.values()) {
                try (Pty pty = new Pty();
                        Stream port = SerialPort.open(
                                pty.path, SerialOptions.defaults().badBytes(bad))) {
                    pty.far.write(new byte[] {1, -1, 0, 2, '\n'});
                    byte[] got = port.readUntil(new byte[] {'\n'});
                    assertThat(got)
                            .as(bad.name())
                            .isEqualTo(
                                    bad == BadBytes.MARK
                                            ? new byte[] {1, -1, -1, 0, 2, '\n'}
                                            : new byte[] {1, -1, 0, 2, '\n'});
                }
            }
        });
    }

    @Test
    void I7_anUrgentPortIsServedFirst() throws Exception {
        on(PollerKind.EPOLL, () -> {
            try (Pty one = new Pty();
                    Pty two = new Pty();
                    Stream normal = SerialPort.open(one.path);
                    Stream urgent = SerialPort.open(two.path).priority(true)) {
                int urgentFirst = 0;
                for (int round = 0; round < 10; round++) {
                    List<String> order = new ArrayList<>();
                    Task<?> n = Asyncio.createTask(() -> order.add(normal.readLine()));
                    Task<?> u = Asyncio.createTask(() -> order.add(urgent.readLine()));
                    Asyncio.sleepMs(1);
                    one.far.write("normal\n");
                    two.far.write("urgent\n");
                    long end = System.nanoTime() + 20_000_000;
                    while (System.nanoTime() < end) {
                        Thread.onSpinWait(); // both have arrived before the loop looks, unless the machine is busy
                    }
                    n.await();
                    u.await();
                    assertThat(order).containsExactlyInAnyOrder("urgent", "normal");
                    urgentFirst += order.getFirst().equals("urgent") ? 1 : 0;
                }
                assertThat(urgentFirst).isGreaterThan(5); // without priorities what came first would be first, always
            }
        });
    }

    @Test
    void S11_aPortLeftOpenIsClosedWithItsLoop() throws Exception {
        Stream[] left = new Stream[1];
        on(PollerKind.AUTO, () -> {
            Pty pty = new Pty();
            left[0] = SerialPort.open(pty.path);
        });
        assertThat(left[0].getExtraInfo("device")).isInstanceOf(LinuxLine.class);
        assertThatThrownBy(() -> SerialLine.of(left[0]).settings()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void settingsReachTheDriver() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty();
                    Stream port = SerialPort.open(pty.path, SerialOptions.of("9600"))) {
                SerialLine line = SerialLine.of(port);
                assertThat(line.path()).isEqualTo(pty.path);
                assertThat(line.settings()).isEqualTo(SerialOptions.of("9600 8N1"));
                for (SerialOptions o : List.of(
                        SerialOptions.defaults(),
                        SerialOptions.defaults().speed(123_456),
                        SerialOptions.defaults().stopBits(2).badBytes(BadBytes.MARK),
                        SerialOptions.defaults().flowControl(FlowControl.XON_XOFF),
                        SerialOptions.defaults()
                                .flowControl(FlowControl.RTS_CTS)
                                .badBytes(BadBytes.DROP))) {
                    line.configure(o);
                    assertThat(line.settings()).isEqualTo(o);
                }
                Process stty = new ProcessBuilder("stty", "-F", pty.path, "speed").start();
                assertThat(new String(stty.getInputStream().readAllBytes(), UTF_8).strip())
                        .isEqualTo("115200");
            }
        });
    }

    /** As tools such as socat make it, for programs that want a name that stays. */
    @Test
    void aLinkToAPseudoTerminalIsOne(@TempDir Path folder) throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty()) {
                Path link = Files.createSymbolicLink(folder.resolve("gps"), Path.of(pty.path));
                for (String path : List.of(pty.path, link.toString())) {
                    try (Stream port = SerialPort.open(path, SerialOptions.of("9600 7E1"))) {
                        port.write("x");
                        assertThat(pty.far.readExactly(1)).isEqualTo(new byte[] {'x'});
                    }
                }
            }
        });
    }

    @Test
    void aPortInUseIsRefusedAndKeepsItsSettings() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty()) {
                SerialOptions slow = SerialOptions.of("9600 8N2");
                Stream first = SerialPort.open(pty.path, slow);
                assertThatThrownBy(() -> SerialPort.open(pty.path))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("in use");
                assertThat(SerialLine.of(first).settings()).isEqualTo(slow);
                SerialLine.of(first).configure(slow.exclusive(false));
                try (Stream second = SerialPort.open(pty.path, slow.exclusive(false))) {
                    assertThat(SerialLine.of(second).path()).isEqualTo(pty.path);
                }
                SerialLine.of(first).configure(slow);
                first.close();
                try (Stream next = SerialPort.open(pty.path)) {
                    assertThat(SerialLine.of(next).settings()).isEqualTo(SerialOptions.defaults());
                }
            }
        });
    }

    @Test
    void theLineTellsWhatItKnows() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty();
                    Stream port = SerialPort.open(pty.path)) {
                SerialLine line = SerialLine.of(port);
                assertThat(line.counters())
                        .as("a pseudo-terminal counts nothing")
                        .isEmpty();
                assertThatThrownBy(line::modemLines)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("modem lines");
                assertThatThrownBy(() -> line.dtr(true)).isInstanceOf(IOException.class);
                pty.far.write("12345");
                while (line.available() < 5) {
                    Asyncio.sleepMs(1);
                }
                line.discardInput();
                assertThat(line.available()).isZero();
                port.write("out");
                line.awaitSent();
                assertThat(line.unsent()).isZero();
                line.sendBreak(Duration.ofMillis(2));
                line.discardOutput();
                assertThatThrownBy(() -> line.sendBreak(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> SerialLine.of(pty.far)).isInstanceOf(IllegalArgumentException.class);
            }
        });
    }

    @Test
    void theLibrarysLineTellsWhatItKnows() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (Pty pty = new Pty();
                    Stream port = Way.LIBRARY.open(pty.path, SerialOptions.of("9600"))) {
                SerialLine line = SerialLine.of(port);
                assertThat(line.path()).isEqualTo(pty.path);
                assertThat(line.settings()).isEqualTo(SerialOptions.of("9600"));
                line.configure(SerialOptions.of("19200").flowControl(FlowControl.XON_XOFF));
                Process stty = new ProcessBuilder("stty", "-F", pty.path, "speed").start();
                assertThat(new String(stty.getInputStream().readAllBytes(), UTF_8).strip())
                        .isEqualTo("19200");
                assertThat(line.counters()).isEmpty();
                assertThat(line.available()).isZero();
                line.awaitSent();
                assertThatThrownBy(() -> line.configure(SerialOptions.defaults().badBytes(BadBytes.MARK)))
                        .isInstanceOf(IOException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNoSerialPortIsToldByName(Way way) throws Exception {
        on(way.poller, () -> {
            assertThatThrownBy(() -> way.open("/dev/ttyNONE0", SerialOptions.defaults()))
                    .isInstanceOf(FileNotFoundException.class)
                    .hasMessageContaining("/dev/ttyNONE0");
            assertThatThrownBy(() -> way.open("/dev/null", SerialOptions.defaults()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("/dev/null");
        });
    }

    /** What the kernel says is there, by its own names. */
    @Test
    void listsPorts() throws Exception {
        List<String> there = new ArrayList<>();
        try (var devices = Files.list(Path.of("/sys/class/tty"))) {
            for (Path d : devices.toList()) {
                Path type = d.resolve("type"); // 0: a place for a chip, without one
                if (d.getFileName().toString().matches("tty(S|USB|ACM)\\d+")
                        && Files.exists(d.resolve("device"))
                        && !(Files.exists(type)
                                && Files.readString(type).strip().equals("0"))) {
                    there.add("/dev/" + d.getFileName());
                }
            }
        }
        on(PollerKind.AUTO, () -> {
            List<PortInfo> ports = SerialPort.list();
            assertThat(ports).allSatisfy(p -> assertThat(p.name()).isNotBlank());
            assertThat(ports).extracting(PortInfo::path).containsAll(there);
        });
        assumeThat(there)
                .as("this machine has no serial port: only the empty list is tested")
                .isNotEmpty();
    }

    @Test
    void S13_portsAreForTasks() {
        assertThatThrownBy(() -> SerialPort.open("/dev/null")).isInstanceOf(IllegalStateException.class);
    }
}
