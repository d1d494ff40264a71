package io.fastio.gpio;

import static io.fastio.gpio.ButtonEvent.CLICK;
import static io.fastio.gpio.ButtonEvent.DOUBLE;
import static io.fastio.gpio.ButtonEvent.LONG;
import static io.fastio.gpio.ButtonEvent.PRESS;
import static io.fastio.gpio.ButtonEvent.RELEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.Task;
import io.fastio.device.Pin;
import io.fastio.device.SimulatedChip;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.QueueClosedException;
import io.fastio.time.LoopClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Switches, buttons and encoders, with scripted edges on virtual time. */
@Timeout(60)
final class InputsTest {
    private static final ContactOptions TO_SUPPLY = ContactOptions.defaults().closedHigh(true);

    private static void virtually(Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder().clock(LoopClock.virtual()).build()) {
            loop.run(test);
        }
    }

    private static long now() {
        return Asyncio.runningLoop().time() / 1_000_000;
    }

    /** Plays a script such as {@code "100 1 103 0"}: at 100 ms high, at 103 ms low. */
    private static void play(SimulatedChip chip, int line, String script) {
        String[] words = script.split(" ");
        for (int i = 0; i < words.length; i += 2) {
            Asyncio.sleepMs(Long.parseLong(words[i]) - now());
            chip.drive(line, words[i + 1].equals("1"));
        }
    }

    // =========================================================== switches

    /** When the switch changed, as {@code "100 closed"}. */
    private static List<String> switched(String script, ContactOptions options, boolean interrupts) throws Exception {
        List<String> seen = new ArrayList<>();
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(1, interrupts);
            Pin pin = Pin.of(chip, 0);
            pin.priority(true);
            try (Switch s = new Switch(pin, options)) {
                s.onClose(() -> seen.add(now() + " closed"));
                s.onOpen(() -> seen.add(now() + " open"));
                play(chip, 0, script);
                Asyncio.sleepMs(1_000);
            }
        });
        return seen;
    }

    @Test
    void aSwitchReactsAtOnceAndIgnoresBouncing() throws Exception {
        assertThat(switched("100 1 101 0 102 1 110 0 111 1 500 0 502 1 504 0", TO_SUPPLY, true))
                .containsExactly("100 closed", "500 open");
    }

    @Test
    void I8_aSwitchOnAChipThatHasToBeAskedWorksTheSame() throws Exception {
        assertThat(switched("100 1 120 0 140 1 500 0 520 1 540 0", TO_SUPPLY, false))
                .hasSize(2)
                .satisfies(seen -> {
                    assertThat(seen.getFirst()).matches("10[01] closed");
                    assertThat(seen.getLast()).matches("50[01] open");
                });
    }

    @Test
    void aChangeWhileDeafIsFoundAtItsEnd() throws Exception {
        assertThat(switched("100 1 130 0", TO_SUPPLY, true)).containsExactly("100 closed", "150 open");
    }

    @Test
    void aSpikeBetweenTwoLooksIsAChangeAndBack() throws Exception {
        assertThat(switched("100 1 100 0", TO_SUPPLY, true)).containsExactly("100 closed", "150 open");
    }

    @Test
    void withoutDebouncingEveryEdgeCounts() throws Exception {
        assertThat(switched("100 1 101 0 102 1 103 0", TO_SUPPLY.debounce(Duration.ZERO), true))
                .containsExactly("100 closed", "101 open", "102 closed", "103 open");
    }

    @Test
    void aSwitchToGroundIsClosedWhenLow() throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(1);
            chip.drive(0, true);
            Switch s = new Switch(Pin.of(chip, 0));
            assertThat(s.isClosed()).isFalse();
            s.awaitOpen();
            Task<?> waiter = Asyncio.createTask(s::awaitClosed);
            Asyncio.sleepMs(10);
            assertThat(waiter.done()).isFalse();
            chip.drive(0, false);
            waiter.await();
            assertThat(s.isClosed()).isTrue();
            s.awaitClosed();
            s.close();
            s.close();
            Asyncio.sleepMs(100);
            chip.drive(0, true);
            Asyncio.sleepMs(100);
            assertThat(s.isClosed()).as("nobody looks any more").isTrue();
        });
    }

    // =========================================================== buttons

    private static List<String> pressed(String script) throws Exception {
        List<String> seen = new ArrayList<>();
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(1);
            try (PushButton b = new PushButton(Pin.of(chip, 0), TO_SUPPLY)) {
                AsyncQueue<ButtonEvent> events = b.events();
                Asyncio.createTask(() -> {
                    while (true) {
                        ButtonEvent e = events.get();
                        seen.add(now() + " " + e);
                    }
                });
                play(chip, 0, script);
                Asyncio.sleepMs(5_000);
            }
        });
        return seen;
    }

    @Test
    void aShortPressIsAClickWhenNoSecondCanFollow() throws Exception {
        assertThat(pressed("100 1 103 0 105 1 300 0 302 1 303 0"))
                .containsExactly("100 PRESS", "300 RELEASE", "700 CLICK");
    }

    @Test
    void twoShortPressesAreADoubleAndNoClick() throws Exception {
        assertThat(pressed("100 1 200 0 400 1 500 0"))
                .containsExactly("100 PRESS", "200 RELEASE", "400 PRESS", "400 DOUBLE", "500 RELEASE");
    }

    @Test
    void twoPressesFarApartAreTwoClicks() throws Exception {
        assertThat(pressed("100 1 200 0 601 1 700 0"))
                .containsExactly("100 PRESS", "200 RELEASE", "600 CLICK", "601 PRESS", "700 RELEASE", "1100 CLICK");
    }

    @Test
    void aLongPressIsToldWhileItLastsAndIsNoClick() throws Exception {
        assertThat(pressed("100 1 2000 0")).containsExactly("100 PRESS", "1100 LONG", "2000 RELEASE");
    }

    @Test
    void threeShortPressesAreADoubleAndAClick() throws Exception {
        assertThat(pressed("100 1 200 0 300 1 400 0 500 1 600 0"))
                .containsExactly(
                        "100 PRESS",
                        "200 RELEASE",
                        "300 PRESS",
                        "300 DOUBLE",
                        "400 RELEASE",
                        "500 PRESS",
                        "600 RELEASE",
                        "1000 CLICK");
    }

    @Test
    void aLongSecondPressStaysADouble() throws Exception {
        assertThat(pressed("100 1 200 0 300 1 3000 0"))
                .containsExactly("100 PRESS", "200 RELEASE", "300 PRESS", "300 DOUBLE", "3000 RELEASE");
    }

    @Test
    void actionsRunAsTasks() throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(1);
            List<Object> seen = new ArrayList<>();
            PushButton b = new PushButton(Pin.of(chip, 0), TO_SUPPLY);
            for (ButtonEvent e : List.of(PRESS, RELEASE, CLICK, DOUBLE, LONG)) {
                b.on(e, () -> {
                    Asyncio.sleepMs(1); // a task may wait
                    seen.add(e);
                });
            }
            play(chip, 0, "100 1");
            Asyncio.yieldNow();
            assertThat(b.isPressed()).isTrue();
            play(chip, 0, "200 0 1000 1");
            Asyncio.sleepMs(1_500);
            assertThat(seen).containsExactly(PRESS, RELEASE, CLICK, PRESS, LONG);
            AsyncQueue<ButtonEvent> events = b.events();
            b.close();
            assertThatThrownBy(events::get).isInstanceOf(QueueClosedException.class);
            chip.drive(0, false);
            Asyncio.sleepMs(1_000);
            assertThat(seen).hasSize(5);
        });
    }

    @Test
    void aButtonHeldAtTheBeginningTellsItsReleaseOnly() throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(1);
            chip.drive(0, true);
            PushButton b = new PushButton(Pin.of(chip, 0), TO_SUPPLY);
            AsyncQueue<ButtonEvent> events = b.events();
            chip.drive(0, false);
            Asyncio.sleepMs(2_000);
            assertThat(events.size()).isEqualTo(1);
            assertThat(events.get()).isEqualTo(RELEASE);
        });
    }

    // =========================================================== encoders

    /** One detent: A leads when it goes forwards. */
    private static void turn(SimulatedChip chip, boolean forwards) {
        int first = forwards ? 0 : 1;
        int second = forwards ? 1 : 0;
        for (boolean level : new boolean[] {true, false}) {
            for (int line : new int[] {first, second}) {
                chip.drive(line, level);
                Asyncio.sleepMs(1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void anEncoderCountsBothWays(int stepsPerDetent) throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(2);
            try (RotaryEncoder e = new RotaryEncoder(Pin.of(chip, 0), Pin.of(chip, 1), stepsPerDetent, -1_000, 1_000)) {
                for (int i = 0; i < 5; i++) {
                    turn(chip, true);
                }
                assertThat(e.position()).isEqualTo(5 * 4 / stepsPerDetent);
                for (int i = 0; i < 8; i++) {
                    turn(chip, false);
                }
                assertThat(e.position()).isEqualTo(-3 * 4 / stepsPerDetent);
            }
        });
    }

    @Test
    void anEncoderThatBouncesCountsRight() throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(2);
            List<Integer> seen = new ArrayList<>();
            RotaryEncoder e = new RotaryEncoder(Pin.of(chip, 0), Pin.of(chip, 1)).onChange(seen::add);
            for (int detent = 0; detent < 3; detent++) {
                for (boolean level : new boolean[] {true, false}) {
                    for (int line = 0; line < 2; line++) {
                        for (int bounce = 0; bounce < 6; bounce++) {
                            chip.drive(line, level == (bounce % 2 == 0));
                            Asyncio.yieldNow();
                        }
                        chip.drive(line, level);
                        Asyncio.sleepMs(1);
                    }
                }
            }
            assertThat(e.position()).isEqualTo(3);
            assertThat(seen).containsExactly(1, 2, 3);
        });
    }

    @Test
    void anEncoderStopsAtItsLimitsAndWakesItsWaiters() throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(2);
            RotaryEncoder e = new RotaryEncoder(Pin.of(chip, 0), Pin.of(chip, 1), 4, -1, 2);
            Task<Integer> waiter = Asyncio.createTask(e::awaitChange);
            Task<Integer> leaver = Asyncio.createTask(e::awaitChange);
            Asyncio.yieldNow();
            leaver.cancel();
            assertThatThrownBy(leaver::await).isInstanceOf(CancelledError.class);
            turn(chip, true);
            assertThat(waiter.await()).isEqualTo(1);
            for (int i = 0; i < 5; i++) {
                turn(chip, true);
            }
            assertThat(e.position()).isEqualTo(2);
            turn(chip, false);
            assertThat(e.position()).as("back at once, not after five").isEqualTo(1);
            e.position(-1);
            turn(chip, false);
            assertThat(e.position()).isEqualTo(-1);
            assertThatThrownBy(() -> e.position(3)).isInstanceOf(IllegalArgumentException.class);
            e.close();
            turn(chip, true);
            assertThat(e.position()).isEqualTo(-1);
        });
    }

    @Test
    void S13_wrongSettingsAreRefused() throws Exception {
        virtually(() -> {
            SimulatedChip chip = new SimulatedChip(2);
            Pin a = Pin.of(chip, 0);
            Pin b = Pin.of(chip, 1);
            assertThatThrownBy(() -> new RotaryEncoder(a, b, 3, 0, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> new RotaryEncoder(a, b, 4, 2, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> new KeyMatrix(List.of(), List.of(a))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> TO_SUPPLY.longTime(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> InputOptions.defaults().debounce(Duration.ofHours(2)))
                    .isInstanceOf(IllegalArgumentException.class);
        });
    }
}
