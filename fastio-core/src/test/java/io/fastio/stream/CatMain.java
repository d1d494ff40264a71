package io.fastio.stream;

import io.fastio.EventLoop;

/** Puts the lines of its standard input into brackets, in a process of its own. */
final class CatMain {
    private CatMain() {}

    /** Copies until the end of its input; the argument is the poller. */
    public static void main(String[] args) throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .poller(EventLoop.PollerKind.valueOf(args[0]))
                .build()) {
            loop.run(() -> {
                Stream out = Streams.stdout();
                int lines = 1;
                for (String l : Streams.stdin().lines()) {
                    out.write("<" + l + ">\n");
                    lines++;
                }
                out.write("<end>\n");
                out.close();
                out.waitClosed();
                Stream err = Streams.stderr();
                err.write(lines + " lines\n");
                err.flush();
            });
        }
    }
}
