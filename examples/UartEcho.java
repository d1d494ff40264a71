import static io.fastio.Asyncio.*;

import io.fastio.Task;
import io.fastio.stream.Pty;
import io.fastio.stream.Stream;

// Talks over a serial line in both directions at once: ./fastio run examples/UartEcho.java [LINES]
//
// The line is a pseudo terminal: two ends, as between two machines. The far end echoes what it gets, in capitals; the near
// end sends without waiting for the echo. Linux only. For a real line open it by its path, as Streams.openFile does.
void main(String[] arguments) throws Exception {
    int lines = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    run(() -> {
        try (Pty line = Pty.open()) {
            IO.println("a serial line of our own");
            createTask("far end", () -> echo(line.controller()));
            Stream near = line.terminal();
            near.priority(true);
            Task<Void> sender = createTask(() -> {
                for (int i = 1; i <= lines; i++) {
                    near.write("hello " + i + "\n");
                    near.drain();
                    sleepMs(10);
                }
            });
            for (int i = 1; i <= lines; i++) {
                IO.println("got " + near.readLine());
            }
            sender.await();
        }
    });
}

void echo(Stream far) throws IOException {
    for (String l : far.lines()) {
        far.write(l.toUpperCase(Locale.ROOT) + "\n");
    }
}
