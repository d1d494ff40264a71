package io.fastio.benchmarks;

import java.util.List;

/** 100-byte ping-pong over many connections: requests per second, server CPU per request, latency. */
final class EchoBenchmark implements Benchmark {
    @Override
    public String name() {
        return "echo";
    }

    @Override
    public String description() {
        return "100-byte ping-pong, server on one core, client process on the other: requests/s, server CPU µs";
    }

    @Override
    public void run(Context context) throws Exception {
        // Netty epoll is measured always: it is the goal's reference.
        List<Contender> who = context.with(
                List.of(Contender.FASTIO, Contender.C_EPOLL, Contender.NETTY_EPOLL),
                List.of(
                        Contender.NETTY_NIO,
                        Contender.NETTY_IO_URING,
                        Contender.VERTX_LOOP,
                        Contender.VERTX_VIRTUAL_THREAD,
                        Contender.JDK,
                        Contender.ASYNCIO,
                        Contender.NODE));
        List<Integer> sizes = context.isShort() ? List.of(100) : List.of(1, 100, 1_000, 10_000);
        try (ServerDuel duel = new ServerDuel(context, name(), who, "echo 0 0 plain")) {
            for (int connections : sizes) {
                duel.run(
                        "connections=" + connections,
                        new Client(connections, Client.Mode.ECHO, context.pick(1_500, 700), 0));
            }
        }
    }
}
