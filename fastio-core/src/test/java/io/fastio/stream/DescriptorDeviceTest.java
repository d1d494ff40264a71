package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.EventLoop.PollerKind;
import io.fastio.Task;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Devices whose driver has a descriptor to wait for. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
final class DescriptorDeviceTest {
    /** A driver that reads and writes a pipe, and is gone when that ends. */
    private static final class PipeDevice implements Device {
        final FdIo fds = new FdIo();
        final int[] ends = new int[2];
        int polled;
        int closed;

        PipeDevice() {
            assertThat(fds.pipe(ends, FdIo.O_NONBLOCK | FdIo.O_CLOEXEC)).isZero();
        }

        @Override
        public int descriptor() {
            return ends[0];
        }

        @Override
        public int poll(int interest) {
            polled++;
            return interest;
        }

        @Override
        public int read(ByteBuffer dst) throws IOException {
            int n = fds.read(ends[0], dst);
            if (n == -Errno.EAGAIN) {
                return 0;
            }
            if (n <= 0) {
                throw new DeviceGoneException(this + " is gone", null);
            }
            return n;
        }

        @Override
        public int write(ByteBuffer src) throws IOException {
            if (ends[1] < 0) {
                throw new DeviceGoneException(this + " is gone", null);
            }
            int n = fds.write(ends[1], src);
            return n == -Errno.EAGAIN ? 0 : n;
        }

        void unplug() {
            assertThat(fds.close(ends[1])).isZero();
            ends[1] = -1;
        }

        @Override
        public void close() {
            closed++;
            fds.close(ends[0]);
            if (ends[1] >= 0) {
                unplug();
            }
        }

        @Override
        public String toString() {
            return "pipe device";
        }
    }

    @Test
    void I8_aDescriptorIsWatchedInsteadOfAsking() throws Exception {
        try (EventLoop loop = EventLoop.builder().poller(PollerKind.EPOLL).build()) {
            loop.run(() -> {
                PipeDevice device = new PipeDevice();
                Stream s = new Stream(device);
                Task<byte[]> reader = Asyncio.createTask(() -> s.readExactly(3));
                Asyncio.sleepMs(5);
                s.write(new byte[] {1, 2});
                Asyncio.sleepMs(1);
                s.write(new byte[] {3});
                assertThat(reader.await()).containsExactly(1, 2, 3);
                assertThat(s.getExtraInfo("device")).isSameAs(device);
                s.close();
                assertThat(device.closed).isEqualTo(1);
                assertThat(device.polled).isZero();
            });
        }
    }

    @Test
    void I8_withoutAPollerForDescriptorsTheDeviceIsAsked() throws Exception {
        try (EventLoop loop = EventLoop.builder().poller(PollerKind.SELECTOR).build()) {
            loop.run(() -> {
                PipeDevice device = new PipeDevice();
                try (Stream s = new Stream(device)) {
                    s.write(new byte[] {7});
                    assertThat(s.readExactly(1)).containsExactly(7);
                    assertThat(device.polled).isPositive();
                }
            });
        }
    }

    @Test
    void I4_F83_aDeviceThatIsGoneGivesOneErrorAndThenTheStreamIsClosed() throws Exception {
        for (PollerKind poller : new PollerKind[] {PollerKind.EPOLL, PollerKind.SELECTOR}) {
            try (EventLoop loop = EventLoop.builder().poller(poller).build()) {
                loop.run(() -> Asyncio.waitFor(goneWhileReading(), Duration.ofSeconds(10)));
                loop.run(() -> Asyncio.waitFor(goneWhenWriting(), Duration.ofSeconds(10)));
            }
        }
    }

    private static Action goneWhileReading() {
        return () -> {
            PipeDevice device = new PipeDevice();
            Stream s = new Stream(device);
            Task<Throwable> reader = Asyncio.createTask(() -> catchThrowable(() -> s.read(10)));
            Asyncio.sleepMs(2);
            device.unplug();
            assertThat(reader.await()).isInstanceOf(DeviceGoneException.class).hasMessage("pipe device is gone");
            assertThat(s.isClosing()).isTrue();
            assertThat(device.closed).isEqualTo(1);
            assertThatThrownBy(() -> s.read(1)).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> s.write(new byte[1])).isInstanceOf(ClosedChannelException.class);
            s.close();
            assertThat(device.closed).isEqualTo(1);
        };
    }

    private static Action goneWhenWriting() {
        return () -> {
            PipeDevice device = new PipeDevice();
            Stream s = new Stream(device);
            s.write(new byte[1_000_000]);
            assertThat(s.pendingBytes()).isPositive();
            device.unplug();
            byte[] buffer = new byte[64 * 1024];
            assertThatThrownBy(() -> {
                        while (s.readInto(buffer) > 0) {
                            Asyncio.yieldNow();
                        }
                    })
                    .isInstanceOf(DeviceGoneException.class);
            assertThat(device.closed).isEqualTo(1);
            assertThatThrownBy(() -> s.read(1)).isInstanceOf(ClosedChannelException.class);
        };
    }

    @Test
    void I8_aDescriptorThatCannotBeWatchedIsAnError() throws Exception {
        try (EventLoop loop = EventLoop.builder().poller(PollerKind.EPOLL).build()) {
            loop.run(() -> {
                PipeDevice device = new PipeDevice();
                device.close();
                assertThatThrownBy(() -> new Stream(device)).isInstanceOf(UncheckedIOException.class);
            });
        }
    }
}
