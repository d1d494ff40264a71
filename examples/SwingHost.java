import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.sync.AsyncQueue;
import java.awt.EventQueue;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import javax.swing.Timer;
import javax.swing.table.DefaultTableModel;

// A user interface whose event thread drives fastio, so that tasks touch the models of Swing without a lock:
// ./fastio run examples/SwingHost.java
//
// A timer of the toolkit polls every 5 ms, for 2 ms at most, which leaves the rest to painting and to clicks. It needs no
// screen, as it shows nothing.
final DefaultTableModel table = new DefaultTableModel(new Object[] {"price"}, 0);

void main() throws Exception {
    System.setProperty("java.awt.headless", "true");
    var loop = EventLoop.create();
    var prices = new AsyncQueue<Integer>(4);
    var filled = loop.createTask(() -> {
        for (int price : prices) {
            table.addRow(new Object[] {price}); // carried by the event thread: nothing else of Swing runs meanwhile
        }
        return table.getRowCount();
    });
    loop.createTask(() -> {
        for (int price = 1; price <= 10; price++) {
            prices.put(price);
            Asyncio.sleepMs(3);
        }
        prices.close();
    });
    var over = new CountDownLatch(1);
    int[] polls = new int[1];
    EventQueue.invokeAndWait(() -> {
        var timer = new Timer(5, null);
        timer.addActionListener(event -> {
            polls[0]++;
            loop.poll(Duration.ofMillis(2));
            if (filled.done()) {
                timer.stop();
                over.countDown();
            }
        });
        timer.start();
    });
    over.await();
    loop.close();
    IO.println("%d rows after %s polls".formatted(filled.resultNow(), polls[0] > 2 ? "several" : "too few"));
}
