import static io.fastio.Asyncio.*;

import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import io.fastio.device.SimulatedChip;

// Reacts to a pin: ./fastio run examples/PinCallback.java [PRESSES]
//
// Another thread plays a button on line 3 of a simulated chip. A callback runs for each edge, before whatever else the loop
// has to do, and a task waits for the button in the plain way.
void main(String[] arguments) throws Exception {
    int presses = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 3;
    run(() -> {
        SimulatedChip chip = new SimulatedChip(8);
        try (Pin button = Pin.of(chip, 3);
                PinChange change = new PinChange(button, this::changed)) {
            button.priority(true);
            Thread finger = Thread.ofPlatform().daemon().unstarted(() -> press(chip, presses));
            finger.start();
            for (int i = 1; i <= presses; i++) {
                button.awaitFalling();
                IO.println("let go for the " + i + ". time");
            }
        }
    });
}

void changed(Edge edge) {
    IO.println(edge == Edge.RISING ? "pressed" : "released");
}

void press(SimulatedChip chip, int times) {
    try {
        for (int i = 0; i < times; i++) {
            Thread.sleep(50);
            chip.drive(3, true);
            Thread.sleep(50);
            chip.drive(3, false);
        }
    } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
    }
}
