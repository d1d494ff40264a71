package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.ChildJvm;
import io.fastio.EventLoop;
import io.fastio.Task;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DescriptorTest extends OnBothPollers {
    private void onEpoll() {
        assumeTrue(poller == EventLoop.PollerKind.EPOLL, "the selector serves channels only");
    }

    @Test
    void I7_aPipeOfTheProcess() throws Exception {
        run(() -> {
            Streams.Pipe p = Streams.pipe();
            byte[] data = pattern(500_000);
            Asyncio.createTask(() -> {
                p.sink().write(data);
                p.sink().close();
            });
            assertThat(p.source().read(-1)).isEqualTo(data);
            assertThatThrownBy(() -> p.source().write("x")).isInstanceOf(IOException.class);
            Streams.Pipe q = Streams.pipe();
            q.sink().writeEof();
            assertThat(q.source().read(1)).isEmpty();
            Streams.Pipe broken = Streams.pipe();
            broken.source().close();
            Asyncio.sleepMs(2);
            assertThatThrownBy(() -> {
                        while (true) {
                            broken.sink().write("x");
                            broken.sink().flush();
                            Asyncio.yieldNow();
                        }
                    })
                    .isInstanceOf(IOException.class);
        });
    }

    @Test
    void I7_aPtyAtFullDuplex() throws Exception {
        onEpoll();
        run(() -> {
            Pty pty = Pty.open();
            byte[] there = pattern(100_000);
            byte[] back = pattern(77_777);
            Task<byte[]> a = Asyncio.createTask(() -> pty.terminal().readExactly(there.length));
            Task<byte[]> b = Asyncio.createTask(() -> pty.controller().readExactly(back.length));
            pty.controller().write(there);
            pty.terminal().write(back);
            assertThat(a.await()).isEqualTo(there);
            assertThat(b.await()).isEqualTo(back);
            pty.close();
        });
    }

    @Test
    void F83_aTerminalThatIsUnpluggedIsOneErrorOrTheEndAndCloseStillWorks() throws Exception {
        onEpoll();
        run(() -> {
            Pty pty = Pty.open();
            Task<byte[]> reader = Asyncio.createTask(() -> pty.terminal().read(1));
            letRun(reader);
            pty.controller().close();
            try {
                assertThat(reader.await()).isEmpty();
            } catch (IOException hungUp) {
                assertThat(hungUp).hasMessageContaining("EIO");
            }
            assertThatThrownBy(() -> {
                        pty.terminal().write("x");
                        pty.terminal().flush();
                    })
                    .isInstanceOf(IOException.class);
            assertThat(loadWhileIdle(200)).isLessThan(0.5);
            pty.terminal().close();
            pty.terminal().waitClosed();
            assertThat(errors).isEmpty();
        });
    }

    @Test
    void F83_theControllerSeesTheTerminalsEndAsTheEnd() throws Exception {
        onEpoll();
        run(() -> {
            Pty pty = Pty.open();
            pty.terminal().write("bye");
            pty.terminal().flush();
            pty.terminal().close();
            assertThat(text(pty.controller().read(-1))).isEqualTo("bye");
            pty.close();
        });
    }

    @Test
    void I7_aFifoWaitsForBothSides(@TempDir Path dir) throws Exception {
        onEpoll();
        run(() -> {
            Path fifo = dir.resolve("fifo");
            assertThat(Subprocess.start("mkfifo", fifo.toString()).waitFor()).isZero();
            Task<Stream> writer = Asyncio.createTask(() -> Streams.openFile(fifo, StandardOpenOption.WRITE));
            letRun(writer);
            assertThat(writer.done()).as("nobody reads yet").isFalse();
            Stream reader = Streams.openFile(fifo);
            Task<String> line = Asyncio.createTask(() -> reader.readLine());
            Stream w = writer.await();
            w.write("through the fifo\n");
            assertThat(line.await()).isEqualTo("through the fifo");
            w.close();
            assertThat(reader.read(1)).isEmpty();
            reader.close();
        });
    }

    @Test
    void I7_aCancelledWaitForAFifosReaderLeavesNothing(@TempDir Path dir) throws Exception {
        onEpoll();
        run(() -> {
            Path fifo = dir.resolve("fifo");
            Subprocess.start("mkfifo", fifo.toString()).waitFor();
            Task<Stream> t = Asyncio.createTask(() -> Streams.openFile(fifo, StandardOpenOption.WRITE));
            letRun(t);
            t.cancel();
            assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
        });
    }

    /** A call of the C library whose result is an int, and whose arguments are ints and memory. */
    private static int call(String name, Object... arguments) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MemoryLayout[] types = new MemoryLayout[arguments.length];
        for (int i = 0; i < types.length; i++) {
            types[i] = arguments[i] instanceof MemorySegment ? ValueLayout.ADDRESS : ValueLayout.JAVA_INT;
        }
        return (int) linker.downcallHandle(
                        linker.defaultLookup().find(name).orElseThrow(),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, types))
                .invokeWithArguments(arguments);
    }

    @Test
    void I7_aTimerAndADirectoryWatchOfTheKernelAreStreamsToo(@TempDir Path dir) throws Exception {
        onEpoll();
        run(() -> {
            int timer;
            int watch;
            long start;
            try (Arena arena = Arena.ofConfined()) {
                timer = call("timerfd_create", 1, 0);
                MemorySegment once = arena.allocate(ValueLayout.JAVA_LONG, 4);
                once.setAtIndex(ValueLayout.JAVA_LONG, 3, 20_000_000);
                start = System.nanoTime();
                assertThat(call("timerfd_settime", timer, 0, once, MemorySegment.NULL))
                        .isZero();
                watch = call("inotify_init1", 0);
                assertThat(call("inotify_add_watch", watch, arena.allocateFrom(dir.toString()), 0x100))
                        .isPositive();
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            try (Stream t = Streams.ofDescriptor(timer);
                    Stream w = Streams.ofDescriptor(watch)) {
                Task<byte[]> change = Asyncio.createTask(() -> w.read(4096));
                assertThat(t.readExactly(8)).containsExactly(1, 0, 0, 0, 0, 0, 0, 0);
                assertThat(System.nanoTime() - start).isBetween(20_000_000L, 10_000_000_000L);
                assertThat(change.done()).isFalse();
                Files.createFile(dir.resolve("appeared"));
                assertThat(text(change.await())).contains("appeared");
            }
        });
    }

    @Test
    void I7_theStandardStreamsOfAProcessAtATerminal(@TempDir Path dir) throws Exception {
        onEpoll();
        run(() -> {
            for (String of : new String[] {"EPOLL", "SELECTOR"}) {
                Pty pty = Pty.open();
                ProcessBuilder b = new ProcessBuilder(ChildJvm.command(ChildJvm.FLAGS, CatMain.class, of));
                b.redirectInput(pty.path().toFile()).redirectOutput(pty.path().toFile());
                Process p = b.start();
                pty.controller().write("typed\n");
                assertThat(pty.controller().readLine()).isEqualTo("<typed>");
                pty.controller().write("again\n");
                assertThat(pty.controller().readLine()).isEqualTo("<again>");
                assertThat(p.isAlive()).isTrue();
                pty.close();
                boolean ended = outside(() -> p.waitFor(20, TimeUnit.SECONDS));
                assertThat(ended).as("its terminal was unplugged").isTrue();
            }
        });
    }

    @Test
    void I7_regularFilesNeverWait(@TempDir Path dir) throws Exception {
        onEpoll();
        run(() -> {
            Path file = dir.resolve("file");
            byte[] data = pattern(300_000);
            try (Stream s = Streams.openFile(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
                s.write(data);
            }
            try (Stream s = Streams.openFile(file, StandardOpenOption.APPEND)) {
                s.write("end");
            }
            try (Stream s = Streams.openFile(file)) {
                assertThat(s.readExactly(data.length)).isEqualTo(data);
                assertThat(text(s.read(-1))).isEqualTo("end");
                assertThat(s.getExtraInfo("fd")).isInstanceOf(Integer.class);
            }
            assertThat(Files.size(file)).isEqualTo(data.length + 3);
            assertThatThrownBy(() -> Streams.openFile(dir.resolve("none"))).isInstanceOf(FileNotFoundException.class);
            assertThatThrownBy(() -> Streams.openFile(file, StandardOpenOption.DSYNC))
                    .isInstanceOf(UnsupportedOperationException.class);
            try (Stream s = Streams.openFile(Path.of("/dev/null"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                s.write("nowhere");
                assertThat(s.read(1)).isEmpty();
            }
        });
    }

    @Test
    void descriptorsNeedEpoll() throws Exception {
        assumeTrue(poller == EventLoop.PollerKind.SELECTOR);
        run(() -> {
            assertThatThrownBy(() -> Streams.openFile(Path.of("/dev/null")))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("epoll");
            assertThatThrownBy(Pty::open).isInstanceOf(UnsupportedOperationException.class);
        });
    }

    @Test
    void I7_aChildProcessIsReadAndWritten() throws Exception {
        run(() -> {
            Subprocess p = Subprocess.start("bash", "-c", "while read l; do echo \"[$l]\"; done; echo bye >&2; exit 3");
            p.stdin().write("one\n");
            assertThat(p.stdout().readLine()).isEqualTo("[one]");
            p.stdin().write("two\n");
            assertThat(p.stdout().readLine()).isEqualTo("[two]");
            p.stdin().close();
            assertThat(text(p.stdout().read(-1))).isEmpty();
            assertThat(text(p.stderr().read(-1))).isEqualTo("bye\n");
            assertThat(p.waitFor()).isEqualTo(3);
            p.close();
        });
    }

    @Test
    void communicateMovesMoreThanAnyPipeHolds() throws Exception {
        run(() -> {
            byte[] data = pattern(2 << 20);
            Subprocess.Output o = Subprocess.start("cat").communicate(data);
            assertThat(o.exitCode()).isZero();
            assertThat(o.stdout()).isEqualTo(data);
            assertThat(o.stderr()).isEmpty();
            assertThat(Subprocess.start("true").communicate(data).exitCode())
                    .as("a process need not read its input")
                    .isZero();
            ProcessBuilder merged =
                    new ProcessBuilder("bash", "-c", "echo out; echo err >&2").redirectErrorStream(true);
            Subprocess.Output m = Subprocess.start(merged).communicate(new byte[0]);
            assertThat(text(m.stdout())).isEqualTo("out\nerr\n");
            assertThat(m.stderr()).isEmpty();
            assertThatThrownBy(() -> Subprocess.start("/no/such/program")).isInstanceOf(IOException.class);
        });
    }

    @Test
    void C2_aCancelledReadFromAProcessLosesNothing() throws Exception {
        run(() -> {
            Subprocess p = Subprocess.of(new ProcessBuilder("cat").start());
            for (int i = 0; i < 5; i++) {
                Task<byte[]> t = Asyncio.createTask(() -> p.stdout().read(10));
                letRun(t);
                t.cancel();
                assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
                p.stdin().write("n" + i + "\n");
                p.stdin().flush();
                assertThat(p.stdout().readLine()).isEqualTo("n" + i);
            }
            p.stdin().writeEof();
            assertThat(p.stdout().read(-1)).isEmpty();
            assertThat(p.waitFor()).isZero();
            p.close();
        });
    }

    @Test
    void I7_theStandardStreamsOfAProcessWhateverTheyLeadTo(@TempDir Path dir) throws Exception {
        Path in = dir.resolve("in");
        Files.writeString(in, "first\nsecond\n");
        Path out = dir.resolve("out");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String run = "\"$0\" --add-opens java.base/java.lang=ALL-UNNAMED --add-exports java.base/sun.nio.ch=ALL-UNNAMED"
                + " --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -cp \"$1\" io.fastio.stream.CatMain "
                + poller.name();
        String[] scripts = {
            "(read skipped; " + run + ") < " + in + " > " + out, // a file whose beginning is used up
            "(echo first; echo second) | (read skipped; " + run + ") | cat > " + out,
            "mkfifo f; (echo second > f) & " + run + " < f >> " + out,
        };
        run(() -> {
            for (String s : scripts) {
                Files.deleteIfExists(out);
                ProcessBuilder b = new ProcessBuilder("bash", "-c", s, java, System.getProperty("java.class.path"));
                b.directory(dir.toFile());
                Subprocess.Output o = Subprocess.start(b).communicate(new byte[0]);
                assertThat(text(o.stderr())).as(s).isEqualTo("2 lines\n");
                assertThat(o.exitCode()).isZero();
                assertThat(out).as(s).hasContent("<second>\n<end>\n");
            }
        });
    }
}
