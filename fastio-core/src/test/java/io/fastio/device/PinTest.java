package io.fastio.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.Task;
import io.fastio.time.LoopClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Pins of a chip that reports changes, and of one that has to be looked at. */
@ParameterizedClass
@ValueSource(booleans = {true, false})
final class PinTest {
    @Parameter
    boolean interrupts;

    private final List<LoopError> errors = new CopyOnWriteArrayList<>();

    private void run(Action body) throws Exception {
        try (EventLoop loop = EventLoop.builder().exceptionHandler(errors::add).build()) {
            loop.run(() -> Asyncio.waitForMs(body, 30_000));
        }
    }

    private static void letRun(Task<?> t) {
        for (int i = 0; i < 3 && !t.done(); i++) {
            Asyncio.yieldNow();
        }
    }

    @Test
    void I8_severalTasksWaitForDifferentEventsOfOnePin() throws Exception {
        run(() -> {
            SimulatedChip chip = new SimulatedChip(4, interrupts);
            Pin pin = Pin.of(chip, 2);
            List<String> log = new ArrayList<>();
            Task<Void> high = Asyncio.createTask(() -> {
                pin.awaitHigh();
                log.add("high");
            });
            Task<Void> rising = Asyncio.createTask(() -> {
                pin.awaitRising();
                log.add("rising");
            });
            Task<Void> falling = Asyncio.createTask(() -> {
                pin.awaitFalling();
                log.add("falling");
            });
            Task<Void> secondRising = Asyncio.createTask(() -> {
                pin.awaitRising();
                log.add("rising too");
            });
            Task<Void> low = Asyncio.createTask(() -> {
                pin.awaitLow();
                log.add("low at once");
            });
            low.await();
            letRun(secondRising);
            chip.drive(2, true);
            high.await();
            rising.await();
            secondRising.await();
            assertThat(falling.done()).isFalse();
            chip.drive(2, false);
            falling.await();
            assertThat(log).containsExactly("low at once", "high", "rising", "rising too", "falling");
        });
    }

    @Test
    void levelsThatHoldAlreadyDoNotWaitAndEdgesDo() throws Exception {
        run(() -> {
            SimulatedChip chip = new SimulatedChip(1, interrupts);
            Pin pin = Pin.of(chip, 0);
            pin.set(true);
            assertThat(pin.value()).isTrue();
            pin.awaitHigh();
            Task<Void> rising = Asyncio.createTask(pin::awaitRising);
            Asyncio.sleepMs(10);
            assertThat(rising.done()).isFalse();
            chip.drive(0, false);
            Asyncio.sleepMs(10);
            assertThat(rising.done()).isFalse();
            chip.drive(0, true);
            rising.await();
        });
    }

    @Test
    void C2_aCancelledWaitLeavesTheOthersAndNoTrace() throws Exception {
        run(() -> {
            SimulatedChip chip = new SimulatedChip(1, interrupts);
            Pin pin = Pin.of(chip, 0);
            Task<Void> a = Asyncio.createTask(pin::awaitRising);
            Task<Void> b = Asyncio.createTask(pin::awaitRising);
            letRun(b);
            a.cancel();
            assertThatThrownBy(a::await).isInstanceOf(CancelledError.class);
            chip.drive(0, true);
            b.await();
            chip.drive(0, false);
            Asyncio.sleepMs(5);
            assertThat(errors).isEmpty();
        });
    }

    @Test
    void closingThePinEndsItsWaits() throws Exception {
        run(() -> {
            SimulatedChip chip = new SimulatedChip(1, interrupts);
            Pin pin = Pin.of(chip, 0);
            Task<Void> t = Asyncio.createTask(pin::awaitFalling);
            letRun(t);
            pin.close();
            pin.close();
            assertThatThrownBy(t::await).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(pin::awaitHigh).isInstanceOf(IllegalStateException.class);
            chip.drive(0, true);
        });
    }

