import static io.fastio.Asyncio.run;
import static io.fastio.Asyncio.sleepMs;
import static io.fastio.Asyncio.taskGroup;
import static io.fastio.Asyncio.waitFor;

import io.fastio.serial.SerialOptions;
import io.fastio.serial.SerialPort;
import io.fastio.stream.Stream;
import io.fastio.sync.Lock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

// Asks a measuring instrument, with time limit, repeat and cancel: ./fastio run examples/Instrument.java PORT
//
// Two tasks share the instrument. Each request carries a number and so does its answer: one that comes too late, after
// its request was given up, is recognised and dropped.
final class Instrument {
    private final Stream port;
    private final Duration patience;
    private final Lock lock = new Lock();
    private int number;
    int repeats;

    Instrument(Stream port, Duration patience) {
        this.port = port;
        this.patience = patience;
    }

    /** Asks once, and twice more if there is no answer. A cancel at any moment leaves the instrument usable. */
    String ask(String question) throws Exception {
        try (var held = lock.hold()) {
            for (int attempt = 1; ; attempt++) {
                int mine = ++number;
                port.write("%d %s\n".formatted(mine, question));
                try {
                    return waitFor(() -> answerTo(mine), patience);
                } catch (TimeoutException e) {
                    if (attempt == 3) {
                        throw new IOException("no answer to " + question, e);
                    }
                    repeats++;
                }
            }
        }
    }

    private String answerTo(int wanted) throws IOException {
        while (true) {
            String line = port.readLine();
            if (line == null) {
                throw new IOException("the instrument is gone");
            }
            if (line.startsWith(wanted + " ")) {
                return line.substring(line.indexOf(' ') + 1);
            }
        }
    }
}

void main(String[] arguments) throws Exception {
    if (arguments.length == 0) {
        IO.println("which port? For example: ./fastio run examples/Instrument.java /dev/ttyUSB0");
        return;
    }
    run(() -> {
        try (var port = SerialPort.open(arguments[0], SerialOptions.of("115200 8N1"))) {
            var instrument = new Instrument(port, Duration.ofMillis(200));
            IO.println(instrument.ask("IDENTIFY"));
            return taskGroup(group -> {
                var volts = group.createTask("volts", () -> measure(instrument, "VOLT"));
                var amperes = group.createTask("amperes", () -> measure(instrument, "AMPERE"));
                IO.println("%.3f W".formatted(volts.await() * amperes.await()));

                var slow = group.createTask("slow", () -> instrument.ask("SLOW"));
                sleepMs(20);
                IO.println("cancelled: " + slow.cancel());
                IO.println(instrument.ask("STATUS") + ", " + (instrument.repeats > 0 ? "repeated" : "never repeated"));
                try {
                    instrument.ask("NOTHING");
                } catch (IOException e) {
                    IO.println(e.getMessage());
                }
                return true;
            });
        }
    });
}

/** The mean of five measurements. */
double measure(Instrument instrument, String what) throws Exception {
    double sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += Double.parseDouble(instrument.ask(what));
        sleepMs(5);
    }
    return sum / 5;
}
