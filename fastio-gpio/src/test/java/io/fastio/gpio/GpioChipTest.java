package io.fastio.gpio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.EventLoop.PollerKind;
import io.fastio.LoopError;
import io.fastio.Task;
import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(60)
@EnabledOnOs(OS.LINUX)
final class GpioChipTest {
    private final FakeKernel kernel = new FakeKernel();
    private final List<LoopError> errors = new ArrayList<>();

    private void on(PollerKind poller, Action test) throws Exception {
        try (EventLoop loop =
                EventLoop.builder().poller(poller).exceptionHandler(errors::add).build()) {
            loop.run(() -> Asyncio.waitFor(test, Duration.ofSeconds(20)));
        }
    }

    private GpioChip open() throws IOException {
        return GpioChip.open(kernel, "/dev/gpiochip9");
    }

    @Test
    void tellsWhatItIs() throws Exception {
        on(PollerKind.AUTO, () -> {
            try (GpioChip chip = open()) {
                assertThat(chip.info()).isEqualTo(new ChipInfo("/dev/gpiochip9", "gpiochip9", "fake", 4));
                kernel.busy = 2;
                assertThat(chip.lineInfo(1)).isEqualTo(new LineInfo(1, "GPIO1", "", false, false, false));
                assertThat(chip.lineInfo(2)).isEqualTo(new LineInfo(2, "GPIO2", "somebody", true, true, false));
                assertThat(chip).hasToString("GpioChip[/dev/gpiochip9, fake]");
            }
            assertThat(kernel.chipClosed).isTrue();
        });
    }

    @Test
    void S8_edgesWakeTheirWaiters() throws Exception {
        on(PollerKind.EPOLL, () -> {
            try (GpioChip chip = open()) {
                Pin pin = chip.input(1, InputOptions.defaults());
                List<Edge> seen = new ArrayList<>();
                try (PinChange changes = new PinChange(pin, seen::add)) {
                    Task<?> rising = Asyncio.createTask(pin::awaitRising);
                    Task<?> falling = Asyncio.createTask(pin::awaitFalling);
                    Asyncio.sleepMs(2);
                    assertThat(rising.done()).isFalse();
                    kernel.edge(1, 10);
                    rising.await();
                    assertThat(pin.value()).isTrue();
                    assertThat(falling.done()).isFalse();
                    kernel.edge(1, 20);
                    falling.await();
                    pin.awaitLow();
                    for (int i = 0; i < 100; i++) { // more than are taken at once, before the loop looks
                        kernel.edge(1, 30 + i);
                    }
                    Asyncio.sleepMs(5);
                    assertThat(seen).hasSize(102);
                    for (int i = 0; i < seen.size(); i++) {
                        assertThat(seen.get(i)).isEqualTo(i % 2 == 0 ? Edge.RISING : Edge.FALLING);
                    }
                }
            }
        });
    }

    @Test
    void edgesBeforeAndBetweenAreNeitherLostNorTurnedRound() throws Exception {
        on(PollerKind.EPOLL, () -> {
            try (GpioChip chip = open()) {
                Pin first = chip.input(0, InputOptions.defaults());
                kernel.edge(0, 1); // the level is high, and the change still in the kernel
                Pin second = Pin.of(chip, 0);
                assertThat(second.value()).isTrue();
                Task<?> falling = Asyncio.createTask(second::awaitFalling);
                Asyncio.sleepMs(2);
                assertThat(falling.done()).as("no false edge").isFalse();
                kernel.edge(0, 2);
                falling.await();
                assertThat(first.value()).isFalse();
            }
        });
    }

    @Test
    void eventsHaveTheKernelsTimeAndTellWhatWasMissed() throws Exception {
        on(PollerKind.EPOLL, () -> {
            try (GpioChip chip = open()) {
                Pin pin = chip.input(3, InputOptions.defaults());
                List<LineEvent> seen = new ArrayList<>();
                chip.onEvent(3, seen::add);
                kernel.edge(3, 1_000_000_001L);
                kernel.edge(3, 1_000_000_002L);
                kernel.lostEdge(3);
                kernel.lostEdge(3);
                kernel.edge(3, 1_000_000_005L);
                kernel.lostEdge(3);
                kernel.edge(3, 1_000_000_007L);
                Asyncio.sleepMs(5);
                assertThat(seen)
                        .containsExactly(
                                new LineEvent(3, Edge.RISING, 1_000_000_001L, 1, 0),
                                new LineEvent(3, Edge.FALLING, 1_000_000_002L, 2, 0),
                                new LineEvent(3, Edge.RISING, 1_000_000_005L, 5, 2),
                                new LineEvent(3, Edge.RISING, 1_000_000_007L, 7, 1));
                assertThat(pin.value()).as("the level is right in spite of it").isTrue();
                Task<?> falling = Asyncio.createTask(pin::awaitFalling);
                Asyncio.yieldNow();
                kernel.edge(3, 1_000_000_008L);
                falling.await();
            }
        });
    }

