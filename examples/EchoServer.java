import static io.fastio.Asyncio.gather;
import static io.fastio.Asyncio.run;

import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import io.fastio.stream.Streams;

// Sends back every line it gets: ./fastio run examples/EchoServer.java [PORT]
//
// With a port it serves until Ctrl-C: try it with "nc 127.0.0.1 PORT" from as many terminals as you like. Without one it
// takes a free port, is its own client three times over, and ends.
final String HOST = "127.0.0.1";

void main(String[] arguments) throws Exception {
    run(() -> {
        int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 0; // 0: any that is free
        Server server = Streams.startServer(this::echo, HOST, port);
        IO.println("serving on port " + server.port());
        if (port != 0) {
            server.serveForever();
        }
        List<String> replies = gather(
                () -> ask(server, "one"), //
                () -> ask(server, "two"),
                () -> ask(server, "three"));
        IO.println("replies: " + replies);
        server.close();
        server.waitClosed();
    });
}

/** Serves one connection, in a task of its own; when it returns the connection is closed. */
void echo(StreamReader in, StreamWriter out) throws IOException {
    for (String line : in.lines()) {
        out.write(line + "\n");
        out.drain(); // waits while the client is slow to read
    }
}

String ask(Server server, String question) throws IOException {
    try (Stream stream = Streams.openConnection(HOST, server.port())) {
        stream.write(question + "\n");
        return stream.readLine();
    }
}
