package io.fastio.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/** The client of client.c for machines without gcc: same arguments, same output, one spinning selector. */
final class JavaClient {
    private static final int ECHO_BYTES = 100;
    private static final int BUFFER_BYTES = 4_096;
    private static final int QUANTILES = 2_000;
    private static final int MAX_SAMPLES = 1 << 24;
    private static final double TICKS_PER_SECOND = 100;

    private final int port;
    private final Client.Mode mode;
    private final long gapNanos;
    private final ByteBuffer request;
    private final Selector selector = Selector.open();
    private final SplittableRandom random = new SplittableRandom(7);
    private final float[] samples = new float[MAX_SAMPLES];
    private int count;
    private long errors;
    private long measureFrom;

    private JavaClient(int port, Client.Mode mode, long gapMicros) throws IOException {
        this.port = port;
        this.mode = mode;
        gapNanos = gapMicros * 1_000;
        String head = "GET / HTTP/1.1\r\nHost: localhost\r\n";
        request = ByteBuffer.wrap(
                switch (mode) {
                    case ECHO -> new byte[ECHO_BYTES];
                    case HTTP -> (head + "\r\n").getBytes(StandardCharsets.US_ASCII);
                    case HTTP_ONCE -> (head + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
                });
    }

    public static void main(String[] args) throws IOException {
        JavaClient client =
                new JavaClient(Integer.parseInt(args[0]), Client.Mode.valueOf(args[2]), Long.parseLong(args[5]));
        client.run(
                Integer.parseInt(args[1]),
                Long.parseLong(args[3]) * 1_000_000,
                Long.parseLong(args[4]) * 1_000_000,
                Path.of("/proc", args[6], "stat"));
    }

    private final class Connection {
        private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);
        private SocketChannel channel;
        private long sent;
        private long due;
        private int answers;

        Connection() throws IOException {
            channel = open();
        }

        private SocketChannel open() throws IOException {
            SocketChannel opened = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            opened.setOption(StandardSocketOptions.TCP_NODELAY, true);
            opened.configureBlocking(false);
            opened.register(selector, SelectionKey.OP_READ, this);
            return opened;
        }

        void send() throws IOException {
            in.clear();
            due = 0;
            sent = System.nanoTime();
            if (channel.write(request.duplicate()) != request.remaining()) {
                errors++;
            }
        }

        void reopen() throws IOException {
            channel.close();
            long start = System.nanoTime();
            channel = open();
            send();
            sent = start;
        }

        void readable() throws IOException {
            if (channel.read(in) < 0) {
                errors++;
                reopen();
                return;
            }
            if (!complete()) {
                return;
            }
            long now = System.nanoTime();
            boolean counts = gapNanos == 0 || answers++ > 0;
            if (counts && now - measureFrom >= 0 && count < MAX_SAMPLES) {
                samples[count++] = (now - sent) / 1_000f;
            }
            if (mode == Client.Mode.HTTP_ONCE) {
                reopen();
            } else if (gapNanos > 0) {
                due = now + random.nextLong(2 * gapNanos);
            } else {
                send();
            }
        }

        private boolean complete() {
            if (mode == Client.Mode.ECHO) {
                return in.position() >= ECHO_BYTES;
            }
            String text = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
            int body = text.indexOf("\r\n\r\n");
            if (body < 0) {
                return false;
            }
            String head = text.substring(0, body).toLowerCase(Locale.ROOT);
            int length = head.indexOf("content-length:");
            if (!head.startsWith("http/1.1 200") || length < 0) {
                errors++;
                return true;
            }
            int end = head.indexOf('\r', length);
            String number = head.substring(length + "content-length:".length(), end < 0 ? head.length() : end);
            return text.length() >= body + 4 + Integer.parseInt(number.strip());
        }
    }

    private void run(int connections, long warmUpNanos, long nanos, Path serverStat) throws IOException {
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            all.add(new Connection());
        }
        long now = System.nanoTime();
        measureFrom = now + warmUpNanos;
        long end = measureFrom + nanos;
        double cpuBefore = Double.NaN;
        for (Connection connection : all) {
            connection.send();
        }
        for (; now - end < 0; now = System.nanoTime()) {
            if (Double.isNaN(cpuBefore) && now - measureFrom >= 0) {
                cpuBefore = cpuMicros(serverStat);
            }
            selector.selectNow(this::ready);
            for (Connection connection : all) {
                if (gapNanos > 0 && connection.due != 0 && connection.due - now <= 0) {
                    connection.send();
                }
            }
        }
        print(cpuMicros(serverStat) - cpuBefore, (now - measureFrom) / 1e9);
    }

    private void ready(SelectionKey key) {
        try {
            ((Connection) key.attachment()).readable();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void print(double cpuMicros, double seconds) {
        Arrays.sort(samples, 0, count);
        StringBuilder text = new StringBuilder("= rps=" + count / seconds + " errors=" + errors + " requests=" + count);
        if (count > 0) {
            text.append(" cpu_us=").append(cpuMicros / count);
            text.append(" p50_us=").append(samples[(count - 1) / 2]);
            text.append(" p99_us=").append(samples[(int) ((count - 1) * 99L / 100)]);
            text.append(" max_us=").append(samples[count - 1]).append("\n#");
            int quantiles = Math.min(count, QUANTILES);
            for (long i = 1; i <= quantiles; i++) {
                text.append(' ').append(samples[(int) (i * count / quantiles) - 1]);
            }
        }
        System.out.println(text + "\n.");
    }

    /** User and system time of a process; NaN where there is no /proc. */
    private static double cpuMicros(Path stat) throws IOException {
        if (!Files.isReadable(stat)) {
            return Double.NaN;
        }
        String text = Files.readString(stat);
        String[] words = text.substring(text.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(words[11]) + Long.parseLong(words[12])) * 1e6 / TICKS_PER_SECOND;
    }
}
