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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DeviceTest extends OnBothPollers {
    /** A driver whose state the test sets. */
    private static class Fake implements Device {
        final ArrayDeque<byte[]> input = new ArrayDeque<>();
        final StringBuilder output = new StringBuilder();
        int room = Integer.MAX_VALUE;
        int polls;
        boolean ended;
        int closes;

        @Override
        public int poll(int interest) {
            polls++;
            int ready = room > 0 ? WRITE : 0;
            if (!input.isEmpty() || ended) {
                ready |= READ;
            }
            return ready & interest;
        }

        @Override
        public int read(ByteBuffer dst) throws IOException {
            byte[] b = input.poll();
            if (b == null) {
                return ended ? -1 : 0;
            }
            dst.put(b);
            return b.length;
        }

        @Override
        public int write(ByteBuffer src) throws IOException {
            int n = Math.min(src.remaining(), room);
            for (int i = 0; i < n; i++) {
                output.append((char) src.get());
            }
            room -= n;
            return n;
        }

        @Override
        public void close() {
            closes++;
        }
    }

    @Test
    void I8_aDeviceIsReadAndWrittenLikeAnyStream() throws Exception {
        run(() -> {
            Fake d = new Fake();
            Stream s = new Stream(d);
            Task<String> line = Asyncio.createTask(() -> s.readLine());
            letRun(line);
            d.input.add(bytes("hel"));
            Asyncio.sleepMs(5);
            d.input.add(bytes("lo\nrest"));
            assertThat(line.await()).isEqualTo("hello");
            d.ended = true;
            assertThat(text(s.read(-1))).isEqualTo("rest");
            d.room = 3;
            s.write("abcdef");
            assertThat(d.output).hasToString("abc");
            Task<Void> flush = Asyncio.createTask(() -> s.flush());
            letRun(flush);
            d.room = 100;
            flush.await();
            assertThat(d.output).hasToString("abcdef");
            s.close();
            s.close();
            assertThat(d.closes).isEqualTo(1);
        });
    }

    @Test
    void I8_anIdleLoopAsksAtTheInterval() throws Exception {
        run(settings().devicePollInterval(Duration.ofMillis(5)), () -> {
            Fake d = new Fake();
            Task<byte[]> t = Asyncio.createTask(() -> new Stream(d).read(1));
            letRun(t);
            d.polls = 0;
            Asyncio.sleepMs(200);
            assertThat(d.polls).isBetween(5, 45);
            assertThat(loadWhileIdle(300)).isLessThan(0.5);
            d.input.add(bytes("x"));
            t.await();
            int polls = d.polls;
            Asyncio.sleepMs(30);
            assertThat(d.polls).as("asked only while somebody waits").isEqualTo(polls);
        });
    }

    @Test
    void I8_aBusyLoopAsksOnceARound() throws Exception {
        run(() -> {
            Fake d = new Fake();
            Task<byte[]> t = Asyncio.createTask(() -> new Stream(d).read(1));
            Task<Void> other = Asyncio.createTask(() -> {
                while (true) {
                    Asyncio.yieldNow();
                }
            });
            letRun(t);
            int before = d.polls;
            for (int i = 0; i < 1_000; i++) {
                Asyncio.yieldNow();
            }
            assertThat(d.polls - before).isBetween(900, 1_100);
            other.cancel();
            t.cancel();
        });
    }

    @Test
    void I8_aTaskThatYieldsAllByItselfDoesNotKeepADeviceFromBeingAsked() throws Exception {
        run(() -> {
            Fake d = new Fake();
            Task<byte[]> t = Asyncio.createTask(() -> new Stream(d).read(1));
            letRun(t);
            d.input.add(bytes("x"));
            for (int i = 0; i < 10 && !t.done(); i++) {
                Asyncio.yieldNow(); // every one of them is a round
            }
            assertThat(t.done()).isTrue();
        });
    }

    @Test
    void I8_aPriorityDeviceIsAskedBetweenTheStepsOfOthers() throws Exception {
        run(() -> {
            List<Long> medians = new ArrayList<>(); // as a NORMAL device, as an URGENT one
            for (boolean priority : new boolean[] {false, true}) {
                Fake d = new Fake();
                Stream s = new Stream(d).priority(priority);
                List<Long> lateness = new ArrayList<>();
                long[] ready = {0};
                Task<Void> t = Asyncio.createTask(() -> {
                    for (int i = 0; i < 10; i++) {
                        s.read(1);
                        lateness.add(System.nanoTime() - ready[0]);
                    }
                });
                List<Task<Void>> hogs = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    hogs.add(Asyncio.createTask(() -> {
                        while (true) {
                            long end = System.nanoTime() + 2_000_000;
                            while (System.nanoTime() < end) {
                                Thread.onSpinWait();
                            }
                            if (d.input.isEmpty() && lateness.size() < 10) {
                                ready[0] = System.nanoTime();
                                d.input.add(bytes("x"));
                            }
                            Asyncio.yieldNow();
                        }
                    }));
                }
                t.await();
                hogs.forEach(Task::cancel);
                lateness.sort(null);
                long median = lateness.get(5);
                medians.add(median);
            }
            assertThat(medians.get(1))
                    .as("after one step, not after a round of ten")
                    .isLessThan(medians.get(0) / 2);
        });
    }

    @Test
    void I8_whatADriverThrowsGoesToItsWaiterOnly() throws Exception {
        run(() -> {
            Fake good = new Fake();
            Fake bad = new Fake() {
                @Override
                public int poll(int interest) {
                    if (polls++ > 2) {
                        throw new IllegalArgumentException("broken driver");
                    }
                    return 0;
                }
            };
            Stream b = new Stream(bad);
            Task<byte[]> g = Asyncio.createTask(() -> new Stream(good).read(1));
            Task<byte[]> t = Asyncio.createTask(() -> b.read(1));
            assertThatThrownBy(t::await)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("broken driver");
            good.input.add(bytes("x"));
            assertThat(g.await()).hasSize(1);
            assertThat(errors).isEmpty();
        });
    }

    @Test
    void I8_whatADriverThrowsAtAWriteGoesToTheWriterOnly() throws Exception {
        run(() -> {
            Fake d = new Fake() {
                @Override
                public int write(ByteBuffer src) throws IOException {
                    if (output.length() >= 3) {
                        throw new IllegalStateException("broken driver");
                    }
                    return super.write(src);
                }
            };
            d.room = 3;
            Stream s = new Stream(d);
            Task<byte[]> reader = Asyncio.createTask(() -> s.read(1));
            s.write("abcdef");
            Task<Void> flush = Asyncio.createTask(() -> s.flush());
            letRun(flush);
            d.room = 3;
            assertThatThrownBy(flush::await).isInstanceOf(IOException.class).hasMessageContaining("broken driver");
            assertThatThrownBy(() -> s.write("g")).hasMessageContaining("broken driver");
            assertThat(reader.done()).isFalse();
            d.input.add(bytes("x"));
            assertThat(text(reader.await())).isEqualTo("x");
            assertThat(errors).isEmpty();
            s.close();
        });
    }

    @Test
    void I8_aDriverThatIsAlwaysReadyToWriteButTakesNothingDoesNotHoldTheLoop() throws Exception {
        run(() -> {
            Fake d = new Fake() {
                @Override
                public int poll(int interest) {
                    return interest & WRITE;
                }

                @Override
                public int write(ByteBuffer src) {
                    polls++;
                    return 0;
                }
            };
            Stream s = new Stream(d).priority(true);
            s.write("never");
            Task<Void> flush = Asyncio.createTask(() -> s.flush());
            for (int i = 0; i < 50; i++) {
                Asyncio.sleepMs(1);
            }
            assertThat(d.polls).isPositive();
            assertThat(flush.cancel()).isTrue();
            assertThatThrownBy(flush::await).isInstanceOf(CancelledError.class);
            assertThat(s.pendingBytes()).isEqualTo(5);
            s.abort();
        });
    }

    @Test
    void F85_anOverrunIsTheErrorOfOneReadAndTheStreamStaysUsable() throws Exception {
        run(() -> {
            boolean[] overrun = {true};
            Fake d = new Fake() {
                @Override
                public int read(ByteBuffer dst) throws IOException {
                    if (overrun[0]) {
                        overrun[0] = false;
                        throw new IOException("overrun");
                    }
                    return super.read(dst);
                }
            };
            d.input.add(bytes("x"));
            Stream s = new Stream(d);
            assertThatThrownBy(() -> s.read(1)).isInstanceOf(IOException.class).hasMessage("overrun");
            assertThat(text(s.read(1))).isEqualTo("x");
        });
    }

    @Test
    void I8_aDriverThatIsAlwaysReadyButNeverGivesAnythingDoesNotHoldTheLoop() throws Exception {
        run(() -> {
            Fake d = new Fake() {
                @Override
                public int poll(int interest) {
                    return interest;
                }
            };
            Task<byte[]> t =
                    Asyncio.createTask(() -> new Stream(d).priority(true).read(1));
            int[] steps = {0};
            Task<Void> other = Asyncio.createTask(() -> {
                for (; steps[0] < 100; steps[0]++) {
                    Asyncio.sleepMs(1);
                }
            });
            other.await();
            assertThat(steps[0]).isEqualTo(100);
            t.cancel();
            assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
        });
    }

    @Test
    void I8_aDriverThatIsAlwaysReadyLeavesTheOthersTheirShare() throws Exception {
        run(() -> {
            Fake d = new Fake() {
                @Override
                public int poll(int interest) {
                    return interest;
                }

                @Override
                public int read(ByteBuffer dst) {
                    dst.put((byte) 1);
                    return 1;
                }
            };
            Stream s = new Stream(d).priority(true);
            Task<Void> t = Asyncio.createTask(() -> {
                while (true) {
                    s.read(1);
                }
            });
            for (int i = 0; i < 20; i++) {
                Asyncio.sleepMs(1);
            }
            assertThat(t.done()).isFalse();
            t.cancel();
        });
    }

    @Test
    void I8_aDriverThatIsNeverReadyCostsNothingButTheAsking() throws Exception {
        run(() -> {
            Fake d = new Fake();
            Task<byte[]> t =
                    Asyncio.createTask(() -> new Stream(d).priority(true).read(1));
            assertThat(loadWhileIdle(300)).isLessThan(0.6);
            t.cancel();
            assertThatThrownBy(t::await).isInstanceOf(CancelledError.class);
            int polls = d.polls;
            Asyncio.sleepMs(20);
            assertThat(d.polls).as("C2: nothing is left of a cancelled wait").isEqualTo(polls);
        });
    }

    @Test
    void F65_aDriverWhoseReadinessIsAMatterOfTimeAlone() throws Exception {
        run(() -> {
            long due = System.nanoTime() + 50_000_000;
            Fake d = new Fake() {
                @Override
                public int poll(int interest) {
                    return System.nanoTime() >= due ? interest : 0;
                }
            };
            d.input.add(bytes("x"));
            new Stream(d).read(1);
            assertThat(System.nanoTime()).isBetween(due, due + 2_000_000_000L);
        });
    }

    @Test
    void I1_readerAndWriterOfADeviceHaveNothingToDoWithEachOther() throws Exception {
        run(() -> {
            Fake d = new Fake();
            d.room = 0;
            Stream s = new Stream(d);
            Task<byte[]> reader = Asyncio.createTask(() -> s.read(1));
            s.write("later");
            Task<Void> writer = Asyncio.createTask(() -> s.flush());
            letRun(writer);
            reader.cancel();
            d.room = 10;
            writer.await();
            assertThat(d.output).hasToString("later");
            assertThatThrownBy(() -> s.writeEof()).isInstanceOf(UnsupportedOperationException.class);
        });
    }

    @Test
    void C2_I1_aCancelledReadersPlaceAtADeviceIsFreeInThatVeryTurn() throws Exception {
        run(() -> {
            Fake d = new Fake();
            Stream s = new Stream(d);
            Task<byte[]> first = Asyncio.createTask(() -> s.read(10));
            letRun(first);
            first.cancel();
            Asyncio.createTask(() -> d.input.add(bytes("x")));
            assertThat(text(s.read(10))).isEqualTo("x");
            assertThatThrownBy(first::await).isInstanceOf(CancelledError.class);
            s.close();
        });
    }

    @Test
    void I4_closingADeviceEndsItsWaits() throws Exception {
        run(() -> {
            Fake d = new Fake();
            Stream s = new Stream(d);
            Task<byte[]> t = Asyncio.createTask(() -> s.read(1));
            letRun(t);
            s.close();
            assertThatThrownBy(t::await).isInstanceOf(ClosedChannelException.class);
            assertThat(d.closes).isEqualTo(1);
        });
    }

    @Test
    void S11_theLoopClosesDevicesThatAreLeftOpen() throws Exception {
        Fake d = new Fake();
        run(() -> {
            Stream s = new Stream(d);
            Task<byte[]> t = Asyncio.createTask(() -> s.read(1));
            letRun(t);
        });
        assertThat(d.closes).isEqualTo(1);
    }

    @Test
    void I8_aDriverThatTellsOfChangesIsAskedThenOnly() throws Exception {
        run(() -> {
            for (boolean priority : new boolean[] {true, false}) {
                Runnable[] changed = new Runnable[1];
                Fake d = new Fake() {
                    @Override
                    public boolean notifies(Runnable news) {
                        changed[0] = news;
                        return true;
                    }
                };
                Stream s = new Stream(d).priority(priority);
                Task<byte[]> t = Asyncio.createTask(() -> s.read(1));
                letRun(t);
                d.polls = 0;
                Asyncio.sleepMs(20);
                assertThat(d.polls).isZero();
                changed[0].run();
                Asyncio.sleepMs(5);
                assertThat(t.done()).isFalse();
                d.input.add(bytes("x"));
                Thread other = Thread.ofPlatform().start(changed[0]);
                assertThat(text(t.await())).isEqualTo("x");
                other.join();
                assertThat(d.polls).isLessThan(10);
                s.close();
                changed[0].run();
            }
        });
    }
}
