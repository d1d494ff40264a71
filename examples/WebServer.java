import io.fastio.Asyncio;
import io.fastio.http.HttpServer;
import io.fastio.http.Routes;
import io.fastio.http.WebSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/**
 * A small web server: routes, a counter that needs no lock, and a WebSocket echo. Without arguments it is its own client;
 * {@code ./fastio run examples/WebServer.java 8080} serves until Ctrl-C, for curl, ab, wrk and browsers.
 */
final class WebServer {
    private static int visits;

    public static void main(String[] arguments) throws Exception {
        Routes routes = new Routes()
                .get("/", (request, response) -> response.send("hello\n"))
                .get("/visits", (request, response) -> response.send(++visits + "\n")) // one loop: no lock needed
                .get("/add/{a}/{b}", (request, response) -> {
                    int a = Integer.parseInt(String.valueOf(request.pathParameter("a")));
                    int b = Integer.parseInt(String.valueOf(request.pathParameter("b")));
                    response.send(a + b + "\n");
                })
                .get("/echo", (request, response) -> {
                    WebSocket ws = WebSocket.accept(request, response);
                    for (WebSocket.Message m = ws.receive(); m != null; m = ws.receive()) {
                        ws.send(m.text());
                    }
                });
        Asyncio.run(() -> {
            int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 0;
            HttpServer server = HttpServer.start(routes, "localhost", port);
            System.out.println("serving at http://localhost:" + server.port() + "/");
            if (port != 0) {
                server.serveForever();
                return;
            }
            try (HttpClient client = HttpClient.newHttpClient()) {
                for (String path : new String[] {"/", "/visits", "/visits", "/add/20/22", "/nothing"}) {
                    URI uri = URI.create("http://localhost:" + server.port() + path);
                    var answer = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
                    System.out.println(path + ": " + answer.statusCode() + ' ' + answer.body().strip());
                }
            }
            server.close();
            System.out.println("ended by itself: " + server.waitClosed());
        });
    }
}
