package io.fastio.poll;

import static io.fastio.poll.Poller.ERROR;
import static io.fastio.poll.Poller.HANGUP;
import static io.fastio.poll.Poller.READ;
import static io.fastio.poll.Poller.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fastio.ChildJvm;
import io.fastio.poll.Poller.Registration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
final class EpollPollerTest extends PollerContract {
    private final FdIo io = new FdIo();

    @Override
    Poller open() throws IOException {
        return Poller.open(Poller.Kind.EPOLL);
    }

    private int[] pipe() {
        int[] ends = new int[2];
        assertThat(io.pipe(ends, FdIo.O_NONBLOCK | FdIo.O_CLOEXEC)).isZero();
        kept(() -> io.close(ends[0]));
        kept(() -> io.close(ends[1]));
        return ends;
    }

    private static ByteBuffer bytes(String s) {
        byte[] b = s.getBytes(StandardCharsets.ISO_8859_1);
        return ByteBuffer.allocateDirect(b.length).put(b).flip();
    }

    @Test
    void saysWhichPollerItIsAndWhy() throws IOException {
        assertThat(poller.toString()).startsWith("epoll (epoll_").endsWith("eventfd)");
        assertThat(poller.supportsFds()).isTrue();
        try (Poller auto = Poller.open(Poller.Kind.AUTO)) {
            assertThat(auto.toString()).isEqualTo(poller.toString());
        }
    }

    // Descriptors

    @Test
    void I7_aPipeIsReportedOncePerArm() throws IOException {
        int[] p = pipe();
        Seen in = new Seen();
        Registration r = poller.register(p[0], in);
        assertThat(r.fd()).isEqualTo(p[0]);
        r.arm(READ);
        pollQuietly(in);
        io.write(p[1], bytes("abc"));
        pollFor(in, READ);
        pollQuietly(in);
        r.arm(READ); // nothing was read: level-triggered
        pollFor(in, READ);
        assertThat(io.read(p[0], ByteBuffer.allocateDirect(10))).isEqualTo(3);
        in.take();
        r.arm(READ);
        pollQuietly(in);
        io.write(p[1], bytes("d"));
        pollFor(in, READ);
    }

    @Test
    void F70_hangUpsOfAPipeAreReportedOncePerArm() throws IOException {
        int[] p = new int[2];
        io.pipe(p, FdIo.O_NONBLOCK);
        Seen in = new Seen();
        Registration r = poller.register(p[0], in);
        r.arm(READ);
        io.close(p[1]);
        pollFor(in, READ);
        assertThat(in.events).isEqualTo(READ | HANGUP);
        pollQuietly(in);
        assertThat(io.read(p[0], ByteBuffer.allocateDirect(10))).isZero();
        r.close();
        io.close(p[0]);
    }

    @Test
    void aPipeNobodyReadsIsAnError() throws IOException {
        int[] p = new int[2];
        io.pipe(p, FdIo.O_NONBLOCK);
        Seen out = new Seen();
        Registration r = poller.register(p[1], out);
        io.close(p[0]);
        r.arm(WRITE);
        pollFor(out, WRITE);
        assertThat(out.events).isEqualTo(WRITE | ERROR);
        assertThat(io.write(p[1], bytes("x"))).isEqualTo(-Errno.EPIPE);
        r.close();
        io.close(p[1]);
    }

    @Test
    void I1_bothDirectionsOfADescriptorAreServed() throws IOException {
        Pair pair = pair();
        int fd = EpollPoller.fdOf(pair.ours());
        Seen seen = new Seen();
        Registration r = poller.register(fd, seen);
        r.arm(READ);
        poller.poll(0);
        r.arm(WRITE); // in addition to what the kernel knows
        pollFor(seen, WRITE);
        assertThat(seen.take()).isEqualTo(WRITE);
        pollQuietly(seen);
        pair.sendFromPeer(1);
        pollFor(seen, READ); // survived the report of the other direction
        r.close();
    }

    @Test
    void C2_anArmThatIsTakenBackIsNotReported() throws IOException {
        int[] p = pipe();
        Seen out = new Seen();
        Registration r = poller.register(p[1], out);
        r.arm(WRITE);
        r.disarm(WRITE);
        pollQuietly(out);
        r.arm(WRITE);
        poller.poll(0);
        out.take();
        r.arm(WRITE);
        pollFor(out, WRITE);
    }

