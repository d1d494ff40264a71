package io.fastio.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A handler that goes by method and path. A segment {@code {name}} matches any one segment that is not empty, see {@link HttpRequest#pathParameter}; a
 * last segment {@code *} matches all that is left. Of several that match, the one that was added first answers. HEAD is
 * answered by what answers GET; a path that only other methods have is answered with 405, an unknown one with 404.
 *
 * <pre>{@code
 * Routes routes = new Routes()
 *         .get("/", (request, response) -> response.send("hello\n"))
 *         .post("/pins/{pin}", (request, response) -> set(request.pathParameter("pin"), request.text()));
 * }</pre>
 *
 * Add routes before it serves; then any number of servers may share it.
 */
public final class Routes implements HttpHandler {
    private record Route(String method, List<String> pattern, HttpHandler handler) {}

    private final List<Route> routes = new ArrayList<>();

    /** No routes yet. */
    public Routes() {}

    /** {@link #on} with GET. */
    public Routes get(String pattern, HttpHandler handler) {
        return on("GET", pattern, handler);
    }

    /** {@link #on} with POST. */
    public Routes post(String pattern, HttpHandler handler) {
        return on("POST", pattern, handler);
    }

    /** {@link #on} with PUT. */
    public Routes put(String pattern, HttpHandler handler) {
        return on("PUT", pattern, handler);
    }

    /** {@link #on} with DELETE. */
    public Routes delete(String pattern, HttpHandler handler) {
        return on("DELETE", pattern, handler);
    }

    /**
     * Adds a route.
     *
     * @param pattern beginning with a slash
     */
    public Routes on(String method, String pattern, HttpHandler handler) {
        if (!pattern.startsWith("/")) {
            throw new IllegalArgumentException("a pattern begins with a slash: " + pattern);
        }
        routes.add(new Route(
                Objects.requireNonNull(method, "method"),
                List.of(pattern.split("/", -1)),
                Objects.requireNonNull(handler, "handler")));
        return this;
    }

    @Override
    public void handle(HttpRequest request, HttpResponse response) throws Exception {
        String method = request.method();
        List<String> path = List.of(request.path().split("/", -1));
        TreeSet<String> others = new TreeSet<>();
        for (Route r : routes) {
            Map<String, String> parameters = match(r.pattern, path);
            if (parameters == null) {
                continue;
            }
            if (r.method.equals(method) || r.method.equals("GET") && method.equals("HEAD")) {
                request.pathParameters(parameters);
                r.handler.handle(request, response);
                return;
            }
            others.add(r.method);
        }
        if (others.isEmpty()) {
            throw new HttpException(404, "there is nothing at this path");
        }
        if (others.contains("GET")) {
            others.add("HEAD");
        }
        response.status(405).header("Allow", String.join(", ", others)).send("this path knows other methods\n");
    }

    private static @Nullable Map<String, String> match(List<String> pattern, List<String> path) {
        Map<String, String> parameters = Map.of();
        for (int i = 0; i < pattern.size(); i++) {
            String p = pattern.get(i);
            if (p.equals("*") && i == pattern.size() - 1 && path.size() >= pattern.size()) {
                return with(parameters, "*", String.join("/", path.subList(i, path.size())));
            }
            if (i >= path.size()) {
                return null;
            }
            if (p.startsWith("{") && p.endsWith("}") && !path.get(i).isEmpty()) {
                parameters = with(parameters, p.substring(1, p.length() - 1), path.get(i));
            } else if (!p.equals(path.get(i))) {
                return null;
            }
        }
        return path.size() == pattern.size() ? parameters : null;
    }

    private static Map<String, String> with(Map<String, String> before, String name, String value) {
        Map<String, String> m = new HashMap<>(before);
        m.put(name, value);
        return m;
    }
}
