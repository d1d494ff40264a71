import static io.fastio.Asyncio.run;
import static io.fastio.Asyncio.taskGroup;

import io.fastio.serial.SerialOptions;
import io.fastio.serial.SerialPort;
import io.fastio.stream.LimitExceededException;
import io.fastio.stream.StreamReader;
import io.fastio.sync.Message;
import java.time.Duration;
import java.util.Optional;

// Serves the position of a GPS receiver to many tasks: ./fastio run examples/GpsPosition.java PORT [FIXES]
//
// One task reads NMEA sentences and drops what noise has damaged; whoever is interested waits for the next fix,
// or looks at the latest one.
record Fix(String time, double latitude, double longitude, int satellites) {}

final Message<Fix> position = new Message<>();
int damaged;

void main(String[] arguments) throws Exception {
    if (arguments.length == 0) {
        IO.println("which port? For example: ./fastio run examples/GpsPosition.java /dev/ttyACM0");
        return;
    }
    int wanted = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10;
    run(() -> {
        try (var port = SerialPort.open(arguments[0], SerialOptions.of("9600 8N1"))) {
            port.limit(200); // a sentence has at most 82 bytes
            return taskGroup(group -> {
                group.createTask("receiver", () -> receive(port));
                group.createTask("watchdog", this::watch);
                var odometer = group.createTask("odometer", () -> measure(wanted));
                var log = group.createTask("log", () -> log(wanted));
                log.await();
                IO.println("moved %.0f m; %d damaged sentences".formatted(odometer.await(), damaged));
                group.cancel();
                return true;
            });
        }
    });
}

void receive(StreamReader port) throws Exception {
    while (true) {
        try {
            String sentence = port.readLine();
            parse(sentence).ifPresent(this::publish);
        } catch (LimitExceededException e) {
            damaged++;
            port.read(200); // no line end in all that: noise
        }
    }
}

/** Wakes everybody who waits; the latest fix stays for those who come later. */
void publish(Fix fix) {
    position.set(fix);
    position.event().clear();
}

/** The fix in a GGA sentence; empty for other sentences, damaged ones, and while there is no fix. */
Optional<Fix> parse(String sentence) {
    int begin = sentence.lastIndexOf('$');
    int end = sentence.lastIndexOf('*');
    if (begin < 0 || end < begin || !checksum(sentence.substring(begin + 1, end)).equals(sentence.substring(end + 1))) {
        damaged++;
        return Optional.empty();
    }
    String[] field = sentence.substring(begin + 1, end).split(",");
    if (!field[0].endsWith("GGA") || field.length < 8 || field[6].equals("0")) {
        return Optional.empty();
    }
    return Optional.of(
            new Fix(field[1], degrees(field[2], field[3]), degrees(field[4], field[5]), Integer.parseInt(field[7])));
}

String checksum(String body) {
    return "%02X".formatted(body.chars().reduce(0, (a, b) -> a ^ b));
}

/** 4807.038 N is 48 degrees and 7.038 minutes. */
double degrees(String value, String direction) {
    double v = Double.parseDouble(value);
    double whole = Math.floor(v / 100);
    double degrees = whole + (v - 100 * whole) / 60;
    return direction.equals("S") || direction.equals("W") ? -degrees : degrees;
}

Void log(int fixes) {
    for (int i = 0; i < fixes; i++) {
        Fix f = position.await();
        IO.println("%s %.5f %.5f, %d satellites".formatted(f.time(), f.latitude(), f.longitude(), f.satellites()));
    }
    return null;
}

/** How far it went, in metres, on a flat earth: good enough between two fixes. */
double measure(int fixes) {
    double metres = 0;
    Fix last = position.await();
    for (int i = 1; i < fixes; i++) {
        Fix next = position.await();
        double north = (next.latitude() - last.latitude()) * 111_195;
        double east = (next.longitude() - last.longitude()) * 111_195 * Math.cos(Math.toRadians(next.latitude()));
        metres += Math.hypot(north, east);
        last = next;
    }
    return metres;
}

void watch() {
    while (true) {
        if (position.awaitWithin(Duration.ofSeconds(5)) == null) {
            IO.println("no fix for 5 seconds");
        }
    }
}
