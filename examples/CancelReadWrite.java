import static io.fastio.Asyncio.*;

import io.fastio.CancelledError;
import io.fastio.Task;
import io.fastio.stream.Stream;

// Cancels tasks that wait for a device: ./fastio run examples/CancelReadWrite.java
//
// One task reads from a device driver and another writes to it (PulseDevice.java). Cancelling the reader ends its wait at
// once, in the middle of it; the writer does not notice.
void main() throws Exception {
    run(() -> {
        PulseDevice device = new PulseDevice(30);
        Stream stream = new Stream(device);
        Task<Void> reader = createTask(() -> {
            try {
                while (true) {
                    IO.println("read " + stream.readLine());
                }
            } catch (CancelledError e) {
                IO.println("the reader was cancelled");
                throw e;
            }
        });
        Task<Void> writer = createTask(() -> {
            stream.write("fastio");
            stream.flush();
            IO.println("wrote " + device.written());
        });
        sleepMs(75);
        long start = System.nanoTime();
        reader.cancel();
        try {
            reader.await();
        } catch (CancelledError e) {
            IO.println("its wait ended at once: " + (System.nanoTime() - start < 20_000_000));
        }
        writer.await();
        stream.close();
    });
}