    @Test
    void aPinDrivenByAnotherThreadWakesItsTask() throws Exception {
        run(() -> {
            SimulatedChip chip = new SimulatedChip(1, interrupts);
            Pin pin = Pin.of(chip, 0);
            Thread button = Thread.ofPlatform().unstarted(() -> chip.drive(0, true));
            Task<Void> t = Asyncio.createTask(pin::awaitRising);
            letRun(t);
            button.start();
            t.await();
            button.join();
        });
    }

    @Test
    void everyEdgeIsCalledBackInOrderHoweverFastTheyCome() throws Exception {
        org.junit.jupiter.api.Assumptions.assumeTrue(interrupts, "a chip that is looked at misses short pulses");
        run(() -> {
            SimulatedChip chip = new SimulatedChip(1);
            Pin pin = Pin.of(chip, 0);
            List<Edge> edges = new ArrayList<>();
            PinChange change = new PinChange(pin, edges::add);
            int n = 1_001;
            Thread other = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < n; i++) {
                    chip.drive(0, i % 2 == 0);
                }
            });
            while (edges.size() < n) {
                Asyncio.sleepMs(1);
            }
            other.join();
            Asyncio.sleepMs(5);
            assertThat(edges).hasSize(n);
            for (int i = 0; i < n; i++) {
                assertThat(edges.get(i)).isEqualTo(i % 2 == 0 ? Edge.RISING : Edge.FALLING);
            }
            change.close();
            chip.drive(0, false);
            Asyncio.sleepMs(5);
            assertThat(edges).hasSize(n);
        });
    }

    @Test
    void callbacksRunBeforeNormalTasksAndMayThrow() throws Exception {
        run(() -> {
            SimulatedChip chip = new SimulatedChip(1, interrupts);
            Pin pin = Pin.of(chip, 0);
            pin.priority(true);
            List<Edge> edges = new ArrayList<>();
            new PinChange(pin, e -> {
                edges.add(e);
                throw new IllegalArgumentException("callback");
            });
            Asyncio.sleepMs(5);
            chip.drive(0, true);
            Asyncio.sleepMs(20);
            chip.drive(0, false);
            Asyncio.sleepMs(20);
            assertThat(edges).containsExactly(Edge.RISING, Edge.FALLING);
            for (int i = 0; i < 400 && errors.size() < 2; i++) {
                Asyncio.sleepMs(5); // a report is a callback of its own, after this task if the machine is busy
            }
            assertThat(errors).hasSize(2).allMatch(e -> e.exception() instanceof IllegalArgumentException);
        });
    }

    @Test
    void aChipThatFailsIsTheErrorOfItsCaller() throws Exception {
        PinChip broken = new PinChip() {
            @Override
            public boolean read(int line) throws IOException {
                throw new IOException("no chip");
            }

            @Override
            public void write(int line, boolean high) {}

            @Override
            public boolean listen(int line, Listener l) {
                return true;
            }

            @Override
            public void unlisten(int line, Listener l) {}
        };
        run(() -> {
            assertThatThrownBy(() -> Pin.of(broken, 0))
                    .isInstanceOf(IOException.class)
                    .hasMessage("no chip");
            assertThatThrownBy(() -> Pin.of(new SimulatedChip(2, interrupts), 2))
                    .isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void aMillisTimerEndsBeforeNormalTasks_S6() throws Exception {
        EventLoop loop = EventLoop.builder().clock(LoopClock.virtual()).build();
        try (loop) {
            loop.run(() -> {
                List<String> order = new ArrayList<>();
                MillisTimer timer = new MillisTimer();
                Asyncio.createTask(() -> {
                    Asyncio.sleepMs(10);
                    order.add("normal");
                });
                Asyncio.createTask(() -> {
                    timer.await(10);
                    order.add("urgent");
                });
                Asyncio.sleepMs(20);
                assertThat(order).containsExactly("urgent", "normal");
                long before = Asyncio.runningLoop().time();
                timer.await(7);
                assertThat(Asyncio.runningLoop().time() - before)
                        .isEqualTo(Duration.ofMillis(7).toNanos());
                timer.await(0);
                timer.await(-1);
                Task<Void> t = Asyncio.createTask(() -> timer.await(Long.MAX_VALUE));
                Asyncio.sleepMs(1);
                t.cancel();
                assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
            });
        }
    }
}
