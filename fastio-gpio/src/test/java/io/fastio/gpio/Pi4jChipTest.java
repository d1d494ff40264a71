package io.fastio.gpio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.pi4j.io.gpio.digital.Digital;
import com.pi4j.io.gpio.digital.DigitalInput;
import com.pi4j.io.gpio.digital.DigitalOutput;
import com.pi4j.io.gpio.digital.DigitalState;
import com.pi4j.io.gpio.digital.DigitalStateChangeEvent;
import com.pi4j.io.gpio.digital.DigitalStateChangeListener;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The adapter against Pi4J's interfaces; none of Pi4J's own providers is at hand. */
@Timeout(60)
final class Pi4jChipTest {
    /** What stands behind a Pi4J input or output. */
    private static final class Wire {
        volatile DigitalState state = DigitalState.LOW;
        volatile boolean refuses;
        final List<DigitalStateChangeListener> listeners = new CopyOnWriteArrayList<>();

        <T extends Digital<?, ?, ?>> T as(Class<T> type) {
            InvocationHandler h = (self, method, arguments) -> switch (method.getName()) {
                case "state" -> {
                    if (arguments == null) {
                        yield state;
                    }
                    if (refuses) {
                        throw new com.pi4j.io.exception.IOException("refused");
                    }
                    state = (DigitalState) arguments[0];
                    yield self;
                }
                case "addListener" -> {
                    listeners.addAll(List.of((DigitalStateChangeListener[]) arguments[0]));
                    yield self;
                }
                case "removeListener" -> {
                    listeners.removeAll(List.of((DigitalStateChangeListener[]) arguments[0]));
                    yield self;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            };
            return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, h));
        }

        @SuppressWarnings({"rawtypes", "unchecked"}) // Pi4J's listeners take the raw event
        void change(DigitalInput source, DigitalState to) {
            state = to;
            DigitalStateChangeEvent e = new DigitalStateChangeEvent(source, to);
            for (DigitalStateChangeListener l : listeners) {
                l.onDigitalStateChange(e);
            }
        }
    }

    private static void really(io.fastio.Action test) throws Exception {
        try (EventLoop loop = EventLoop.create()) {
            loop.run(() -> Asyncio.waitFor(test, Duration.ofSeconds(20)));
        }
    }

    @Test
    void changesOnPi4jsThreadsWakeTasks() throws Exception {
        really(() -> {
            Wire wire = new Wire();
            DigitalInput input = wire.as(DigitalInput.class);
            try (Pi4jChip chip = new Pi4jChip();
                    Pin pin = chip.add(17, input)) {
                List<Edge> seen = new ArrayList<>();
                try (PinChange changes = new PinChange(pin, seen::add)) {
                    Task<?> rising = Asyncio.createTask(pin::awaitRising);
                    Asyncio.yieldNow();
                    Asyncio.offload(() -> {
                        wire.change(input, DigitalState.LOW); // no change
                        wire.change(input, DigitalState.HIGH);
                        wire.change(input, DigitalState.HIGH); // told twice
                        for (int i = 0; i < 10; i++) {
                            wire.change(input, DigitalState.LOW);
                            wire.change(input, DigitalState.HIGH);
                        }
                        return true;
                    });
                    rising.await();
                    Asyncio.sleepMs(5);
                    assertThat(pin.value()).isTrue();
                    assertThat(seen).hasSize(21).last().isEqualTo(Edge.RISING);
                }
                assertThatThrownBy(() -> pin.set(true)).isInstanceOf(IOException.class);
                assertThatThrownBy(() -> chip.add(17, input)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> Pin.of(chip, 18)).isInstanceOf(IllegalArgumentException.class);
                wire.state = DigitalState.UNKNOWN;
                assertThatThrownBy(pin::value).isInstanceOf(IOException.class);
            }
            assertThat(wire.listeners).isEmpty();
        });
    }

    @Test
    void outputsAreSet() throws Exception {
        really(() -> {
            Wire wire = new Wire();
            try (Pi4jChip chip = new Pi4jChip();
                    Pin pin = chip.add(4, wire.as(DigitalOutput.class))) {
                pin.set(true);
                assertThat(wire.state).isEqualTo(DigitalState.HIGH);
                assertThat(pin.value()).isTrue();
                pin.set(false);
                assertThat(wire.state).isEqualTo(DigitalState.LOW);
                wire.refuses = true;
                assertThatThrownBy(() -> pin.set(true))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("refused");
            }
        });
    }
}
