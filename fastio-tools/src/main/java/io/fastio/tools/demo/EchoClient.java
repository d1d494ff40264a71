package io.fastio.tools.demo;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The client of the echo server, in a process of its own: sends a line, waits for it to come back, takes the time, and
 * sends the next one after a pause of random length. It does not sleep between request and reply, because the kernel
 * would need tens of microseconds to wake it, and these would be charged to the server; with one processor only it must.
 *
 * <p>Orders, one a line on standard input: {@code connect PORT}, answered by {@code connected} after some round trips;
 * {@code measure MILLIS}, answered by {@code echoes} and the nanoseconds of each round
 * trip, and {@code gap} and those for which it was kept from running at most.
 */
final class EchoClient {
    private static final byte[] REQUEST = "a line of text, to come back as it is\n".getBytes(StandardCharsets.US_ASCII);
    private static final boolean SPIN = Runtime.getRuntime().availableProcessors() > 1;
    private static final long AWAKE_BEFORE = TimeUnit.MICROSECONDS.toNanos(300);
    private static final long WARM_UP_LIMIT = TimeUnit.SECONDS.toNanos(20);

    private final SocketChannel channel;
    private final ByteBuffer out = ByteBuffer.allocateDirect(REQUEST.length).put(REQUEST);
    private final ByteBuffer in = ByteBuffer.allocateDirect(REQUEST.length);
    private final Gaps gaps = new Gaps();
    private final SplittableRandom random = new SplittableRandom(1);

    private EchoClient(int port) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    public static void main(String[] args) throws IOException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        EchoClient client = null;
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("connect")) {
                if (client != null) {
                    client.channel.close();
                }
                client = new EchoClient(Integer.parseInt(words[1]));
                client.warmUp();
                System.out.println(ChildJvm.answer("connected"));
            } else if (client != null) {
                System.out.println(ChildJvm.answer("echoes", client.measure(Long.parseLong(words[1]))));
                System.out.println(ChildJvm.answer("gap", client.gaps.takeLongest()));
            }
        }
    }

    private void warmUp() throws IOException {
        long end = System.nanoTime() + WARM_UP_LIMIT;
        for (int i = 0; i < Load.WARM_UP_REQUESTS; i++) {
            if (roundTrip(end) < 0) {
                throw new IOException("the echo server has not answered for " + WARM_UP_LIMIT + " ns");
            }
        }
    }

    private long[] measure(long millis) throws IOException {
        Samples samples = new Samples();
        gaps.takeLongest();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (true) {
            pause(random.nextLong(Load.LONGEST_PAUSE.toNanos()));
            long time = roundTrip(end);
            if (time < 0) {
                return samples.toArray();
            }
            samples.add(time);
        }
    }

    /** Sleeps for most of the pause, and is wide awake when it ends. */
    private static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        LockSupport.parkNanos(nanos - AWAKE_BEFORE);
        while (System.nanoTime() - end < 0) {
            relax();
        }
    }

    /** Nanoseconds from request to reply, or -1 if there is none by {@code end}. */
    private long roundTrip(long end) throws IOException {
        out.flip();
        in.clear();
        long start = gaps.start();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        while (in.hasRemaining()) {
            if (channel.read(in) < 0) {
                throw new EOFException("the echo server has closed the connection");
            }
            if (gaps.look() - end >= 0) {
                return -1;
            }
            if (in.hasRemaining()) {
                relax();
            }
        }
        return gaps.look() - start;
    }

    private static void relax() {
        if (SPIN) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(1);
        }
    }
}
