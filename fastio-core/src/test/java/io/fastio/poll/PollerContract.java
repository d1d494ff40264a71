package io.fastio.poll;

import static io.fastio.poll.Poller.READ;
import static io.fastio.poll.Poller.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.fastio.poll.Poller.Registration;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What every poller must do. The thread of a test is the loop thread. A test that hangs, as a lost wake makes it, fails
 * from a second thread: epoll does not heed the interrupt by which JUnit ends tests otherwise.
 */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class PollerContract {
    static final long MILLIS = 1_000_000;
    /** Long enough for loopback on a loaded machine; only tests that fail wait so long. */
    static final long LONG = 10_000 * MILLIS;
    /** Long enough for something wrong to show. */
    static final long SHORT = 20 * MILLIS;

    Poller poller;
    private final List<AutoCloseable> toClose = new ArrayList<>();

    abstract Poller open() throws IOException;

    @BeforeEach
    void openPoller() throws IOException {
        poller = open();
    }

    @AfterEach
    void closeAll() throws Exception {
        poller.close();
        for (AutoCloseable c : toClose) {
            c.close();
        }
    }

    /** Collects what is reported. */
    static final class Seen implements Poller.Target {
        int reports;
        int events;

        @Override
        public void ready(int bits) {
            reports++;
            events |= bits;
        }

        int take() {
            int e = events;
            events = 0;
            reports = 0;
            return e;
        }
    }

    <T extends AutoCloseable> T kept(T c) {
        toClose.add(c);
        return c;
    }

    static <T extends SelectableChannel> T nonBlocking(T ch) throws IOException {
        ch.configureBlocking(false);
        return ch;
    }

    /** Two ends of a TCP connection; ours does not block, the peer's does. */
    record Pair(SocketChannel ours, SocketChannel peer) {
        void sendFromPeer(int bytes) throws IOException {
            ByteBuffer b = ByteBuffer.allocate(bytes);
            while (b.hasRemaining()) {
                peer.write(b);
            }
        }

        void resetFromPeer() throws IOException {
            peer.setOption(StandardSocketOptions.SO_LINGER, 0);
            peer.close();
        }
    }

    ServerSocketChannel server() throws IOException {
        return kept(ServerSocketChannel.open()).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
    }

    Pair pair() throws IOException {
        try (ServerSocketChannel s = ServerSocketChannel.open()) {
            s.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel peer = kept(SocketChannel.open(s.getLocalAddress()));
            return new Pair(nonBlocking(kept(s.accept())), peer);
        }
    }

    /** Polls until everything wanted was seen; fails by time. */
    void pollFor(Seen seen, int wanted) throws IOException {
        long start = System.nanoTime();
        while ((seen.events & wanted) != wanted) {
            assertThat(System.nanoTime() - start)
                    .as("waiting for readiness %s", wanted)
                    .isLessThan(LONG);
            poller.poll(100 * MILLIS);
        }
    }

    /** Polls for a short while, in which nothing may be reported. */
    void pollQuietly(Seen... all) throws IOException {
        for (Seen s : all) {
            s.take();
        }
        long start = System.nanoTime();
        int polls = 0;
        while (System.nanoTime() - start < SHORT) {
            assertThat(poller.poll(SHORT)).isZero();
            polls++;
        }
        assertThat(polls).as("polls that ended early for no reason").isLessThan(20);
        for (Seen s : all) {
            assertThat(s.reports).isZero();
        }
    }

    static int readAll(SocketChannel ch) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(64 * 1024);
        int total = 0;
        while (true) {
            int n = ch.read(b.clear());
            if (n <= 0) {
                return total;
            }
            total += n;
        }
    }

    static void fill(SocketChannel ch) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(64 * 1024);
        while (ch.write(b.clear()) > 0) {
            // until the kernel takes no more
        }
    }

    // Readiness

    @Test
    void reportsArrivingDataOncePerArm() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(READ);
        pollQuietly(seen);
        p.sendFromPeer(10);
        pollFor(seen, READ);
        assertThat(seen.take() & (READ | WRITE)).isEqualTo(READ);
        pollQuietly(seen);
    }

    @Test
    void remembersReadinessThatCameWhileNobodyWaited() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        p.sendFromPeer(10);
        pollQuietly(seen);
        r.arm(READ);
        pollFor(seen, READ);
    }

    @Test
    void reportsWhatWasReadyBeforeItWasRegistered() throws IOException {
        Pair p = pair();
        p.sendFromPeer(10);
        Seen seen = new Seen();
        poller.register(p.ours, seen).arm(READ | WRITE);
        pollFor(seen, READ | WRITE);
    }

    @Test
    void reportsAgainWhatWasNotUsedUp() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        p.sendFromPeer(100);
        for (int i = 0; i < 10; i++) {
            r.arm(READ);
            pollFor(seen, READ);
            seen.take();
            assertThat(p.ours.read(ByteBuffer.allocate(10))).isEqualTo(10);
        }
        assertThat(p.ours.read(ByteBuffer.allocate(10))).isZero();
        r.drained(READ);
        r.arm(READ);
        pollQuietly(seen);
    }

    @Test
    void drainedReadinessComesAnew() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        for (int i = 0; i < 100; i++) {
            r.arm(READ);
            p.sendFromPeer(100);
            pollFor(seen, READ);
            seen.take();
            int n = readAll(p.ours);
            r.drained(READ);
            while (n < 100) { // a report may come before all of it has
                r.arm(READ);
                pollFor(seen, READ);
                seen.take();
                n += readAll(p.ours);
                r.drained(READ);
            }
            assertThat(n).isEqualTo(100);
        }
        r.arm(READ);
        pollQuietly(seen);
    }

    @Test
    void shortReadLosesNothing() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        ByteBuffer b = ByteBuffer.allocate(1000);
        for (int i = 0; i < 200; i++) {
            p.sendFromPeer(100);
            int got = 0;
            while (got < 100) {
                r.arm(READ);
                pollFor(seen, READ);
                seen.take();
                got += p.ours.read(b.clear());
                r.shortRead();
            }
        }
    }

    @Test
    void reportsRoomToWriteAfterTheBufferWasFull() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(WRITE);
        pollFor(seen, WRITE);
        fill(p.ours);
        r.drained(WRITE);
        seen.take();
        r.arm(WRITE);
        pollQuietly(seen);
        ByteBuffer b = ByteBuffer.allocate(1 << 20);
        long start = System.nanoTime();
        while ((seen.events & WRITE) == 0) {
            assertThat(System.nanoTime() - start).isLessThan(LONG);
            p.peer.read(b.clear());
            poller.poll(0);
        }
        assertThat(p.ours.write(ByteBuffer.allocate(1))).isEqualTo(1);
    }

    @Test
    void reportsConnectionsToAccept() throws IOException {
        ServerSocketChannel s = nonBlocking(server());
        Seen seen = new Seen();
        Registration r = poller.register(s, seen);
        r.arm(READ);
        pollQuietly(seen);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 5; i++) {
                kept(SocketChannel.open(s.getLocalAddress()));
            }
            int accepted = 0;
            while (accepted < 5) {
                r.arm(READ);
                pollFor(seen, READ);
                seen.take();
                for (SocketChannel c; (c = s.accept()) != null; accepted++) {
                    kept(c);
                }
                r.drained(READ);
            }
        }
    }

    @Test
    void F77_connectionsThatCouldNotBeAcceptedAreReportedAgain() throws IOException {
        ServerSocketChannel s = nonBlocking(server());
        Seen seen = new Seen();
        Registration r = poller.register(s, seen);
        kept(SocketChannel.open(s.getLocalAddress()));
        for (int i = 0; i < 3; i++) {
            r.arm(READ);
            pollFor(seen, READ);
            seen.take();
        }
        assertThat(kept(s.accept())).isNotNull();
    }

    @Test
    void reportsTheEndOfAConnect() throws IOException {
        ServerSocketChannel s = server();
        SocketChannel c = nonBlocking(kept(SocketChannel.open()));
        Seen seen = new Seen();
        Registration r = poller.register(c, seen); // before the connect: the kernel calls such a socket hung up
        poller.poll(0);
        if (!c.connect(s.getLocalAddress())) {
            while (!c.finishConnect()) {
                r.drained(WRITE);
                r.arm(WRITE);
                pollFor(seen, WRITE);
                seen.take();
            }
        }
        assertThat(c.isConnected()).isTrue();
        kept(s.accept()).write(ByteBuffer.allocate(1));
        r.drained(READ);
        r.arm(READ);
        pollFor(seen, READ);
        seen.take();
        r.arm(WRITE);
        pollFor(seen, WRITE);
    }

    @Test
    void I5_reportsARefusedConnect() throws IOException {
        InetSocketAddress nobody;
        try (ServerSocketChannel s = ServerSocketChannel.open()) {
            nobody = (InetSocketAddress) s.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .getLocalAddress();
        }
        SocketChannel c = nonBlocking(kept(SocketChannel.open()));
        Seen seen = new Seen();
        Registration r = poller.register(c, seen);
        assertThatThrownBy(() -> {
                    if (!c.connect(nobody)) {
                        r.arm(WRITE);
                        pollFor(seen, WRITE);
                        c.finishConnect();
                    }
                })
                .isInstanceOf(ConnectException.class);
        r.close();
    }

    @Test
    void servesDatagramsAndTheirErrors() throws IOException {
        DatagramChannel a = nonBlocking(kept(DatagramChannel.open(StandardProtocolFamily.INET))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        DatagramChannel b = nonBlocking(kept(DatagramChannel.open(StandardProtocolFamily.INET)));
        b.connect(a.getLocalAddress());
        a.connect(b.getLocalAddress());
        Seen seen = new Seen();
        Registration r = poller.register(a, seen);
        r.arm(READ);
        pollQuietly(seen);
        b.write(ByteBuffer.allocate(3));
        b.write(ByteBuffer.allocate(4));
        pollFor(seen, READ);
        assertThat(a.read(ByteBuffer.allocate(100))).isEqualTo(3);
        r.shortRead(); // each datagram is a short read, and another one waits
        seen.take();
        r.arm(READ);
        pollFor(seen, READ);
        assertThat(a.read(ByteBuffer.allocate(100))).isEqualTo(4);
        assertThat(a.read(ByteBuffer.allocate(100))).isZero();
        r.drained(READ);
        b.close();
        a.write(ByteBuffer.allocate(1)); // to a port where nobody listens any more
        r.arm(READ);
        pollFor(seen, READ);
        assertThatThrownBy(() -> a.read(ByteBuffer.allocate(100))).isInstanceOf(PortUnreachableException.class);
        assertThat(a.read(ByteBuffer.allocate(100))).isZero();
        r.drained(READ);
        r.arm(READ);
        pollQuietly(seen); // the error is gone, and does not make the loop spin
    }

    @Test
    void servesUnixSockets(@TempDir Path dir) throws IOException {
        try (ServerSocketChannel s = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            s.bind(UnixDomainSocketAddress.of(dir.resolve("s")));
            SocketChannel peer = kept(SocketChannel.open(s.getLocalAddress()));
            SocketChannel ours = nonBlocking(kept(s.accept()));
            Seen seen = new Seen();
            Registration r = poller.register(ours, seen);
            r.arm(READ);
            pollQuietly(seen);
            peer.write(ByteBuffer.allocate(5));
            pollFor(seen, READ);
            assertThat(readAll(ours)).isEqualTo(5);
            r.drained(READ);
            seen.take();
            r.arm(READ);
            peer.close();
            pollFor(seen, READ);
            assertThat(ours.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void servesPipes() throws IOException {
        Pipe pipe = Pipe.open();
        Pipe.SourceChannel source = nonBlocking(kept(pipe.source()));
        Pipe.SinkChannel sink = nonBlocking(kept(pipe.sink()));
        Seen in = new Seen();
        Seen out = new Seen();
        Registration reading = poller.register(source, in);
        Registration writing = poller.register(sink, out);
        reading.arm(READ);
        writing.arm(WRITE);
        pollFor(out, WRITE);
        sink.write(ByteBuffer.allocate(7));
        pollFor(in, READ);
        in.take();
        assertThat(source.read(ByteBuffer.allocate(100))).isEqualTo(7);
        assertThat(source.read(ByteBuffer.allocate(100))).isZero();
        reading.drained(READ);
        reading.arm(READ);
        pollQuietly(in, out);
        assertThatThrownBy(() -> reading.arm(WRITE)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> writing.arm(READ)).isInstanceOf(IllegalArgumentException.class);
    }

    // Ends and errors

    @Test
    void F70_theEndOfTheStreamIsReported() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(READ);
        pollQuietly(seen);
        p.peer.shutdownOutput();
        pollFor(seen, READ);
        assertThat(p.ours.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        // Half closed: the other direction works, and its waits are not disturbed.
        fill(p.ours);
        r.drained(WRITE);
        seen.take();
        r.arm(WRITE);
        pollQuietly(seen);
    }

    @Test
    void F76_dataAndTheEndTogetherAreBothReported() throws IOException {
        for (int i = 0; i < 50; i++) {
            Pair p = pair();
            Seen seen = new Seen();
            Registration r = poller.register(p.ours, seen);
            r.arm(READ);
            p.sendFromPeer(100);
            p.peer.close();
            int got = 0;
            while (true) {
                pollFor(seen, READ);
                seen.take();
                int n = p.ours.read(ByteBuffer.allocate(1000));
                if (n < 0) {
                    break;
                }
                assertThat(n).as("a report of the end only").isPositive();
                got += n;
                r.shortRead();
                r.arm(READ);
            }
            assertThat(got).isEqualTo(100);
            r.close();
        }
    }

    @Test
    void F76_anEndThatComesBetweenReportAndReadIsReported() throws Exception {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(READ);
        p.sendFromPeer(100);
        pollFor(seen, READ);
        p.peer.close();
        Thread.sleep(5); // so that the end has arrived; without it the test passes too, but proves less
        poller.poll(0); // learns of it while nothing is armed
        seen.take();
        assertThat(p.ours.read(ByteBuffer.allocate(1000))).isEqualTo(100);
        r.shortRead();
        r.arm(READ);
        pollFor(seen, READ);
        assertThat(p.ours.read(ByteBuffer.allocate(1000))).isEqualTo(-1);
    }

    @Test
    void urgentDataDoesNotHideWhatIsBehindIt() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        p.sendFromPeer(10);
        p.peer.socket().sendUrgentData(1);
        p.sendFromPeer(10);
        int got = 0;
        while (got < 20) {
            r.arm(READ);
            pollFor(seen, READ);
            seen.take();
            int n = p.ours.read(ByteBuffer.allocate(1000));
            if (n == 0) {
                r.drained(READ);
            } else {
                got += n;
                r.shortRead();
            }
        }
    }

    @Test
    void I4_aResetWakesBothSidesOnce() throws IOException {
        Pair p = pair();
        fill(p.ours);
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(READ | WRITE);
        poller.poll(0);
        seen.take();
        r.drained(READ | WRITE);
        r.arm(READ | WRITE);
        p.resetFromPeer();
        pollFor(seen, READ | WRITE);
        pollQuietly(seen);
        assertThatThrownBy(() -> readAll(p.ours)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> p.ours.write(ByteBuffer.allocate(1))).isInstanceOf(IOException.class);
    }

    // Two directions

    @Test
    void F58_disarmingOneDirectionLeavesTheOther() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(READ | WRITE);
        r.disarm(READ);
        p.sendFromPeer(1);
        pollFor(seen, WRITE);
        pollQuietly(seen);
        r.arm(READ);
        pollFor(seen, READ);
    }

    @Test
    void C2_aDisarmedRegistrationIsNotReported() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        p.sendFromPeer(1);
        r.arm(READ);
        pollFor(seen, READ);
        r.arm(READ); // owed at once, as nothing was read
        r.disarm(READ);
        pollQuietly(seen);
        r.disarm(READ | WRITE);
        r.arm(READ);
        pollFor(seen, READ);
    }

    @Test
    void armedByATargetIsReportedInALaterPoll() throws IOException {
        Pair p = pair();
        int[] reports = {0};
        Registration[] r = {null};
        r[0] = poller.register(p.ours, events -> {
            reports[0]++;
            r[0].arm(WRITE);
        });
        r[0].arm(WRITE);
        for (int i = 1; i <= 5; i++) {
            assertThat(poller.poll(LONG)).isEqualTo(1);
            assertThat(reports[0]).isEqualTo(i);
        }
    }

    // Closing

    @Test
    void I4_aRegistrationClosedInTheBatchIsNotReported() throws IOException {
        Pair one = pair();
        Pair two = pair();
        int[] reports = {0};
        Registration[] r = new Registration[2];
        Poller.Target closer = events -> {
            reports[0]++;
            r[0].close();
            r[1].close();
        };
        r[0] = poller.register(one.ours, closer);
        r[1] = poller.register(two.ours, closer);
        r[0].arm(WRITE);
        r[1].arm(WRITE);
        pollUntilReported();
        assertThat(reports[0]).isEqualTo(1);
        assertThat(poller.poll(SHORT)).isZero();
    }

    @Test
    void aChannelMayBeRegisteredAnewInTheBatchThatClosedIt() throws IOException {
        Pair p = pair();
        Seen anew = new Seen();
        Registration[] r = new Registration[2];
        r[0] = poller.register(p.ours, events -> {
            r[0].close();
            try {
                r[1] = poller.register(p.ours, anew);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            r[1].arm(READ);
        });
        r[0].arm(WRITE);
        pollUntilReported();
        pollQuietly(anew);
        p.sendFromPeer(1);
        pollFor(anew, READ);
        r[1].close();
        r[1] = poller.register(p.ours, anew);
        anew.take();
        r[1].arm(READ);
        pollFor(anew, READ);
    }

    private void pollUntilReported() throws IOException {
        long start = System.nanoTime();
        while (poller.poll(100 * MILLIS) == 0) {
            assertThat(System.nanoTime() - start).isLessThan(LONG);
        }
    }

    @Test
    void I4_aReusedDescriptorDoesNotGetTheEventsOfTheClosedOne() throws IOException {
        // Two connections with data; whichever is reported first closes both and opens new ones in their place, which
        // get
        // the same descriptors while the batch still holds an event of the other old one.
        for (int round = 0; round < 20; round++) {
            Pair[] old = {pair(), pair()};
            old[0].sendFromPeer(1);
            old[1].sendFromPeer(1);
            Seen fresh = new Seen();
            Registration[] r = new Registration[4];
            List<Pair> replaced = new ArrayList<>();
            Poller.Target replacer = events -> {
                try {
                    for (int i = 0; i < 2; i++) {
                        r[i].close();
                        old[i].ours.close();
                    }
                    for (int i = 2; i < 4; i++) {
                        Pair p = pair();
                        replaced.add(p);
                        r[i] = poller.register(p.ours, fresh);
                        r[i].arm(READ);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            };
            r[0] = poller.register(old[0].ours, replacer);
            r[1] = poller.register(old[1].ours, replacer);
            poller.poll(0);
            r[0].arm(READ);
            r[1].arm(READ);
            pollUntilReported();
            assertThat(replaced).hasSize(2);
            pollQuietly(fresh);
            r[2].close();
            r[3].close();
        }
    }

    @Test
    void I4_aLateCloseDoesNotHitTheNextOwnerOfTheDescriptor() throws IOException {
        Pair first = pair();
        Registration late = poller.register(first.ours, new Seen());
        first.ours.close(); // behind the registration's back
        poller.poll(0);
        Seen seen = new Seen();
        List<Pair> next = new ArrayList<>();
        for (int i = 0; i < 3; i++) { // one of them gets the number
            Pair p = pair();
            next.add(p);
            poller.register(p.ours, seen).arm(READ);
        }
        late.close();
        for (Pair p : next) {
            p.sendFromPeer(1);
        }
        long start = System.nanoTime();
        while (seen.reports < 3) {
            assertThat(System.nanoTime() - start).isLessThan(LONG);
            poller.poll(100 * MILLIS);
        }
    }

    @Test
    void F71_armingAClosedChannelIsReportedAtOnce() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        p.ours.close();
        r.arm(READ);
        assertThat(poller.poll(LONG)).isEqualTo(1);
        assertThat(seen.events & READ).isEqualTo(READ);
        r.close();
        r.close();
        pollQuietly(seen);
    }

    @Test
    void useAfterCloseIsDefined() throws IOException {
        Pair p = pair();
        Registration r = poller.register(p.ours, new Seen());
        r.close();
        r.disarm(READ);
        r.drained(READ);
        r.shortRead();
        assertThatThrownBy(() -> r.arm(READ)).isInstanceOf(IllegalStateException.class);
        Registration open = poller.register(p.ours, new Seen());
        poller.close();
        poller.close();
        poller.wake(); // F94: nobody to wake, nothing breaks
        open.close();
        assertThat(p.ours.isOpen()).isTrue();
        assertThatThrownBy(() -> poller.poll(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aTargetMayCloseThePoller() throws IOException {
        Pair p = pair();
        Pair q = pair();
        int[] reports = {0};
        Poller.Target closer = events -> {
            reports[0]++;
            poller.close();
        };
        poller.register(p.ours, closer).arm(WRITE);
        poller.register(q.ours, closer).arm(WRITE);
        pollUntilReported();
        assertThat(reports[0]).isEqualTo(1);
    }

    // Wrong use

    @Test
    void S13_wrongUseIsAnErrorAtOnce() throws IOException {
        Pair p = pair();
        assertThatThrownBy(() -> poller.register(p.peer, new Seen())).isInstanceOf(IllegalBlockingModeException.class);
        Registration r = poller.register(p.ours, new Seen());
        assertThatThrownBy(() -> poller.register(p.ours, new Seen())).isInstanceOf(IllegalStateException.class);
        for (int wrong : new int[] {0, Poller.ERROR, Poller.HANGUP, READ | Poller.ERROR, 2, -1}) {
            assertThatThrownBy(() -> r.arm(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        ServerSocketChannel s = nonBlocking(server());
        Registration accepting = poller.register(s, new Seen());
        assertThatThrownBy(() -> accepting.arm(WRITE)).isInstanceOf(IllegalArgumentException.class);
        Pair closed = pair();
        closed.ours.close();
        assertThatThrownBy(() -> poller.register(closed.ours, new Seen())).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aTargetThatThrowsDoesNotHurtTheOthers() throws IOException {
        Seen[] seen = {new Seen(), new Seen(), new Seen()};
        for (Seen s : seen) {
            poller.register(pair().ours, events -> {
                        s.ready(events);
                        throw new IllegalStateException("target " + events);
                    })
                    .arm(WRITE);
        }
        int thrown = 0;
        long start = System.nanoTime();
        while (seen[0].reports + seen[1].reports + seen[2].reports < 3) {
            assertThat(System.nanoTime() - start).isLessThan(LONG);
            try {
                poller.poll(100 * MILLIS);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageStartingWith("target");
                thrown += 1 + e.getSuppressed().length;
            }
        }
        assertThat(thrown).isEqualTo(3);
        assertThat(poller.poll(0)).isZero();
    }

    @Test
    void pollFromATargetIsRefused() throws IOException {
        poller.register(pair().ours, events -> {
                    try {
                        poller.poll(0);
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                })
                .arm(WRITE);
        assertThatThrownBy(this::pollUntilReported)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("inside a poll");
        assertThat(poller.poll(0)).isZero();
    }

    // Time

    @Test
    void S3_aTimedPollNeverEndsEarly() throws IOException {
        for (long nanos : new long[] {1, 1_000, 100_000, 999_999, 1_000_000, 1_000_001, 3_700_000}) {
            for (int i = 0; i < 20; i++) {
                long start = System.nanoTime();
                assertThat(poller.poll(nanos)).isZero();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(nanos);
            }
        }
    }

    @Test
    void aTimedPollEndsInTime() throws IOException {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long start = System.nanoTime();
            poller.poll(2 * MILLIS);
            best = Math.min(best, System.nanoTime() - start);
        }
        assertThat(best).isLessThan(20 * MILLIS);
    }

    @Test
    void pollOfZeroDoesNotWait() throws IOException {
        long start = System.nanoTime();
        for (int i = 0; i < 1000; i++) {
            assertThat(poller.poll(0)).isZero();
        }
        assertThat(System.nanoTime() - start).isLessThan(1000 * MILLIS);
    }

    @Test
    void F106_theLongestTimeoutIsForEver() throws Exception {
        Thread t = wakeSoon();
        assertThat(poller.poll(Long.MAX_VALUE)).isZero();
        t.join();
    }

    // Waking

    private Thread wakeSoon() {
        return Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            poller.wake();
        });
    }

    @Test
    void W1_aWakeBeforeThePollEndsIt() throws IOException {
        for (int i = 0; i < 1000; i++) {
            poller.wake();
            poller.wake();
            assertThat(poller.poll(-1)).isZero();
        }
        pollQuietly(); // two wakes ended one poll and left nothing behind
    }

    @Test
    void W1_aWakeDuringThePollEndsIt() throws Exception {
        for (int i = 0; i < 5; i++) {
            Thread t = wakeSoon();
            assertThat(poller.poll(-1)).isZero();
            t.join();
        }
    }

    @Test
    void F88_aWakeFromATargetEndsTheNextPoll() throws IOException {
        Pair p = pair();
        poller.register(p.ours, events -> poller.wake()).arm(WRITE);
        pollUntilReported();
        assertThat(poller.poll(-1)).isZero();
    }

    @Test
    void aWakeDoesNotHideReadiness() throws IOException {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        for (int i = 0; i < 100; i++) {
            poller.wake();
            r.arm(WRITE);
            pollFor(seen, WRITE);
            seen.take();
        }
    }

    @Test
    void W1_noWakeIsLostUnderFourThreads() throws Exception {
        int threads = 4;
        int posts = 20_000;
        AtomicLong posted = new AtomicLong();
        AtomicLong served = new AtomicLong();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(threads);
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            all.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < posts; i++) {
                        long mine = posted.incrementAndGet();
                        poller.wake();
                        // Waits until it was served, so that the loop goes to sleep often; a lost wake ends here.
                        while (i % 16 == 0 && served.get() < mine && !Thread.interrupted()) {
                            Thread.onSpinWait();
                        }
                    }
                } catch (Throwable e) {
                    failure.set(e);
                } finally {
                    done.countDown();
                }
            }));
        }
        try {
            while (served.get() < (long) threads * posts && failure.get() == null) {
                long start = System.nanoTime();
                poller.poll(LONG);
                assertThat(System.nanoTime() - start).as("a wake was lost").isLessThan(LONG);
                served.set(posted.get());
            }
        } finally {
            all.forEach(Thread::interrupt);
        }
        done.await();
        assertThat(failure.get()).isNull();
    }

    @Test
    void F94_wakesThatRaceWithTheCloseDoNothing() throws Exception {
        for (int round = 0; round < 20; round++) {
            Poller p = open();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            CountDownLatch running = new CountDownLatch(2);
            List<Thread> all = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                all.add(Thread.ofPlatform().start(() -> {
                    running.countDown();
                    try {
                        while (!Thread.interrupted()) {
                            p.wake();
                        }
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                }));
            }
            running.await();
            p.poll(-1);
            p.close();
            // The descriptor's number belongs to somebody else now, who must not find eight bytes in it.
            Pair next = pair();
            Thread.sleep(1);
            for (Thread t : all) {
                t.interrupt();
                t.join();
            }
            assertThat(failure.get()).isNull();
            assertThat(next.ours.read(ByteBuffer.allocate(8))).isZero();
            next.ours.close();
            next.peer.close();
        }
    }

    // Interrupts

    @Test
    void F97_anInterruptIsClearedAndHurtsNoChannel() throws Exception {
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        r.arm(READ);
        Thread.currentThread().interrupt();
        poller.poll(MILLIS);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        pollQuietly(seen);

        Thread loop = Thread.currentThread();
        Thread t = Thread.ofPlatform().start(() -> {
            loop.interrupt();
            poller.wake();
        });
        poller.poll(-1);
        t.join();
        poller.poll(0);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        pollQuietly(seen);
        assertThat(p.ours.isOpen()).isTrue();
        p.sendFromPeer(1);
        pollFor(seen, READ);
    }

    // Size

    @Test
    void tenThousandRegistrations() throws IOException {
        int n = 10_000;
        UnixOperatingSystemMXBean os = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        assumeTrue(
                os.getMaxFileDescriptorCount() - os.getOpenFileDescriptorCount() > n + 500L,
                "the limit of open files is too low");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        DatagramChannel sender = kept(DatagramChannel.open());
        List<Registration> all = new ArrayList<>();
        List<DatagramChannel> channels = new ArrayList<>();
        Seen seen = new Seen();
        for (int i = 0; i < n; i++) {
            DatagramChannel ch = nonBlocking(kept(DatagramChannel.open())).bind(any);
            channels.add(ch);
            Registration r = poller.register(ch, seen);
            r.arm(READ);
            all.add(r);
        }
        poller.poll(0);
        for (int round = 0; round < 2; round++) {
            seen.take();
            for (DatagramChannel ch : channels) {
                sender.send(ByteBuffer.allocate(1), ch.getLocalAddress());
            }
            long start = System.nanoTime();
            while (seen.reports < n) {
                assertThat(System.nanoTime() - start).isLessThan(LONG);
                poller.poll(100 * MILLIS);
            }
            assertThat(seen.reports).isEqualTo(n);
            for (int i = 0; i < n; i++) {
                assertThat(channels.get(i).receive(ByteBuffer.allocate(10))).isNotNull();
                all.get(i).drained(READ); // there was one datagram
                all.get(i).arm(READ);
            }
            assertThat(poller.poll(0)).isZero();
        }
        all.forEach(Registration::close);
        sender.send(ByteBuffer.allocate(1), channels.getFirst().getLocalAddress());
        assertThat(poller.poll(0)).isZero();
    }

    // Memory

    @Test
    void theSteadyStateAllocatesNothing() throws IOException {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Pair p = pair();
        Seen seen = new Seen();
        Registration r = poller.register(p.ours, seen);
        long self = Thread.currentThread().threadId();
        int rounds = 5_000;
        long bytes = Long.MAX_VALUE;
        // Compilation ends it, and on a busy machine that may take its time.
        for (long end = System.nanoTime() + 20_000_000_000L; bytes >= rounds && System.nanoTime() < end; ) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < rounds; i++) {
                armAndPoll(r);
            }
            bytes = threads.getThreadAllocatedBytes(self) - before;
        }
        assertThat(bytes).as("bytes in %s rounds", rounds).isLessThan(rounds);
        assertThat(seen.reports).isPositive();
    }

    /** A method of its own, so that it is compiled as a whole whatever becomes of the loop around it. */
    private void armAndPoll(Registration r) throws IOException {
        r.arm(READ | WRITE);
        poller.poll(0);
        poller.wake();
        poller.poll(-1);
        poller.wake();
        poller.poll(LONG);
        r.disarm(READ | WRITE);
    }
}
