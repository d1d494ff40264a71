import static io.fastio.Asyncio.createTask;
import static io.fastio.Asyncio.gather;
import static io.fastio.Asyncio.run;
import static io.fastio.Asyncio.sleepMs;

// Two tasks on one loop: ./fastio run examples/Hello.java [NAME]
//
// A task is plain blocking code. While it waits, the others run; between two waits it has the loop to itself.
void main(String[] arguments) throws Exception {
    String name = arguments.length > 0 ? arguments[0] : "world";
    run(() -> {
        var greeting = createTask(() -> {
            sleepMs(200);
            return "hello, " + name;
        });
        IO.println("waiting");

        // Runs both at once, and returns their results in this order.
        List<String> results = gather(greeting::await, () -> count(3));
        results.forEach(IO::println);
    });
}

String count(int n) {
    for (int i = 1; i <= n; i++) {
        IO.println("counting " + i);
        sleepMs(50);
    }
    return "counted to " + n;
}
