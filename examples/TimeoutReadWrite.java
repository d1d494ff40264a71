import static io.fastio.Asyncio.*;

import io.fastio.stream.Stream;
import java.util.concurrent.TimeoutException;

// Gives up on a device that is slow: ./fastio run examples/TimeoutReadWrite.java
//
// Reads of a device driver (PulseDevice.java) that has something every 100 ms, with 60 ms of patience. What timed out can be
// tried again at once, and no message is lost by it.
void main() throws Exception {
    run(() -> {
        Stream stream = new Stream(new PulseDevice(100));
        int timeouts = 0;
        int messages = 0;
        while (messages < 3) {
            try {
                IO.println(waitForMs(() -> stream.readLine(), 60));
                messages++;
            } catch (TimeoutException e) {
                timeouts++;
            }
        }
        IO.println("gave up now and then: " + (timeouts > 0));
        try {
            stream.write("slow");
            waitForMs(() -> stream.flush(), 60); // a byte every 100 ms
        } catch (TimeoutException e) {
            IO.println("still to be written: " + (stream.pendingBytes() > 0));
        }
        stream.flush();
        IO.println("left: " + stream.pendingBytes());
        stream.close();
    });
}
