package io.fastio.stream;

import io.fastio.EventLoop;

/** An echo server in a process of its own: prints its port, then every report of its exception handler. */
final class EchoMain {
    private EchoMain() {}

    /** Serves until it is killed; the argument is the poller. */
    public static void main(String[] args) throws Exception {
        EventLoop loop = EventLoop.builder()
                .poller(EventLoop.PollerKind.valueOf(args[0]))
                .exceptionHandler(e -> System.out.println("report " + e.message()))
                .build();
        loop.run(() -> {
            Server s = Streams.startServer(
                    (r, w) -> {
                        byte[] b = new byte[100];
                        for (int n; (n = r.readInto(b)) > 0; ) {
                            w.write(b, 0, n);
                        }
                    },
                    "127.0.0.1",
                    0);
            System.out.println("port " + s.port());
            s.serveForever();
        });
    }
}
