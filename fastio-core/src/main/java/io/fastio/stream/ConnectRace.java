package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.TaskGroup;
import io.fastio.TaskOptions;
import io.fastio.Wait;
import io.fastio.WaitList;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Connects to a host that has several addresses as RFC 8305 ("Happy Eyeballs") has it: the two families by turns,
 * each attempt {@link ConnectOptions#attemptDelay} after the one before, or as soon as that has failed, and the first
 * that answers wins. An address that does not answer costs that delay, not the minutes until the system gives up.
 */
final class ConnectRace {
    private final List<InetSocketAddress> addresses;
    private final ConnectOptions options;
    private final String where;

    /** Woken whenever an attempt ended, one way or the other. */
    private final WaitList waiters = new WaitList();

    private int running;
    private @Nullable Stream winner;
    private @Nullable ConnectException failure;

    ConnectRace(List<InetSocketAddress> addresses, ConnectOptions options, String where) {
        this.addresses = byTurns(addresses);
        this.options = options;
        this.where = where;
    }

    /** The addresses of each family in their order, the family of the first one first. */
    static List<InetSocketAddress> byTurns(List<InetSocketAddress> addresses) {
        Deque<InetSocketAddress> next = new ArrayDeque<>();
        Deque<InetSocketAddress> other = new ArrayDeque<>();
        boolean firstIs6 = isIPv6(addresses.getFirst());
        for (InetSocketAddress a : addresses) {
            (isIPv6(a) == firstIs6 ? next : other).add(a);
        }
        List<InetSocketAddress> result = new ArrayList<>(addresses.size());
        while (!next.isEmpty()) {
            result.add(next.remove());
            if (!other.isEmpty()) {
                Deque<InetSocketAddress> turned = next;
                next = other;
                other = turned;
            }
        }
        return result;
    }

    private static boolean isIPv6(InetSocketAddress a) {
        return a.getAddress() instanceof Inet6Address;
    }

    /** Waits; a cancel ends all attempts. */
    Stream run() throws IOException {
        try {
            Asyncio.taskGroup(group -> {
                startAll(group);
                while (winner == null && running > 0) {
                    waiters.await(null, Wait.FOREVER);
                }
                group.cancel();
                return null;
            });
        } catch (IOException | RuntimeException | Error e) {
            abortWinner();
            throw e;
        } catch (Exception e) {
            abortWinner();
            throw new IOException("cannot connect to " + where, e);
        }
        if (winner != null) {
            return winner;
        }
        throw Objects.requireNonNull(failure, "a host without addresses");
    }

    /** It came at the moment of the cancel. */
    private void abortWinner() {
        if (winner != null) {
            winner.abort();
        }
    }

    private void startAll(TaskGroup group) {
        Task<?> me = Asyncio.currentTask();
        for (InetSocketAddress to : addresses) {
            running++;
            group.createTask(TaskOptions.named("connecting to " + to).priority(me.priority()), () -> attempt(to));
            waiters.await(null, Wait.deadlineIn(options.attemptDelay()));
            if (winner != null) {
                return;
            }
        }
    }

    private void attempt(InetSocketAddress to) {
        try {
            Stream made = Streams.connect(to, options);
            if (winner == null) {
                winner = made;
            } else {
                made.abort();
            }
        } catch (IOException e) {
            if (failure == null) {
                failure = Streams.failure(where, e);
            } else {
                failure.addSuppressed(e);
            }
        } finally {
            running--;
            waiters.wakeAll();
        }
    }
}
