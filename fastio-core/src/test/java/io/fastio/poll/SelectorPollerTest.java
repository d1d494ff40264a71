package io.fastio.poll;

import static io.fastio.poll.Poller.READ;
import static io.fastio.poll.Poller.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.poll.Poller.Registration;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class SelectorPollerTest extends PollerContract {
    @Override
    Poller open() throws IOException {
        return Poller.open(Poller.Kind.SELECTOR);
    }

    @Test
    void saysWhichPollerItIsAndWhy() {
        assertThat(poller).hasToString("selector (chosen)");
        assertThat(poller.supportsFds()).isFalse();
        assertThatThrownBy(() -> poller.register(0, new Seen()))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("descriptor 0")
                .hasMessageContaining("selector (chosen)")
                .hasMessageContaining("epoll");
    }

    @Test
    void timeoutsAreRoundedUpToMilliseconds() {
        assertThat(SelectorPoller.millisRoundedUp(1)).isEqualTo(1);
        assertThat(SelectorPoller.millisRoundedUp(1_000_000)).isEqualTo(1);
        assertThat(SelectorPoller.millisRoundedUp(1_000_001)).isEqualTo(2);
        assertThat(SelectorPoller.millisRoundedUp(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE / 1_000_000 + 1);
    }

    /** A selector whose selects end at once with nothing, as a broken kernel interface makes them. */
    private static final class Spinning extends AbstractSelector {
        final Set<SelectionKey> keys = new HashSet<>();
        int selects;
        boolean wokenUp;

        Spinning() {
            super(SelectorProvider.provider());
        }

        private final class Key extends AbstractSelectionKey {
            final AbstractSelectableChannel channel;
            int ops;

            Key(AbstractSelectableChannel channel, int ops) {
                this.channel = channel;
                this.ops = ops;
            }

            @Override
            public AbstractSelectableChannel channel() {
                return channel;
            }

            @Override
            public Selector selector() {
                return Spinning.this;
            }

            @Override
            public int interestOps() {
                return ops;
            }

            @Override
            public SelectionKey interestOps(int ops) {
                this.ops = ops;
                return this;
            }

            @Override
            public int readyOps() {
                return 0;
            }
        }

        @Override
        protected SelectionKey register(AbstractSelectableChannel ch, int ops, Object attachment) {
            Key k = new Key(ch, ops);
            k.attach(attachment);
            keys.add(k);
            return k;
        }

        @Override
        protected void implCloseSelector() {
            for (SelectionKey k : keys) {
                deregister((Key) k);
            }
        }

        @Override
        public Set<SelectionKey> keys() {
            return keys;
        }

        @Override
        public Set<SelectionKey> selectedKeys() {
            return new HashSet<>();
        }

        @Override
        public int select(Consumer<SelectionKey> action) {
            return select();
        }

        @Override
        public int select(Consumer<SelectionKey> action, long timeout) {
            return select();
        }

        @Override
        public int selectNow(Consumer<SelectionKey> action) {
            return 0;
        }

        @Override
        public int selectNow() {
            return 0;
        }

        @Override
        public int select(long timeout) {
            return select();
        }

        @Override
        public int select() {
            selects++;
            return 0;
        }

        @Override
        public Selector wakeup() {
            wokenUp = true;
            return this;
        }
    }

    /** Gives out a spinning selector first and a sound one after it. */
    private static SelectorPoller spinning(Spinning first) throws IOException {
        boolean[] given = {false};
        return new SelectorPoller("test", () -> {
            if (given[0]) {
                return Selector.open();
            }
            given[0] = true;
            return first;
        });
    }

    @Test
    void F98_aSelectorThatSpinsIsReplacedAndKeepsItsRegistrations() throws IOException {
        Spinning first = new Spinning();
        SelectorPoller p = kept(spinning(first));
        Pair[] pairs = {pair(), pair(), pair()};
        Seen[] seen = {new Seen(), new Seen(), new Seen()};
        Registration[] r = new Registration[3];
        for (int i = 0; i < 3; i++) {
            r[i] = p.register(pairs[i].ours(), seen[i]);
        }
        r[0].arm(READ);
        r[1].arm(WRITE);
        r[2].arm(READ);
        r[2].close();
        pairs[0].sendFromPeer(1);
        pairs[2].sendFromPeer(1);
        int polls = 0;
        while (seen[0].reports == 0 || seen[1].reports == 0) {
            assertThat(++polls).isLessThan(SelectorPoller.SPIN_LIMIT + 10);
            p.poll(LONG);
        }
        assertThat(first.selects).isEqualTo(SelectorPoller.SPIN_LIMIT);
        assertThat(p.rebuilds()).isEqualTo(1);
        assertThat(first.isOpen()).isFalse();
        assertThat(seen[0].events).isEqualTo(READ);
        assertThat(seen[1].events).isEqualTo(WRITE);
        assertThat(seen[2].reports).isZero();
        pairs[1].sendFromPeer(1);
        seen[1].take();
        r[1].arm(READ);
        while (seen[1].reports == 0) {
            p.poll(LONG);
        }
        Thread waker = Thread.ofPlatform().start(p::wake);
        p.poll(-1);
        assertThat(waker.isInterrupted()).isFalse();
    }

    @Test
    void F98_selectsThatWereWokenOrAskedNotToWaitAreNoSpin() throws IOException {
        Spinning first = new Spinning();
        SelectorPoller p = kept(spinning(first));
        for (int i = 0; i < 3 * SelectorPoller.SPIN_LIMIT; i++) {
            p.poll(0);
            p.wake();
            p.poll(-1);
            p.poll(1); // ends a little later than 1 ns
            Thread.currentThread().interrupt();
            p.poll(-1);
        }
        assertThat(p.rebuilds()).isZero();
        assertThat(first.wokenUp).isTrue();
    }

    @Test
    void F98_aWakeOfTheOldSelectorIsNotLost() throws IOException {
        // The waker reads the old selector, which is then replaced, and wakes the old one: the worst moment.
        Spinning first = new Spinning();
        SelectorPoller[] p = {null};
        boolean[] given = {false};
        p[0] = kept(new SelectorPoller("test", () -> {
            if (given[0]) {
                p[0].wake(); // while the old one is still in place
                return Selector.open();
            }
            given[0] = true;
            return first;
        }));
        for (int i = 0; i < SelectorPoller.SPIN_LIMIT; i++) {
            p[0].poll(-1);
        }
        assertThat(p[0].rebuilds()).isEqualTo(1);
        long start = System.nanoTime();
        p[0].poll(LONG);
        assertThat(System.nanoTime() - start).isLessThan(LONG);
    }

    @Test
    void aConnectThatEndedUnseenDoesNotMakeItSpin() throws IOException {
        // Interest in the end of a connect stays behind when somebody finishes it without waiting for the report.
        SocketChannel c = nonBlocking(kept(SocketChannel.open()));
        Seen seen = new Seen();
        Registration r = poller.register(c, seen);
        c.connect(server().getLocalAddress());
        r.arm(WRITE);
        while (!c.finishConnect()) {
            Thread.onSpinWait();
        }
        long start = System.nanoTime();
        while (seen.reports == 0) {
            assertThat(System.nanoTime() - start).isLessThan(LONG);
            poller.poll(100 * MILLIS);
        }
        assertThat(seen.events).isEqualTo(WRITE);
    }
}
