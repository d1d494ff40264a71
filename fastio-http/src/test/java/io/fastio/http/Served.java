package io.fastio.http;

import io.fastio.EventLoop;
import io.fastio.LoopError;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** A server on a loop of its own thread, at a free port of the loopback interface. */
final class Served implements AutoCloseable {
    final List<LoopError> reported = new CopyOnWriteArrayList<>();
    final EventLoop loop;
    final HttpServer server;
    final int port;

    Served(HttpHandler handler) throws Exception {
        this(handler, b -> b);
    }

    Served(HttpHandler handler, Function<HttpServer.Builder, HttpServer.Builder> options) throws Exception {
        this(EventLoop.builder(), handler, options);
    }

    Served(EventLoop.Builder loopOptions, HttpHandler handler, Function<HttpServer.Builder, HttpServer.Builder> options)
            throws Exception {
        loop = loopOptions.exceptionHandler(reported::add).build();
        loop.start();
        server = call(() -> options.apply(HttpServer.builder(handler)).build().listen("127.0.0.1", 0));
        port = server.port();
    }

    /** Runs it in a task of the loop. */
    <T> T call(Callable<T> body) throws ExecutionException, TimeoutException {
        try {
            return loop.createTask(body).get(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** What was reported, once it is that much: a report is made when the loop comes to it. */
    List<LoopError> reports(int count) throws InterruptedException {
        for (int i = 0; i < 1000 && reported.size() < count; i++) {
            Thread.sleep(10);
        }
        return List.copyOf(reported);
    }

    RawClient client() throws IOException {
        return new RawClient(port);
    }

    /** Closes the server and waits for its connections; whether all of them ended by themselves. */
    boolean stop(Duration limit) throws ExecutionException, TimeoutException {
        return call(() -> {
            server.close();
            return server.waitClosed(limit);
        });
    }

    @Override
    public void close() throws ExecutionException, TimeoutException {
        stop(Duration.ofMillis(200));
        loop.close();
    }
}
