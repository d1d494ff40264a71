package io.fastio.benchmarks.subject;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.benchmarks.subject.Subject.Service;
import io.fastio.stream.Server;
import io.fastio.stream.ServerOptions;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/** The servers of {@link FastioTasks}, each on a loop of its own on a thread of its own. */
final class FastioServers {
    private static final String LOOPBACK = "127.0.0.1";
    private static final int BUFFER_BYTES = 4_096;
    private static final byte[] HELLO =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n"
                    .getBytes(StandardCharsets.US_ASCII);

    private FastioServers() {}

    static Service echo(int hogs, long hogMicros, boolean priority, boolean checkpoints) throws Exception {
        return serve(() -> {
            Server server = start((reader, writer) -> {
                reader.readPriority(priority);
                writer.writePriority(priority);
                byte[] buffer = new byte[BUFFER_BYTES];
                for (int n = reader.readInto(buffer); n >= 0; n = reader.readInto(buffer)) {
                    writer.write(buffer, 0, n);
                    writer.drain();
                }
            });
            for (int i = 0; i < hogs; i++) {
                var _ = Asyncio.createTask(() -> {
                    while (true) {
                        FastioTasks.block(hogMicros * 1_000, checkpoints);
                        Asyncio.yieldNow();
                    }
                });
            }
            return server;
        });
    }

    static Service http() throws Exception {
        return serve(() -> start(FastioServers::hello));
    }

    private static void hello(StreamReader reader, StreamWriter writer) throws IOException {
        boolean more = true;
        while (more && reader.readLine(StandardCharsets.ISO_8859_1) != null) {
            String header = reader.readLine(StandardCharsets.ISO_8859_1);
            while (header != null && !header.isEmpty()) {
                more &= !header.equalsIgnoreCase("Connection: close");
                header = reader.readLine(StandardCharsets.ISO_8859_1);
            }
            writer.write(HELLO);
            writer.drain();
        }
    }

    private static Server start(Server.Handler handler) throws IOException {
        return Streams.startServer(
                handler, LOOPBACK, 0, ServerOptions.defaults().backlog(4_096));
    }

    private static Service serve(Callable<Server> start) throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        int port = loop.createTask(() -> start.call().port()).get();
        return new Service(port, loop);
    }
}
