import static io.fastio.Asyncio.createTask;
import static io.fastio.Asyncio.gather;
import static io.fastio.Asyncio.run;
import static io.fastio.Asyncio.sleepMs;

import io.fastio.sync.AsyncQueue;

// A fast producer and two slow consumers: ./fastio run examples/ProducerConsumer.java [ITEMS]
//
// The queue has room for four items, so the producer is held back to the speed at which they are taken.
void main(String[] arguments) throws Exception {
    int items = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 12;
    run(() -> {
        var queue = new AsyncQueue<Integer>(4);
        var producer = createTask("producer", () -> {
            for (int item = 1; item <= items; item++) {
                queue.put(item); // waits while the queue is full
                IO.println("put " + item + ", " + queue.size() + " in the queue");
            }
            queue.close(); // the consumers get what is left, and then their loops end
        });
        List<Integer> sums = gather(() -> consume("anna", queue), () -> consume("bert", queue));
        producer.await();
        IO.println("sum of all items: " + sums.stream().mapToInt(Integer::intValue).sum());
    });
}

int consume(String name, AsyncQueue<Integer> queue) {
    int sum = 0;
    for (int item : queue) {
        sleepMs(20); // the work
        sum += item;
        IO.println("  " + name + " has done " + item);
    }
    return sum;
}
