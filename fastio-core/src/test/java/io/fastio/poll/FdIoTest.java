package io.fastio.poll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@EnabledOnOs(OS.LINUX)
final class FdIoTest {
    private final FdIo io = new FdIo();

    @Test
    void readsAndWritesBetweenPositionAndLimit() {
        int[] p = new int[2];
        assertThat(io.pipe(p, FdIo.O_NONBLOCK)).isZero();
        ByteBuffer out = ByteBuffer.allocateDirect(10);
        for (int i = 0; i < 10; i++) {
            out.put((byte) i);
        }
        out.position(2).limit(7);
        assertThat(io.write(p[1], out)).isEqualTo(5);
        assertThat(out.position()).isEqualTo(7);
        ByteBuffer in = ByteBuffer.allocateDirect(100);
        in.position(10).limit(13);
        ByteBuffer slice = in.slice(); // its address is not that of the whole
        assertThat(io.read(p[0], slice)).isEqualTo(3);
        assertThat(slice.position()).isEqualTo(3);
        assertThat(in.get(10)).isEqualTo((byte) 2);
        assertThat(in.get(12)).isEqualTo((byte) 4);
        in.clear();
        assertThat(io.read(p[0], in)).isEqualTo(2);
        assertThat(io.read(p[0], in)).isEqualTo(-Errno.EAGAIN);
        assertThat(in.position()).isEqualTo(2);
        io.close(p[1]);
        assertThat(io.read(p[0], in)).isZero();
        assertThat(io.close(p[0])).isZero();
        assertThat(io.close(p[0])).isEqualTo(-Errno.EBADF);
        assertThat(io.read(p[0], in)).isEqualTo(-Errno.EBADF);
    }