    @Test
    void I7_aTerminalPairIsServed() throws IOException {
        int master = io.open("/dev/ptmx", FdIo.O_RDWR | FdIo.O_NOCTTY | FdIo.O_NONBLOCK);
        assumeTrue(master >= 0, "no /dev/ptmx here");
        int slave;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
            assertThat(io.ioctl(master, 0x4004_5431L, number))
                    .as("TIOCSPTLCK, unlock")
                    .isZero();
            assertThat(io.ioctl(master, 0x8004_5430L, number)).as("TIOCGPTN").isZero();
            // In blocking mode, as a terminal that is shared with a shell would be.
            slave = io.open("/dev/pts/" + number.get(ValueLayout.JAVA_INT, 0), FdIo.O_RDWR | FdIo.O_NOCTTY);
        }
        assertThat(slave).isNotNegative();
        assertThat(io.isTerminal(slave)).isEqualTo(1);
        Seen ofMaster = new Seen();
        Seen ofSlave = new Seen();
        Registration m = poller.register(master, ofMaster);
        Registration s = poller.register(slave, ofSlave);
        s.arm(READ);
        pollQuietly(ofSlave);
        assertThat(io.write(master, bytes("one\ntwo\n"))).isEqualTo(8);
        for (String line : List.of("one\n", "two\n")) { // a read ends at each line, with another one behind it
            pollFor(ofSlave, READ);
            ofSlave.take();
            ByteBuffer b = ByteBuffer.allocateDirect(100);
            io.read(slave, b);
            assertThat(StandardCharsets.ISO_8859_1.decode(b.flip()).toString()).isEqualTo(line);
            s.shortRead();
            s.arm(READ);
        }
        pollQuietly(ofSlave);
        io.write(slave, bytes("x"));
        m.arm(READ);
        pollFor(ofMaster, READ);
        while (io.read(master, ByteBuffer.allocateDirect(100)) > 0) {
            // the echo of the lines, and the x
        }
        ofMaster.take();
        m.arm(READ);
        s.close();
        io.close(slave);
        pollFor(ofMaster, READ);
        assertThat(ofMaster.events).isEqualTo(READ | HANGUP);
        pollQuietly(ofMaster);
        assertThat(io.read(master, ByteBuffer.allocateDirect(100))).isEqualTo(-Errno.EIO);
        m.close();
        io.close(master);
    }

    @Test
    void regularFilesAndBadDescriptorsAreRefused(@TempDir Path dir) throws IOException {
        int file = io.open(dir.resolve("f").toString(), FdIo.O_RDWR | FdIo.O_CREAT);
        assertThatThrownBy(() -> poller.register(file, new Seen()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("descriptor " + file)
                .hasMessageContaining("cannot be waited for");
        io.close(file);
        assertThatThrownBy(() -> poller.register(file, new Seen()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("EBADF");
        assertThatThrownBy(() -> poller.register(-1, new Seen())).isInstanceOf(IllegalArgumentException.class);
        int[] p = pipe();
        poller.register(p[0], new Seen());
        assertThatThrownBy(() -> poller.register(p[0], new Seen())).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> poller.register(1 << 30, new Seen())).isInstanceOf(IOException.class);
    }

    @Test
    void I4_aDescriptorClosedBehindTheRegistrationIsAnErrorToItsWaiter() throws IOException {
        int[] p = new int[2];
        io.pipe(p, 0);
        Seen seen = new Seen();
        Registration r = poller.register(p[0], seen);
        io.close(p[0]);
        r.arm(READ);
        assertThat(poller.poll(LONG)).isEqualTo(1);
        assertThat(seen.events).isEqualTo(READ | ERROR | HANGUP);
        r.close(); // EBADF is tolerated
        io.close(p[1]);
    }

    @Test
    void I4_theNextOwnerOfADescriptorTakesOverAndTheFormerIsTold() throws IOException {
        int[] p = new int[2];
        io.pipe(p, 0);
        Seen former = new Seen();
        Registration old = poller.register(p[0], former);
        old.arm(READ);
        poller.poll(0);
        int dup = io.dup(p[0]); // keeps the file, and with it the kernel's entry, alive
        io.close(p[0]);
        int[] q = new int[2];
        io.pipe(q, FdIo.O_NONBLOCK);
        assertThat(q[0]).isEqualTo(p[0]);
        Seen owner = new Seen();
        Registration r = poller.register(q[0], owner);
        r.arm(READ);
        assertThat(poller.poll(LONG)).isEqualTo(1);
        assertThat(former.events).isEqualTo(READ | ERROR | HANGUP);
        io.write(p[1], bytes("for the former"));
        pollQuietly(former, owner); // the kernel reports the former's file, and nobody is there
        old.close();
        io.write(q[1], bytes("x"));
        pollFor(owner, READ);
        r.close();
        for (int fd : new int[] {dup, p[1], q[0], q[1]}) {
            assertThat(io.close(fd)).isZero();
        }
    }

    // Waiting

    @Test
    void S3_timedPollsCountNanoseconds() throws IOException {
        LoopThread.setTimerSlack(1);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 200; i++) {
            long start = System.nanoTime();
            poller.poll(100_000);
            best = Math.min(best, System.nanoTime() - start);
        }
        LoopThread.setTimerSlack(50_000);
        assertThat(best).isBetween(100_000L, 900_000L); // a whole millisecond would not do
    }

    @Test
    void S3_signalsDoNotEndAPollEarly() throws Throwable {
        // SIGPIPE, which the JVM handles and ignores: the wait ends with EINTR all the same.
        MethodHandle gettid = Libc.linkWithoutErrno("gettid", Libc.returnsInt());
        MethodHandle tgkill = Libc.linkWithoutErrno(
                "tgkill", Libc.returnsInt(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        int loop = (int) gettid.invokeExact();
        int process = (int) ProcessHandle.current().pid();
        AtomicInteger sent = new AtomicInteger();
        Thread signaller = Thread.ofPlatform().start(() -> {
            try {
                while (!Thread.interrupted()) {
                    assertThat((int) tgkill.invokeExact(process, loop, 13)).isZero();
                    sent.incrementAndGet();
                    LockSupport.parkNanos(MILLIS);
                }
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        });
        try (EpollPoller inMillis = new EpollPoller(false)) {
            for (Poller p : List.of(poller, inMillis)) {
                int before = sent.get();
                long start = System.nanoTime();
                assertThat(p.poll(50 * MILLIS)).isZero();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50 * MILLIS);
                assertThat(sent.get() - before).isGreaterThan(1);
                Thread waker = Thread.ofPlatform().start(() -> {
                    LockSupport.parkNanos(20 * MILLIS);
                    p.wake();
                });
                start = System.nanoTime();
                assertThat(p.poll(-1)).isZero();
                assertThat(System.nanoTime() - start).isGreaterThan(5 * MILLIS);
                waker.join();
            }
        } finally {
            signaller.interrupt();
            signaller.join();
        }
    }

    @Test
    void timerSlackIsThatOfTheThread() throws Exception {
        long before = LoopThread.timerSlack();
        Thread t = Thread.ofPlatform().start(() -> {
            assertThat(LoopThread.setTimerSlack(1)).isTrue();
            assertThat(LoopThread.timerSlack()).isEqualTo(1);
        });
        t.join();
        assertThat(LoopThread.timerSlack()).isEqualTo(before);
        assertThatThrownBy(() -> LoopThread.setTimerSlack(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theSystemCallServesWhereTheLibraryLacksPwait2() throws Throwable {
        MethodHandle bySyscall = EpollPoller.linkPwait2BySyscall(true);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = Libc.newErrno();
            MemorySegment events = arena.allocate(1024, 8);
            MemorySegment timespec = arena.allocate(ValueLayout.JAVA_LONG, 2);
            long start = System.nanoTime();
            timespec.set(ValueLayout.JAVA_LONG, 8, 2 * MILLIS);
            int n = (int) bySyscall.invokeExact(
                    errno, ((EpollPoller) poller).epfd(), events.address(), 8, timespec.address());
            assertThat(n).isZero();
            assertThat(System.nanoTime() - start).isBetween(2 * MILLIS, LONG);
            poller.wake();
            n = (int) bySyscall.invokeExact(
                    errno, ((EpollPoller) poller).epfd(), events.address(), 8, timespec.address());
            assertThat(n).isEqualTo(1);
            n = (int) bySyscall.invokeExact(errno, -1, events.address(), 8, timespec.address());
            assertThat(n).isEqualTo(-1);
            assertThat(Libc.errno(errno)).isEqualTo(Errno.EBADF);
            poller.wake();
            n = (int) EpollPoller.linkPwait2BySyscall(false)
                    .invokeExact(((EpollPoller) poller).epfd(), events.address(), 8, timespec.address());
            assertThat(n).isEqualTo(1);
        }
    }

    @Test
    void timeoutsInMillisecondsAreRoundedUpAndSaturate() {
        assertThat(EpollPoller.toMillisRoundedUp(1)).isEqualTo(1);
        assertThat(EpollPoller.toMillisRoundedUp(1_000_000)).isEqualTo(1);
        assertThat(EpollPoller.toMillisRoundedUp(1_000_001)).isEqualTo(2);
        assertThat(EpollPoller.toMillisRoundedUp(Long.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
    }

    // Waking

    @Test
    void F92_aWakeThatFailsIsToldAndTheChannelRepaired() throws IOException {
        EpollPoller p = new EpollPoller();
        int fd = p.wakeFd();
        io.close(fd);
        // Something that cannot be written to takes its number, before another thread's file does.
        int taken = io.open("/dev/null", FdIo.O_RDONLY | FdIo.O_CLOEXEC);
        while (taken >= 0 && taken < fd) { // numbers are given from below
            taken = io.open("/dev/null", FdIo.O_RDONLY | FdIo.O_CLOEXEC);
        }
        assertThat(taken).isEqualTo(fd);
        assertThat(p.wake()).isFalse();
        assertThat(p.wakeFd()).isNotEqualTo(fd);
        assertThat(p.wake()).isTrue();
        p.poll(-1); // would not end if the repair had not worked
        p.close();
    }

    /** The spare takes the place of what was broken, once; when there are descriptors again, there is a spare again. */
    @Test
    void F92_aWakeChannelIsRepairedWithoutAFreeDescriptor() throws Exception {
        List<String> command = new ArrayList<>(List.of("bash", "-c", "ulimit -n 100; exec \"$0\" \"$@\""));
        command.addAll(ChildJvm.command(ChildJvm.FLAGS, WithoutDescriptors.class));
        Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(said.lines())
                .containsExactly(
                        "with descriptors: repaired",
                        "with descriptors: repaired",
                        "without: repaired",
                        "without: the loop could not be woken: eventfd: EMFILE, the process has too many files open",
                        "with descriptors: repaired",
                        "without: repaired");
    }

    static final class WithoutDescriptors {
        private static final FdIo IO = new FdIo();
        private static final List<Integer> TAKEN = new ArrayList<>();

        public static void main(String[] args) throws Exception {
            try (EpollPoller p = new EpollPoller()) {
                breakAndWake("with descriptors", p);
                breakAndWake("with descriptors", p);
                Errno.text(Errno.EINTR); // all classes are loaded now
                takeAll();
                breakAndWake("without", p);
                breakAndWake("without", p);
                TAKEN.forEach(IO::close);
                TAKEN.clear();
                IO.close(p.wakeFd());
                breakAndWake("with descriptors", p);
                takeAll();
                breakAndWake("without", p);
            }
        }

        private static void breakAndWake(String how, EpollPoller p) throws IOException {
            IO.close(p.wakeFd());
            takeUpTo(p.wakeFd()); // its number is another file's
            String result;
            try {
                result = p.wake() ? "nothing noticed" : "repaired";
                p.poll(-1);
            } catch (UncheckedIOException e) {
                result = e.getMessage();
            }
            System.out.println(how + ": " + result);
        }

        private static void takeAll() {
            takeUpTo(Integer.MAX_VALUE);
        }

        private static void takeUpTo(int last) {
            int fd;
            do {
                fd = IO.open("/dev/null", FdIo.O_RDONLY | FdIo.O_CLOEXEC);
                if (fd >= 0) {
                    TAKEN.add(fd);
                }
            } while (fd >= 0 && fd < last);
        }
    }

    @Test
    void closeGivesBackItsDescriptors() throws IOException {
        int before = io.dup(0);
        io.close(before);
        for (int i = 0; i < 100; i++) {
            open().close();
        }
        int after = io.dup(0);
        io.close(after);
        assertThat(after).isEqualTo(before);
    }

    // Size

    @Test
    void theEventArrayGrowsWhenItIsFull() throws IOException {
        EpollPoller p = (EpollPoller) poller;
        int n = 300;
        Seen seen = new Seen();
        List<Registration> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Registration r = p.register(pipe()[1], seen);
            r.arm(WRITE);
            all.add(r);
        }
        assertThat(p.capacity()).isLessThan(n);
        while (seen.reports < n) {
            assertThat(p.poll(0)).isPositive();
        }
        assertThat(p.capacity()).isGreaterThan(n);
        seen.take();
        all.forEach(r -> r.arm(WRITE));
        assertThat(p.poll(0)).isEqualTo(n);
    }

    // Layout

    @Test
    void bothLayoutsOfTheKernelsStruct() {
        EventLayout packed = EventLayout.of("amd64");
        assertThat(packed).isEqualTo(new EventLayout(12, 4));
        assertThat(packed.events(3)).isEqualTo(36);
        assertThat(packed.data(3)).isEqualTo(40);
        EventLayout aligned = EventLayout.of("aarch64");
        assertThat(aligned).isEqualTo(new EventLayout(16, 8));
        assertThat(aligned.events(3)).isEqualTo(48);
        assertThat(aligned.data(3)).isEqualTo(56);
        assertThat(aligned.events(Integer.MAX_VALUE)).isEqualTo(16L * Integer.MAX_VALUE);
    }

    @Test
    void theCompilerOfThisMachineAgreesWithLayoutAndConstants(@TempDir Path dir) throws Exception {
        Path c = dir.resolve("layout.c");
        Files.writeString(c, """
                #define _GNU_SOURCE
                #include <stddef.h>
                #include <stdio.h>
                #include <errno.h>
                #include <fcntl.h>
                #include <sys/epoll.h>
                #include <sys/eventfd.h>
                #include <sys/ioctl.h>
                #include <sys/syscall.h>
                int main(void) {
                    printf("%zu %zu %d %d %d %d %d %d %u %u %d %d %d %d %d",
                        sizeof(struct epoll_event), offsetof(struct epoll_event, data),
                        EPOLLIN, EPOLLPRI, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP, EPOLLONESHOT, EPOLLET,
                        O_NONBLOCK, O_CLOEXEC, O_NOCTTY, EAGAIN, ECONNRESET);
                    return 0;
                }
                """);
        Process gcc;
        try {
            gcc = new ProcessBuilder("gcc", "-o", dir.resolve("layout").toString(), c.toString())
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "no C compiler here");
            return;
        }
        assertThat(gcc.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(gcc.exitValue()).isZero();
        Process run = new ProcessBuilder(dir.resolve("layout").toString()).start();
        String answer = new String(run.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(answer)
                .isEqualTo("%d %d %d %d %d %d %d %d %s %s %d %d %d %d %d"
                        .formatted(
                                EpollPoller.LAYOUT.size(),
                                EpollPoller.LAYOUT.dataOffset(),
                                EpollPoller.EPOLLIN,
                                EpollPoller.EPOLLPRI,
                                EpollPoller.EPOLLOUT,
                                EpollPoller.EPOLLERR,
                                EpollPoller.EPOLLHUP,
                                EpollPoller.EPOLLRDHUP,
                                Integer.toUnsignedString(EpollPoller.EPOLLONESHOT),
                                Integer.toUnsignedString(EpollPoller.EPOLLET),
                                FdIo.O_NONBLOCK,
                                FdIo.O_CLOEXEC,
                                FdIo.O_NOCTTY,
                                Errno.EAGAIN,
                                Errno.ECONNRESET));
    }
}
