package io.fastio.benchmarks;

import java.util.List;

/** The smallest web service: {@code hello}, with connections kept alive and with one request each. */
final class HttpBenchmark implements Benchmark {
    private static final int CONNECTIONS = 50;

    @Override
    public String name() {
        return "http";
    }

    @Override
    public String description() {
        return "HTTP hello on 50 connections, kept alive or one request each, also by wrk and ab -k: requests/s, longest request";
    }

    @Override
    public void run(Context context) throws Exception {
        List<Contender> who = context.with(
                List.of(Contender.FASTIO, Contender.NETTY_EPOLL),
                List.of(
                        Contender.NETTY_NIO,
                        Contender.NETTY_IO_URING,
                        Contender.VERTX_LOOP,
                        Contender.VERTX_VIRTUAL_THREAD,
                        Contender.JDK,
                        Contender.ASYNCIO,
                        Contender.NODE));
        try (ServerDuel duel = new ServerDuel(context, name(), who, "http")) {
            long millis = context.pick(1_500, 700);
            duel.run("keep-alive", new Client(CONNECTIONS, Client.Mode.HTTP, millis, 0));
            duel.run("one-shot", new Client(CONNECTIONS, Client.Mode.HTTP_ONCE, millis, 0));
            for (HttpTool.Program program : HttpTool.Program.values()) {
                if (program.isInstalled()) {
                    duel.run(program.command(), new HttpTool(program, CONNECTIONS, context.pick(2_000, 1_000)));
                } else {
                    context.note(program.command() + ": not installed here");
                }
            }
        }
    }
}