    @Test
    void readsAndWritesSegments() {
        int[] p = new int[2];
        io.pipe(p, FdIo.O_NONBLOCK);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = arena.allocate(16);
            s.set(ValueLayout.JAVA_BYTE, 4, (byte) 42);
            assertThat(io.write(p[1], s, 4, 1)).isEqualTo(1);
            assertThat(io.read(p[0], s, 9, 7)).isEqualTo(1);
            assertThat(s.get(ValueLayout.JAVA_BYTE, 9)).isEqualTo((byte) 42);
            assertThatThrownBy(() -> io.read(p[0], s, 10, 7)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> io.read(p[0], s, -1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> io.read(p[0], s.asReadOnly(), 0, 1)).isInstanceOf(ReadOnlyBufferException.class);
            assertThatThrownBy(() -> io.write(p[1], MemorySegment.ofArray(new byte[4]), 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        io.close(p[0]);
        io.close(p[1]);
    }

    @Test
    void refusesWrongBuffers() {
        assertThatThrownBy(() -> io.read(0, ByteBuffer.allocate(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> io.write(1, ByteBuffer.allocate(1))).isInstanceOf(IllegalArgumentException.class);
        ByteBuffer readOnly = ByteBuffer.allocateDirect(1).asReadOnlyBuffer();
        assertThatThrownBy(() -> io.read(0, readOnly)).isInstanceOf(ReadOnlyBufferException.class);
        assertThatThrownBy(() -> io.recv(0, readOnly)).isInstanceOf(ReadOnlyBufferException.class);
        assertThatThrownBy(() -> io.pipe(new int[1], 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> io.open("a\0b", 0)).isInstanceOf(IllegalArgumentException.class);
    }

    private record Pair(SocketChannel a, SocketChannel b) {}

    private static Pair pair() throws IOException {
        try (ServerSocketChannel s = ServerSocketChannel.open()) {
            s.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel a = SocketChannel.open(s.getLocalAddress());
            return new Pair(a, s.accept());
        }
    }

    @Test
    void sendsAndReceivesOnSocketsWithoutBlocking() throws IOException {
        Pair p = pair();
        int a = EpollPoller.fdOf(p.a);
        int b = EpollPoller.fdOf(p.b);
        ByteBuffer buffer = ByteBuffer.allocateDirect(100);
        assertThat(io.recv(a, buffer)).as("on a socket in blocking mode").isEqualTo(-Errno.EAGAIN);
        assertThat(io.send(b, buffer.limit(30))).isEqualTo(30);
        int got = 0;
        buffer.clear();
        while (got < 30) {
            got += Math.max(0, io.recv(a, buffer));
        }
        assertThat(buffer.position()).isEqualTo(30);
        p.b.close();
        int end;
        do {
            end = io.recv(a, buffer);
        } while (end == -Errno.EAGAIN);
        assertThat(end).isZero();
        int result;
        do {
            result = io.send(a, buffer.clear());
        } while (result > 0); // the first is answered by a reset
        assertThat(result).isIn(-Errno.EPIPE, -Errno.ECONNRESET);
        assertThat(io.send(0x7fff_0000, buffer)).isEqualTo(-Errno.EBADF);
        p.a.close();
    }

    @Test
    void F83_errorsAreNumbersAndHaveTexts() {
        assertThat(Errno.exception("read from descriptor 5", -Errno.EIO))
                .isInstanceOf(IOException.class)
                .hasMessage("read from descriptor 5: EIO, input/output error");
        assertThat(Errno.text(9999)).isEqualTo("errno 9999");
    }

    @Test
    void opensFilesAndKnowsTheirKind(@TempDir Path dir) throws IOException {
        Path file = dir.resolve("fünf");
        assertThat(io.open(file.toString(), FdIo.O_RDONLY)).isEqualTo(-Errno.ENOENT);
        int fd = io.open(file.toString(), FdIo.O_RDWR | FdIo.O_CREAT | FdIo.O_EXCL);
        assertThat(fd).isNotNegative();
        assertThat(Files.exists(file)).isTrue();
        assertThat(io.open(file.toString(), FdIo.O_RDWR | FdIo.O_CREAT | FdIo.O_EXCL))
                .isEqualTo(-Errno.EEXIST);
        assertThat(io.isTerminal(fd)).isZero();
        int second = io.dup(fd);
        assertThat(second).isNotNegative().isNotEqualTo(fd);
        assertThat(io.write(second, ByteBuffer.allocateDirect(3))).isEqualTo(3);
        assertThat(io.isNonBlocking(fd)).isZero();
        assertThat(io.setNonBlocking(fd, true)).isZero();
        assertThat(io.isNonBlocking(second)).as("shared by both").isEqualTo(1);
        assertThat(io.setNonBlocking(second, false)).isZero();
        assertThat(io.isNonBlocking(fd)).isZero();
        assertThat(io.ioctl(fd, 0x5401L, 0L)).as("TCGETS").isEqualTo(-Errno.ENOTTY);
        assertThat(io.close(fd)).isZero();
        assertThat(io.close(second)).isZero();
        assertThat(Files.size(file)).isEqualTo(3);
        assertThat(io.isTerminal(fd)).isEqualTo(-Errno.EBADF);
        assertThat(io.isNonBlocking(fd)).isEqualTo(-Errno.EBADF);
        assertThat(io.setNonBlocking(fd, true)).isEqualTo(-Errno.EBADF);
        assertThat(io.dup(fd)).isEqualTo(-Errno.EBADF);
    }

    @Test
    void tellsWhatIsReadyWithoutWaiting() {
        int[] p = new int[2];
        io.pipe(p, FdIo.O_NONBLOCK);
        assertThat(io.poll(p[0], Poller.READ)).isZero();
        assertThat(io.poll(p[1], Poller.READ | Poller.WRITE)).isEqualTo(Poller.WRITE);
        io.write(p[1], ByteBuffer.allocateDirect(1));
        assertThat(io.poll(p[0], Poller.READ | Poller.WRITE)).isEqualTo(Poller.READ);
        io.close(p[1]);
        assertThat(io.poll(p[0], Poller.READ)).isEqualTo(Poller.READ | Poller.HANGUP);
        io.close(p[0]);
        assertThat(io.poll(p[0], Poller.READ)).as("POLLNVAL").isEqualTo(32);
    }

    @Test
    void callsAllocateNothing() {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int[] p = new int[2];
        io.pipe(p, FdIo.O_NONBLOCK);
        ByteBuffer b = ByteBuffer.allocateDirect(64);
        long self = Thread.currentThread().threadId();
        int rounds = 20_000;
        long bytes = Long.MAX_VALUE;
        // Compilation ends it, and on a busy machine that may take its time.
        for (long end = System.nanoTime() + 30_000_000_000L; bytes >= rounds && System.nanoTime() < end; ) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < rounds; i++) {
                io.write(p[1], b.clear());
                io.read(p[0], b.clear());
                io.read(p[0], b.clear());
            }
            bytes = threads.getThreadAllocatedBytes(self) - before;
        }
        assertThat(bytes).as("bytes in %s rounds", rounds).isLessThan(rounds);
        io.close(p[0]);
        io.close(p[1]);
    }
}
