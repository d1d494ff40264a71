package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class StreamWriterTest extends OnBothPollers {
    @Test
    void I3_whatTheSystemTakesIsSentAtOnceAndKeepsNothing() throws Exception {
        run(() -> {
            Raw e = raw();
            e.stream().write(bytes("abc"));
            e.stream().write(ByteBuffer.wrap(bytes("def")));
            ByteBuffer direct = ByteBuffer.allocateDirect(3).put(bytes("ghi")).flip();
            e.stream().write(direct);
            e.stream().write(bytes("xxjklxx"), 2, 3);
            e.stream().write("mn\u00f6");
            assertThat(direct.hasRemaining()).isFalse();
            assertThat(e.stream().pendingBytes()).isZero();
            e.stream().drain();
            assertThat(text(outside(() -> e.socket().getInputStream().readNBytes(16))))
                    .isEqualTo("abcdefghijklmnö");
        });
    }

    /** What a task looked at before a write is still so when the bytes are taken, though it has to give way some time. */
    @Test
    void S14_aWriteGivesWayBehindItsEffect() throws Exception {
        run(() -> {
            Ends e = connected();
            boolean[] over = new boolean[1];
            List<String> order = new ArrayList<>();
            Task<Void> writer = Asyncio.createTask(() -> {
                for (int i = 0; i < 3_000 && !over[0]; i++) {
                    e.client().write("m");
                }
                order.add("writer");
            });
            Asyncio.createTask(() -> {
                order.add("other");
                over[0] = true;
                e.client().write("!");
                e.client().writeEof();
            });
            writer.await();
            assertThat(order).as("it gave way").containsExactly("other", "writer");
            assertThat(text(e.server().read(-1))).matches("m{1,300}!");
        });
    }

    /** The bytes are away, so the write returns, and the next operation is cancelled. */
    @Test
    void C6_S14_aCancelThatComesWhileAWriteGivesWayStaysPending() throws Exception {
        run(() -> {
            Ends e = connected();
            int[] written = new int[1];
            Task<Void> writer = Asyncio.createTask(() -> {
                while (true) {
                    e.client().write("m");
                    written[0]++;
                }
            });
            Asyncio.yieldNow(); // until it gives way
            assertThat(written[0]).isPositive();
            writer.cancel();
            assertThatThrownBy(writer::await).isInstanceOf(CancelledError.class);
            e.client().writeEof();
            assertThat(e.server().read(-1)).hasSize(written[0]);
        });
    }

    @Test
    void I3_drainWaitsOnlyAboveTheHighMarkAndUntilTheLowOne() throws Exception {
        run(() -> {
            Ends e = connected();
            fillKernel(e.client());
            e.client().waterMarks(10_000, 50_000);
            e.client().write(new byte[(int) (50_000 - e.client().pendingBytes())]);
            e.client().drain(); // at the mark is not above it
            e.client().write(new byte[1]);
            Task<Long> drained = Asyncio.createTask(() -> {
                e.client().drain();
                return e.client().pendingBytes();
            });
            letRun(drained);
            assertThat(drained.done()).isFalse();
            Task<Long> reader = discard(e.server());
            assertThat(drained.await()).isLessThanOrEqualTo(10_000);
            reader.cancel();
        });
    }

    @Test
    void I3_drainWorksForSeveralTasksInOrder() throws Exception {
        run(() -> {
            Ends e = connected();
            fillKernel(e.client());
            e.client().write(new byte[100_000]);
            List<Integer> order = new ArrayList<>();
            List<Task<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                int me = i;
                tasks.add(Asyncio.createTask(() -> {
                    e.client().drain();
                    order.add(me);
                }));
            }
            letRun(tasks.getLast());
            tasks.get(2).cancel(); // F52: the chain goes on
            Task<Long> reader = discard(e.server());
            for (Task<Void> t : tasks) {
                if (t != tasks.get(2)) {
                    t.await();
                }
            }
            assertThat(order).containsExactly(0, 1, 3, 4);
            reader.cancel();
        });
    }

    @Test
    void I3_F59_whatIsWrittenDuringADrainFollows() throws Exception {
        run(() -> {
            Ends e = connected();
            byte[] a = pattern(6 << 20);
            byte[] d = bytes("written while another task drained");
            e.client().write(a);
            Task<Void> drain = Asyncio.createTask(() -> e.client().drain());
            letRun(drain);
            e.client().write(d);
            Task<Void> second = Asyncio.createTask(() -> e.client().drain());
            assertThat(e.server().readExactly(a.length)).isEqualTo(a);
            assertThat(e.server().readExactly(d.length)).isEqualTo(d);
            drain.await();
            second.await();
        });
    }

    @Test
    void I3_C6_cancellingWritersLosesAndDoublesNothing() throws Exception {
        run(() -> {
            Ends e = connected();
            byte[] data = pattern(4_000_000);
            int[] written = {0};
            Task<byte[]> reader = Asyncio.createTask(() -> e.server().read(-1));
            while (written[0] < data.length) {
                Task<Void> writer = Asyncio.createTask(() -> {
                    while (written[0] < data.length) {
                        int n = Math.min(30_011, data.length - written[0]);
                        e.client().write(data, written[0], n);
                        written[0] += n;
                        e.client().drain();
                    }
                });
                for (int i = 0; i < 4 && !writer.done(); i++) {
                    Asyncio.yieldNow();
                }
                writer.cancel();
            }
            e.client().close();
            assertThat(reader.await()).isEqualTo(data);
        });
    }

    @Test
    void I3_F64_writersOfOneStreamKeepTheirPiecesWhole() throws Exception {
        run(() -> {
            Ends e = connected();
            List<Task<Void>> writers = new ArrayList<>();
            for (char c = 'a'; c < 'e'; c++) {
                byte[] line =
                        (String.valueOf(c).repeat(989) + "\n").getBytes(java.nio.charset.StandardCharsets.US_ASCII);
                writers.add(Asyncio.createTask(() -> {
                    for (int i = 0; i < 500; i++) {
                        e.client().write(line);
                        e.client().drain();
                    }
                }));
            }
            int[] lines = new int[4];
            for (int i = 0; i < 2_000; i++) {
                String l = e.server().readLine();
                assertThat(l).hasSize(989).matches("(.)\\1*");
                lines[l.charAt(0) - 'a']++;
            }
            assertThat(lines).containsOnly(500);
            for (Task<Void> w : writers) {
                w.await();
            }
        });
    }

    @Test
    void I3_writeUncopiedKeepsTheBufferItself() throws Exception {
        run(() -> {
            for (boolean direct : new boolean[] {true, false}) {
                Ends e = connected();
                byte[] data = pattern(10 << 20);
                ByteBuffer b = direct
                        ? ByteBuffer.allocateDirect(data.length).put(data).flip()
                        : ByteBuffer.wrap(data);
                Task<byte[]> reader = Asyncio.createTask(() -> e.server().readExactly(data.length));
                e.client().writeUncopied(b);
                assertThat(e.client().pendingBytes()).isPositive();
                assertThat(b.hasRemaining()).isFalse();
                e.client().flush();
                assertThat(e.client().pendingBytes()).isZero();
                assertThat(reader.await()).isEqualTo(data);
            }
        });
    }

    @Test
    void I3_flushWaitsForWhatWasWrittenBefore() throws Exception {
        run(() -> {
            Ends e = connected();
            byte[] data = pattern(5 << 20);
            e.client().write(data);
            Task<Void> flush = Asyncio.createTask(() -> e.client().flush());
            Task<Void> more = Asyncio.createTask(() -> {
                while (!flush.done()) { // a writer that never stops must not hold up the flush
                    e.client().write(new byte[1000]);
                    e.client().drain();
                }
            });
            assertThat(e.server().readExactly(data.length)).isEqualTo(data);
            Task<Long> reader = discard(e.server());
            flush.await();
            more.await();
            reader.cancel();
        });
    }

    @Tag("slow")
    @Test
    void I3_aSlowReaderBoundsTheMemoryOfAWriterOfAGigabyte() throws Exception {
        run(() -> {
            Ends e = connected();
            byte[] piece = new byte[64 * 1024];
            long total = 1L << 30;
            long[] most = {0};
            Asyncio.createTask(() -> {
                for (long n = 0; n < total; n += piece.length) {
                    e.client().write(piece);
                    most[0] = Math.max(most[0], e.client().pendingBytes());
                    e.client().drain();
                }
                e.client().close();
            });
            byte[] into = new byte[64 * 1024];
            long got = 0;
            for (int n; (n = e.server().readInto(into)) > 0; got += n) {
                if (got % 50 == 0) {
                    Asyncio.sleepMs(1);
                }
            }
            assertThat(got).isEqualTo(total);
            assertThat(most[0]).isLessThanOrEqualTo(2 * 64 * 1024);
        });
    }

    @Test
    void I4_aResetEndsThoseWhoDrainAndThoseWhoRead() throws Exception {
        run(() -> {
            Raw e = raw();
            e.stream().write(new byte[20 << 20]);
            Task<Void> drain = Asyncio.createTask(() -> e.stream().drain());
            Task<byte[]> read = Asyncio.createTask(() -> e.stream().read(1));
            letRun(read);
            reset(e.socket());
            assertThatThrownBy(drain::await).isInstanceOf(IOException.class);
            assertThatThrownBy(read::await).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> e.stream().write("x")).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> e.stream().drain()).isInstanceOf(IOException.class);
            assertThat(loadWhileIdle(300)).as("no spinning").isLessThan(0.5);
            e.stream().close();
            assertThat(e.stream().waitClosed()).isFalse();
        });
    }

    @Test
    void I4_halfClosedTheOtherWayItGoesOn() throws Exception {
        run(() -> {
            Ends e = connected();
            e.client().write("question");
            e.client().writeEof();
            e.client().writeEof();
            assertThatThrownBy(() -> e.client().write("x")).isInstanceOf(IllegalStateException.class);
            assertThat(text(e.server().read(-1))).isEqualTo("question");
            e.server().write("answer");
            e.server().close();
            assertThat(text(e.client().read(-1))).isEqualTo("answer");
        });
    }

    @Test
    void I4_theEndIsToldBehindWhatIsStillKept() throws Exception {
        run(() -> {
            Ends e = connected();
            byte[] data = pattern(8 << 20);
            e.client().write(data);
            e.client().writeEof();
            assertThat(e.server().read(-1)).isEqualTo(data);
            e.server().write("thanks");
            assertThat(text(e.client().readExactly(6))).isEqualTo("thanks");
        });
    }

    @Test
    void I4_closeSendsWhatIsKept() throws Exception {
        run(() -> {
            Ends e = connected();
            byte[] data = pattern(8 << 20);
            try (Stream s = e.client()) {
                s.write(data);
            }
            assertThat(e.client().isClosing()).isTrue();
            assertThatThrownBy(() -> e.client().write("x")).isInstanceOf(ClosedChannelException.class);
            assertThat(e.server().read(-1)).isEqualTo(data);
            assertThat(e.client().waitClosed()).isTrue();
        });
    }

    @Test
    void I4_F53_waitClosedIsBoundedWhenThePeerDoesNotRead() throws Exception {
        run(settings().shutdownTimeout(Duration.ofMillis(200)), () -> {
            Raw e = raw();
            e.stream().write(new byte[20 << 20]);
            e.stream().close();
            long start = System.nanoTime();
            assertThat(e.stream().waitClosed()).isFalse();
            assertThat(System.nanoTime() - start).isLessThan(5_000_000_000L);
        });
    }

    @Test
    void I4_closeDuringADrainAndAFlushEndsBoth() throws Exception {
        run(settings().shutdownTimeout(Duration.ofMillis(200)), () -> {
            Raw e = raw();
            e.stream().write(new byte[20 << 20]);
            Task<Void> drain = Asyncio.createTask(() -> e.stream().drain());
            Task<Void> flush = Asyncio.createTask(() -> e.stream().flush());
            letRun(flush);
            e.stream().abort();
            assertThatThrownBy(drain::await).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(flush::await).isInstanceOf(ClosedChannelException.class);
            assertThat(e.stream().waitClosed()).isFalse();
        });
    }

    @Test
    void I4_abortIsAResetForTheOtherSide() throws Exception {
        run(() -> {
            Ends e = connected();
            e.client().abort();
            e.client().abort();
            assertThatThrownBy(() -> e.server().read(1)).isInstanceOf(IOException.class);
        });
    }

    @Test
    void I4_aReusedDescriptorIsNeverMixedUp() throws Exception {
        run(() -> {
            for (int i = 0; i < 50; i++) {
                Raw old = raw();
                Task<byte[]> reader = Asyncio.createTask(() -> old.stream().read(1));
                letRun(reader);
                old.stream().close();
                Raw fresh = raw(); // most likely with the same number
                send(fresh.socket(), "n" + i);
                assertThatThrownBy(reader::await).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(() -> old.stream().write("old")).isInstanceOf(ClosedChannelException.class);
                assertThat(text(fresh.stream().read(10))).isEqualTo("n" + i);
                fresh.stream().close();
                assertThat(outside(() -> fresh.socket().getInputStream().read()))
                        .isEqualTo(-1);
                fresh.socket().close();
                old.socket().close();
            }
        });
    }

    @Test
    void I7_urgentBytesOvertakeNormalOnes() throws Exception {
        run(() -> {
            Raw[] raws = new Raw[10];
            List<Integer> order = new ArrayList<>();
            List<Task<Void>> readers = new ArrayList<>();
            for (int i = 0; i < raws.length; i++) {
                raws[i] = raw();
                int me = i;
                if (i == 7) {
                    raws[i].stream().priority(true);
                }
                readers.add(Asyncio.createTask(() -> {
                    raws[me].stream().read(1);
                    order.add(me);
                }));
            }
            letRun(readers.getLast());
            for (Raw r : raws) {
                send(r.socket(), "x");
            }
            long end = System.nanoTime() + 20_000_000;
            while (System.nanoTime() < end) {
                // Hold the loop until all have come, so that one look finds them together.
            }
            for (Task<Void> t : readers) {
                t.await();
            }
            assertThat(order.getFirst()).isEqualTo(7);
            assertThat(order).hasSize(10);
        });
    }

    /** A reader, or a drain, becomes ready while ten tasks are: how many of these run before it. */
    private static int tasksBefore(boolean reading, boolean readPriority, boolean writePriority) throws Exception {
        Raw e = raw();
        e.stream().readPriority(readPriority);
        e.stream().writePriority(writePriority);
        List<String> order = new ArrayList<>();
        if (!reading) {
            fillKernel(e.stream());
            e.stream().write(new byte[100_000]);
        }
        Task<Void> io = Asyncio.createTask(() -> {
            if (reading) {
                e.stream().read(1);
            } else {
                e.stream().drain();
            }
            order.add("io");
        });
        letRun(io);
        for (int i = 0; i < 10; i++) {
            Asyncio.createTask(() -> order.add("task"));
        }
        Thread peer = Thread.ofPlatform().daemon().start(() -> {
            try {
                if (reading) {
                    e.socket().getOutputStream().write(1);
                } else {
                    e.socket().getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
                }
            } catch (IOException aborted) {
                Thread.yield();
            }
        });
        long end = System.nanoTime() + 100_000_000; // holds the loop until the peer has acted
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        io.await();
        e.stream().abort();
        peer.join();
        return order.indexOf("io");
    }

    private void assertOvertaking(boolean ioFirst, boolean readPriority, boolean writePriority) throws Exception {
        run(settings().ioFirst(ioFirst), () -> {
            for (boolean reading : new boolean[] {true, false}) {
                int expected = ioFirst || (reading ? readPriority : writePriority) ? 0 : 10;
                int before = -1;
                for (int attempt = 0; attempt < 5 && before != expected; attempt++) { // the peer may have been late
                    before = tasksBefore(reading, readPriority, writePriority);
                }
                assertThat(before).as(reading ? "read" : "drain").isEqualTo(expected);
            }
        });
    }

    @Test
    void I7_eachDirectionHasItsPriorityAndIoFirstIsForAll() throws Exception {
        assertOvertaking(false, false, false);
        assertOvertaking(false, true, false);
        assertOvertaking(false, false, true);
        assertOvertaking(true, false, false);
    }

    @Test
    void S11_theLoopClosesStreamsThatAreLeftOpenAndSendsWhatTheyKeep() throws Exception {
        byte[] data = pattern(3 << 20);
        java.net.Socket[] other = new java.net.Socket[1];
        byte[][] got = new byte[1][];
        Thread[] reader = new Thread[1];
        run(() -> {
            Raw e = raw();
            other[0] = e.socket();
            raw(); // never closed
            e.stream().write(data);
            e.stream().close();
            reader[0] = Thread.ofPlatform().start(() -> {
                try {
                    got[0] = e.socket().getInputStream().readAllBytes();
                } catch (IOException x) {
                    got[0] = x.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
                }
            });
        });
        reader[0].join();
        assertThat(Arrays.equals(got[0], data)).isTrue();
        assertThat(errors).isEmpty();
    }

    @Test
    void cancelBeforeAWriteIsDeliveredBeforeAnythingIsSent_C3() throws Exception {
        run(() -> {
            Raw e = raw();
            Task<Void> t = Asyncio.createTask(() -> {
                Asyncio.currentTask().cancel();
                e.stream().write("never");
            });
            assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
            e.stream().write("this");
            assertThat(text(outside(() -> e.socket().getInputStream().readNBytes(4))))
                    .isEqualTo("this");
        });
    }

    private static void fillKernel(Stream s) throws IOException {
        while (s.pendingBytes() == 0) {
            s.write(new byte[32 * 1024]);
        }
    }

    private static Task<Long> discard(Stream s) {
        return Asyncio.createTask(() -> {
            long n = 0;
            byte[] b = new byte[64 * 1024];
            for (int k; (k = s.readInto(b)) > 0; ) {
                n += k;
            }
            return n;
        });
    }

    /** They share the loop's scratch buffer, and S14 has them give way at any operation. */
    @Test
    void I3_S14_manyCopiesAtOnceMixNothing() throws Exception {
        run(() -> {
            List<Task<byte[]>> received = new ArrayList<>();
            List<byte[]> sent = new ArrayList<>();
            List<Task<Long>> copies = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                byte[] data = new byte[4 << 20];
                Arrays.fill(data, (byte) ('A' + i));
                sent.add(data);
                Ends in = connected();
                Ends out = connected();
                boolean layered = i % 3 == 2;
                Stream from = in.server();
                StreamWriter to = layered ? Streams.layered(out.client(), LayerTest.Mask::new) : out.client();
                Stream end = layered ? Streams.layered(out.server(), LayerTest.Mask::new) : out.server();
                Asyncio.createTask(() -> {
                    in.client().write(data);
                    in.client().writeEof();
                });
                copies.add(Asyncio.createTask(() -> {
                    long n = from.copyTo(to);
                    to.close();
                    return n;
                }));
                received.add(Asyncio.createTask(() -> end.read(-1)));
            }
            for (int i = 0; i < sent.size(); i++) {
                assertThat(copies.get(i).await()).isEqualTo(4 << 20);
                assertThat(Arrays.mismatch(received.get(i).await(), sent.get(i)))
                        .as("copy " + i)
                        .isEqualTo(-1);
            }
        });
    }
}
