import io.fastio.Asyncio;
import io.fastio.context.AsyncContext;
import io.fastio.context.AtTimeWorker;
import io.fastio.context.WhenPendingWorker;
import java.time.Duration;

// A robot's control loop that owns its thread and lends 5 ms of every 20 ms frame to fastio:
// ./fastio run examples/RobotFrame.java [FRAMES]
//
// In its share of the frame the loop serves what sensors, radio and timers brought; what does not fit waits for the next
// frame. The frame itself is never late because of it by more than the worker in progress.
final Duration FRAME = Duration.ofMillis(20);
final Duration SHARE = Duration.ofMillis(5);

double wanted = 1.0; // speed; workers and frame run on one thread: no lock
double speed;
int received;
int telemetry;

void main(String[] arguments) throws Exception {
    int frames = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100;
    try (AsyncContext context = AsyncContext.polled()) {
        var radio = new WhenPendingWorker(() -> {
            received++;
            wanted = received % 2 == 0 ? 1.0 : 0.5;
        });
        context.addWhenPendingWorker(radio);
        reportEverySecondFrame(context);
        var logging = context.loop().createTask(() -> {
            while (true) {
                Asyncio.afterMs(50); // a task of the same loop, with waits of its own
                telemetry++;
            }
        });
        Thread receiver = receive(context, radio, frames);

        long late = 0;
        long next = System.nanoTime();
        for (int i = 0; i < frames; i++) {
            speed += (wanted - speed) / 4; // the control law
            context.poll(SHARE);
            next += FRAME.toNanos();
            context.waitUntil(context.loop().time() + Math.max(0, next - System.nanoTime()));
            late = Math.max(late, System.nanoTime() - next);
        }
        receiver.join();
        logging.cancel();
        IO.println("%d frames, late by %.1f ms at most; %d commands, %d reports, speed near %.1f"
                .formatted(frames, late / 1e6, received, telemetry, speed));
    }
}

void reportEverySecondFrame(AsyncContext context) {
    var again = new AtTimeWorker[1];
    again[0] = new AtTimeWorker(() -> {
        telemetry++;
        context.addAtTimeWorker(again[0], FRAME.multipliedBy(2));
    });
    context.addAtTimeWorker(again[0], FRAME);
}

Thread receive(AsyncContext context, WhenPendingWorker radio, int frames) {
    return Thread.ofPlatform().daemon().start(() -> {
        try {
            for (int i = 0; i < frames; i++) {
                Thread.sleep(3);
                context.setWorkPending(radio); // marks that come before the next frame are one
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    });
}
