package io.fastio.benchmarks.subject;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.benchmarks.subject.Subject.Service;
import io.fastio.http.HttpServer;
import io.fastio.stream.Server;
import io.fastio.stream.ServerOptions;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/** The servers of {@link FastioTasks}, each on a loop of its own on a thread of its own. */
final class FastioServers {
    private static final String LOOPBACK = "127.0.0.1";
    private static final int BUFFER_BYTES = 4_096;
    private static final byte[] HELLO = "hello\n".getBytes(StandardCharsets.US_ASCII);

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
            return server.port();
        });
    }

    static Service http() throws Exception {
        return serve(() -> HttpServer.builder((request, response) ->
                        response.contentType("text/plain").send(HELLO))
                .options(ServerOptions.defaults().backlog(4_096))
                .build()
                .listen(LOOPBACK, 0)
                .port());
    }

    private static Server start(Server.Handler handler) throws IOException {
        return Streams.startServer(
                handler, LOOPBACK, 0, ServerOptions.defaults().backlog(4_096));
    }

    private static Service serve(Callable<Integer> start) throws Exception {
        EventLoop loop = EventLoop.create();
        loop.start();
        int port = loop.createTask(start).get();
        return new Service(port, loop);
    }
}
