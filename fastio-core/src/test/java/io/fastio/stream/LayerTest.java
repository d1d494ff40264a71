package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.Task;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A protocol of the smallest kind laid over sockets: what any stream does, one behind a layer does. */
final class LayerTest extends OnBothPollers {
    private static final int MUCH = 4 << 20;
    private static final byte KEY = 0x5a;

    /** Turns every byte into another; keeps at most one piece that did not go out at once. */
    static class Mask implements Layer {
        private final Below below;
        private final ByteBuffer kept = ByteBuffer.allocate(8192).limit(0);

        Mask(Below below) {
            this.below = below;
        }

        @Override
        public int read(ByteBuffer dst) throws IOException {
            int start = dst.position();
            int n = below.read(dst);
            for (int i = start; i < dst.position(); i++) {
                dst.put(i, (byte) (dst.get(i) ^ KEY));
            }
            return n;
        }

        @Override
        public boolean isReadable() {
            return false;
        }

        @Override
        public int write(ByteBuffer src) throws IOException {
            if (!flush()) {
                return 0;
            }
            kept.clear();
            while (src.hasRemaining() && kept.hasRemaining()) {
                kept.put((byte) (src.get() ^ KEY));
            }
            kept.flip();
            int taken = kept.remaining();
            flush();
            return taken; // what is kept goes out before anything else does
        }

        @Override
        public boolean flush() throws IOException {
            while (kept.hasRemaining()) {
                if (below.write(kept) == 0) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public boolean canHalfClose() {
            return false;
        }

        @Override
        public void writeEof() throws IOException {
            throw new IOException("no way to say so");
        }

        @Override
        public @Nullable ByteBuffer close() {
            return kept.hasRemaining() ? kept : null;
        }

        @Override
        public @Nullable Object info(String name) {
            return name.equals("mask") ? KEY : null;
        }
    }

    @Test
    void I3_F86_drainGoesOnBehindALayerWhenThePeerReadsAtLast() throws Exception {
        run(() -> {
            Ends ends = connected();
            Stream writer = Streams.layered(ends.client(), Mask::new);
            Stream reader = Streams.layered(ends.server(), Mask::new);
            byte[] data = pattern(MUCH);
            List<String> order = new ArrayList<>();
            Task<Void> sending = Asyncio.createTask(() -> {
                writer.write(data);
                writer.drain();
                order.add("drained");
            });
            Asyncio.sleepMs(50);
            assertThat(sending.done()).isFalse(); // the socket holds less than that
            order.add("reading");
            assertThat(reader.readExactly(MUCH)).isEqualTo(data);
            sending.await();
            assertThat(order).containsExactly("reading", "drained");
            writer.close();
            assertThat(reader.read(1)).isEmpty();
            reader.close();
        });
    }

    @Test
    void I1_C6_aCancelledReadBehindALayerLeavesTheWriterAndTheBytes() throws Exception {
        run(() -> {
            Ends ends = connected();
            Stream a = Streams.layered(ends.client(), Mask::new);
            Stream b = Streams.layered(ends.server(), Mask::new);
            Task<Void> sending = Asyncio.createTask(() -> {
                a.write(pattern(MUCH));
                a.drain();
            });
            assertThatThrownBy(() -> Asyncio.waitForMs(() -> a.read(1), 20)).isInstanceOf(TimeoutException.class);
            assertThat(b.readExactly(MUCH)).isEqualTo(pattern(MUCH));
            sending.await();
            b.write("late\n");
            assertThat(a.readLine()).isEqualTo("late");
            assertThat(a.getExtraInfo("mask")).isEqualTo(KEY);
            a.close();
            b.close();
        });
    }

    @Test
    void I4_closeBehindALayerEndsTheReadAndSendsWhatWasWritten() throws Exception {
        run(() -> {
            Ends ends = connected();
            Stream a = Streams.layered(ends.client(), Mask::new);
            Stream b = Streams.layered(ends.server(), Mask::new);
            Task<byte[]> reading = Asyncio.createTask(() -> a.read(1));
            letRun(reading);
            byte[] data = pattern(MUCH);
            a.write(data);
            a.close();
            assertThatThrownBy(reading::await).isInstanceOf(ClosedChannelException.class);
            assertThat(b.read(-1)).isEqualTo(data);
            b.close();
        });
    }

    @Test
    void I4_anErrorOfTheLayerGoesToWhoReads() throws Exception {
        run(() -> {
            Ends ends = connected();
            Stream a = Streams.layered(ends.client(), below -> new Mask(below) {
                @Override
                public int read(ByteBuffer dst) throws IOException {
                    throw new IOException("bad frame");
                }
            });
            ends.server().write("x");
            assertThatThrownBy(() -> a.read(1)).isInstanceOf(IOException.class).hasMessageContaining("bad frame");
            a.abort();
            ends.server().close();
        });
    }

    /** I7: the priority of a stream is that of what is laid over it, for who waits to write as for who waits to read. */
    @Test
    void I7_aStreamKeepsItsPriorityBehindALayer() throws Exception {
        run(() -> {
            Ends ends = connected();
            ends.client().priority(true);
            Stream s = Streams.layered(ends.client(), Mask::new);
            List<String> order = new ArrayList<>();
            s.write(pattern(MUCH));
            Task<?> reader = Asyncio.createTask(() -> {
                assertThat(s.readLine()).isEqualTo("news");
                order.add("reader");
            });
            Task<?> writer = Asyncio.createTask(() -> {
                assertThatThrownBy(s::drain).isInstanceOf(IOException.class);
                order.add("writer");
            });
            Asyncio.sleepMs(20);
            Streams.layered(ends.server(), Mask::new).write("news\n");
            addBehindAnArrival(order, reader);
            ends.server().abort();
            addBehindAnArrival(order, writer);
            assertThat(order.subList(0, 2)).contains("reader"); // the loop looks before a step, or behind it
            assertThat(order.subList(51, 53)).contains("writer");
        });
    }

    /** What is ready when something arrives, and waits longer than {@code urgent}, which it is for. */
    private static void addBehindAnArrival(List<String> order, Task<?> urgent) throws Exception {
        long end = System.nanoTime() + 20_000_000;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait(); // until the kernel has carried it from socket to socket
        }
        List<Task<?>> others = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            others.add(Asyncio.createTask(() -> order.add("other")));
        }
        for (Task<?> t : others) {
            t.await();
        }
        urgent.await();
    }
}