    @Test
    void optionsReachTheKernel() throws Exception {
        on(PollerKind.EPOLL, () -> {
            try (GpioChip chip = open()) {
                Pin in = chip.input(
                        0,
                        InputOptions.defaults()
                                .bias(Bias.PULL_UP)
                                .activeLow(true)
                                .wallClock(true)
                                .debounce(Duration.ofMillis(5)));
                assertThat(kernel.byNumber.get(0).flags)
                        .isEqualTo(GpioAbi.FLAG_INPUT
                                | GpioAbi.FLAG_EDGE_RISING
                                | GpioAbi.FLAG_EDGE_FALLING
                                | GpioAbi.FLAG_PULL_UP
                                | GpioAbi.FLAG_ACTIVE_LOW
                                | GpioAbi.FLAG_WALL_CLOCK);
                assertThat(kernel.byNumber.get(0).debounceMicros).isEqualTo(5_000);
                assertThatThrownBy(() -> in.set(true))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("output");

                Pin out = chip.output(1, OutputOptions.defaults().high(true).drive(Drive.OPEN_DRAIN));
                assertThat(kernel.byNumber.get(1).flags).isEqualTo(GpioAbi.FLAG_OUTPUT | GpioAbi.FLAG_OPEN_DRAIN);
                assertThat(out.value()).isTrue();
                out.set(false);
                assertThat(kernel.byNumber.get(1).high).isFalse();
                assertThat(out.value()).isFalse();
                out.close();

                Pin again = chip.input(1, InputOptions.defaults().bias(Bias.NONE));
                assertThat(kernel.byNumber.get(1).flags & GpioAbi.FLAG_BIAS_DISABLED)
                        .isPositive();
                again.close();
                chip.release(1);
                chip.release(1);
                assertThat(kernel.byNumber).containsOnlyKeys(0);
            }
            assertThat(kernel.byNumber).isEmpty();
        });
    }

    @Test
    void I8_aLineWithoutInterruptsIsLookedAt() throws Exception {
        for (PollerKind poller : List.of(PollerKind.EPOLL, PollerKind.SELECTOR)) {
            kernel.edgesRefused = poller == PollerKind.EPOLL ? -22 : 0;
            on(poller, () -> {
                try (GpioChip chip = open()) {
                    Pin pin = chip.input(2, InputOptions.defaults());
                    assertThat(kernel.byNumber.get(2).flags).isEqualTo(GpioAbi.FLAG_INPUT);
                    Task<?> rising = Asyncio.createTask(pin::awaitRising);
                    Asyncio.sleepMs(2);
                    kernel.byNumber.get(2).high = true;
                    rising.await();
                    assertThatThrownBy(() -> chip.onEvent(2, _ -> {}))
                            .isInstanceOf(UnsupportedOperationException.class);
                }
            });
        }
    }

    @Test
    void refusalsAreToldByName() throws Exception {
        on(PollerKind.EPOLL, () -> {
            assertThatThrownBy(() -> GpioChip.open(kernel, "/dev/gpiochip7"))
                    .isInstanceOf(FileNotFoundException.class)
                    .hasMessageContaining("/dev/gpiochip7");
            assertThatThrownBy(() -> GpioChip.open(kernel, "/dev/secret"))
                    .isInstanceOf(AccessDeniedException.class)
                    .hasMessageContaining("group");
            assertThatThrownBy(() -> GpioChip.open("/dev/null"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("/dev/null is not a GPIO chip");
            GpioChip chip = open();
            kernel.busy = 2;
            assertThatThrownBy(() -> chip.input(2, InputOptions.defaults()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("in use by somebody");
            assertThatThrownBy(() -> chip.input(4, InputOptions.defaults()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no line 4");
            chip.close();
            chip.close();
            assertThatThrownBy(() -> chip.read(0)).isInstanceOf(ClosedChannelException.class);
        });
        assertThatThrownBy(this::open).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void I4_aLineTakenAwayIsReportedOnce() throws Exception {
        on(PollerKind.EPOLL, () -> {
            try (GpioChip chip = open()) {
                Pin pin = chip.input(0, InputOptions.defaults());
                kernel.unplug(0);
                Asyncio.sleepMs(20);
                assertThat(errors).hasSize(1);
                assertThatThrownBy(pin::value).isInstanceOf(IOException.class);
            }
        });
        assertThat(errors).hasSize(1);
    }

    @Test
    void S11_aChipLeftOpenIsClosedWithItsLoop() throws Exception {
        on(
                PollerKind.EPOLL,
                () -> assertThat(open().input(0, InputOptions.defaults()).value())
                        .isFalse());
        assertThat(kernel.chipClosed).isTrue();
        assertThat(kernel.byNumber).isEmpty();
    }

    @Test
    void theChipsOfThisMachine() throws Exception {
        List<ChipInfo> chips = GpioChip.list();
        assumeThat(chips)
                .as("this machine has no GPIO chip: the real thing is not tested")
                .isNotEmpty();
        on(PollerKind.EPOLL, () -> {
            for (ChipInfo info : chips) {
                try (GpioChip chip = GpioChip.open(info.path())) {
                    assertThat(chip.info()).isEqualTo(info);
                    for (int i = 0; i < info.lines(); i++) {
                        assertThat(chip.lineInfo(i).line()).isEqualTo(i);
                    }
                }
            }
        });
    }
}
