package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.context.BackgroundTasks;
import io.fastio.context.BackgroundTasks.When;
import io.fastio.context.Channel;
import io.fastio.context.LoopGroup;
import io.fastio.device.Edge;
import io.fastio.device.Pin;
import io.fastio.device.PinChange;
import io.fastio.device.SimulatedChip;
import io.fastio.stream.Datagram;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.stream.Subprocess;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Barrier;
import io.fastio.sync.BoundedSemaphore;
import io.fastio.sync.Condition;
import io.fastio.sync.Event;
import io.fastio.sync.Interval;
import io.fastio.sync.Lock;
import io.fastio.sync.Message;
import io.fastio.sync.RetriggerableDelay;
import io.fastio.sync.RingQueue;
import io.fastio.sync.Semaphore;
import io.fastio.sync.ThreadSafeFlag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Who may touch what belongs to a loop, in debug mode: each class by what stands for the rest of it. */
final class OwnershipTest {
    private static final String OWNER = "owner-loop";
    private static final String STRANGER = "stranger-loop";
    private static final String INTRUDER = "intruder";
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** What the cases leave open and let fail; none of it is what they are about. */
    private static final Queue<LoopError> REPORTS = new ConcurrentLinkedQueue<>();

    private static EventLoop owner;
    private static EventLoop stranger;

    /** What is expected of a call from elsewhere. */
    private enum Rule {
        /** Refused with the names of the loop it belongs to and of who called. */
        LOOP,
        /** Waits: refused outside a task, and with the names in a task of another loop. */
        WAIT,
        /** Does its work. */
        ANY
    }

    @FunctionalInterface
    private interface Use<T> {
        void on(T thing) throws Exception;
    }

    private record Case(String name, Rule rule, Callable<Action> make) {}

    @BeforeAll
    static void open() {
        owner = EventLoop.builder()
                .name(OWNER)
                .debug(true)
                .exceptionHandler(REPORTS::add)
                .build();
        stranger = EventLoop.builder()
                .name(STRANGER)
                .debug(true)
                .exceptionHandler(REPORTS::add)
                .build();
        owner.start();
        stranger.start();
    }

    @AfterAll
    static void close() {
        stranger.close();
        owner.close();
    }

    /** {@code make} runs in a task of the owner, {@code use} elsewhere. */
    private static <T> Case of(String name, Rule rule, Callable<T> make, Use<? super T> use) {
        return new Case(name, rule, () -> {
            T thing = make.call();
            return () -> use.on(thing);
        });
    }

    private static Server server() throws Exception {
        return Streams.startServer((reader, writer) -> reader.read(1), "127.0.0.1", 0);
    }

    private static Stream stream() throws Exception {
        return Streams.openConnection("127.0.0.1", server().port());
    }

    private static Task<?> sleeper() {
        Task<?> task = Asyncio.createTask(() -> Asyncio.sleep(Duration.ofHours(1)));
        Asyncio.yieldNow();
        return task;
    }

    private static Task<?> waiting(Action wait) {
        Task<?> task = Asyncio.createTask(wait);
        Asyncio.yieldNow();
        return task;
    }

    private static Watch watch() throws Exception {
        var channel = java.nio.channels.DatagramChannel.open();
        channel.configureBlocking(false);
        return Watch.of(channel, null);
    }

    private static WaitList listWithOne() {
        WaitList list = new WaitList();
        waiting(() -> {
            Wait.begin();
            list.await(null, Wait.FOREVER);
        });
        return list;
    }

    private static TaskGroup group() {
        List<TaskGroup> made = new ArrayList<>();
        waiting(() -> Asyncio.taskGroup(g -> {
            made.add(g);
            Asyncio.sleep(Duration.ofHours(1));
            return null;
        }));
        return made.getFirst();
    }

    private static CancelScope scope() {
        List<CancelScope> made = new ArrayList<>();
        waiting(() -> Asyncio.cancelScope(s -> {
            made.add(s);
            Asyncio.sleep(Duration.ofHours(1));
            return null;
        }));
        return made.getFirst();
    }

    private static Lock held() {
        Lock lock = new Lock();
        lock.acquire();
        return lock;
    }

    private static Condition awaited() {
        Condition condition = new Condition();
        waiting(() -> {
            try (var _ = condition.hold()) {
                condition.await();
            }
        });
        return condition;
    }

    private static Semaphore taken(Semaphore semaphore) {
        semaphore.acquire();
        return semaphore;
    }

    private static Event awaitedEvent() {
        Event event = new Event();
        waiting(event::await);
        return event;
    }

    private static ThreadSafeFlag awaitedFlag() {
        ThreadSafeFlag flag = new ThreadSafeFlag();
        waiting(flag::await);
        return flag;
    }

    private static AsyncQueue<Integer> awaitedQueue() {
        AsyncQueue<Integer> queue = new AsyncQueue<>();
        waiting(queue::get);
        return queue;
    }

    private static RingQueue<Integer> awaitedRing() {
        RingQueue<Integer> ring = new RingQueue<>(1, RingQueue.WhenFull.DROP_OLDEST);
        waiting(ring::get);
        return ring;
    }

    private static Barrier awaitedBarrier() {
        Barrier barrier = new Barrier(2);
        waiting(barrier::await);
        return barrier;
    }

    private static Message<String> awaitedMessage() {
        Message<String> message = new Message<>();
        waiting(message::await);
        return message;
    }

    private static Pin pin() throws Exception {
        return Pin.of(new SimulatedChip(1), 0);
    }

    private static Polling polling() {
        return new Polling(Asyncio.runningLoop(), Priority.NORMAL, () -> {});
    }

    private static Task<?> waitingForTicket(List<Long> ticket) {
        return waiting(() -> {
            Wait.begin();
            ticket.add(Wait.nextTicket());
            Wait.suspend((task, woken) -> true, null, Wait.FOREVER);
        });
    }

    private static List<Case> cases() {
        List<Case> c = new ArrayList<>();
        // Streams, servers, devices.
        c.add(of("StreamReader.read", Rule.WAIT, OwnershipTest::stream, s -> s.read(1)));
        c.add(of("StreamWriter.write", Rule.WAIT, OwnershipTest::stream, s -> s.write(new byte[1])));
        c.add(of("StreamWriter.drain", Rule.WAIT, OwnershipTest::stream, s -> s.drain()));
        c.add(of("StreamWriter.waterMarks", Rule.LOOP, OwnershipTest::stream, s -> s.waterMarks(1, 2)));
        c.add(of("Stream.priority", Rule.LOOP, OwnershipTest::stream, s -> s.priority(true)));
        c.add(of("Stream.waitClosed", Rule.WAIT, OwnershipTest::stream, Stream::waitClosed));
        c.add(of("Stream.close", Rule.LOOP, OwnershipTest::stream, Stream::close));
        c.add(of("Stream.abort", Rule.LOOP, OwnershipTest::stream, Stream::abort));
        c.add(of("Server.close", Rule.LOOP, OwnershipTest::server, Server::close));
        c.add(of("Server.closeClients", Rule.LOOP, OwnershipTest::server, Server::closeClients));
        c.add(of("Server.abortClients", Rule.LOOP, OwnershipTest::server, Server::abortClients));
        c.add(of("Server.waitClosed", Rule.WAIT, OwnershipTest::server, Server::waitClosed));
        c.add(of("Server.serveForever", Rule.LOOP, OwnershipTest::server, Server::serveForever));
        c.add(of("Datagram.receive", Rule.WAIT, () -> Datagram.bind("127.0.0.1", 0), Datagram::receive));
        c.add(of("Datagram.port", Rule.LOOP, () -> Datagram.bind("127.0.0.1", 0), Datagram::port));
        c.add(of("Datagram.priority", Rule.LOOP, () -> Datagram.bind("127.0.0.1", 0), d -> d.priority(true)));
        c.add(of("Datagram.close", Rule.LOOP, () -> Datagram.bind("127.0.0.1", 0), Datagram::close));
        c.add(of("Subprocess.close", Rule.LOOP, () -> Subprocess.start("sleep", "1"), Subprocess::close));
        c.add(of("Subprocess.waitFor", Rule.ANY, () -> Subprocess.start("true"), Subprocess::waitFor));
        c.add(of("Watch.awaitReadable", Rule.WAIT, OwnershipTest::watch, Watch::awaitReadable));
        c.add(of(
                "Watch.whenReadable",
                Rule.LOOP,
                OwnershipTest::watch,
                w -> w.whenReadable(owner.handle(Priority.NORMAL, () -> {}))));
        c.add(of("Watch.readWouldBlock", Rule.LOOP, OwnershipTest::watch, Watch::readWouldBlock));
        c.add(of("Watch.writeWouldBlock", Rule.LOOP, OwnershipTest::watch, Watch::writeWouldBlock));
        c.add(of("Watch.wakeReader", Rule.LOOP, OwnershipTest::watch, Watch::wakeReader));
        c.add(of("Watch.close", Rule.LOOP, OwnershipTest::watch, Watch::close));
        c.add(of("Pin.awaitHigh", Rule.WAIT, OwnershipTest::pin, Pin::awaitRising));
        c.add(of("Pin.close", Rule.LOOP, OwnershipTest::pin, Pin::close));
        c.add(of("PinChange", Rule.LOOP, OwnershipTest::pin, p -> {
            var change = new PinChange(p, edge -> assertThat(edge).isEqualTo(Edge.RISING));
            change.close();
        }));
        c.add(of("Polling.arm", Rule.LOOP, OwnershipTest::polling, Polling::arm));
        c.add(of("Polling.disarm", Rule.LOOP, OwnershipTest::polling, Polling::disarm));
        // What waits are made of.
        c.add(of("WaitList.await", Rule.WAIT, OwnershipTest::listWithOne, l -> {
            Wait.begin();
            l.await(null, Wait.FOREVER);
        }));
        c.add(of("WaitList.poll", Rule.LOOP, OwnershipTest::listWithOne, WaitList::poll));
        c.add(of("WaitList.wakeAll", Rule.LOOP, OwnershipTest::listWithOne, WaitList::wakeAll));
        c.add(of("Wait.resume", Rule.LOOP, OwnershipTest::sleeper, Wait::resume));
        c.add(of("Wait.lend", Rule.LOOP, OwnershipTest::sleeper, t -> Wait.lend(t, Priority.URGENT)));
        List<Long> ticket = new ArrayList<>();
        c.add(of(
                "Wait.resume by ticket",
                Rule.ANY,
                () -> waitingForTicket(ticket),
                t -> Wait.resume(t, ticket.getLast())));
        // Groups, scopes, tasks, the loop itself.
        c.add(of("TaskGroup.createTask", Rule.LOOP, OwnershipTest::group, g -> g.createTask(() -> {})));
        c.add(of("TaskGroup.cancel", Rule.LOOP, OwnershipTest::group, TaskGroup::cancel));
        c.add(of("CancelScope.cancel", Rule.ANY, OwnershipTest::scope, CancelScope::cancel));
        c.add(of("Task.cancel", Rule.ANY, OwnershipTest::sleeper, Task::cancel));
        c.add(of("Task.addDoneCallback", Rule.ANY, OwnershipTest::sleeper, t -> t.addDoneCallback(d -> {})));
        c.add(of("Handle.callSoon", Rule.ANY, () -> owner.handle(Priority.NORMAL, () -> {}), Handle::callSoon));
        c.add(of("Handle.cancel", Rule.ANY, () -> owner.handle(Priority.NORMAL, () -> {}), Handle::cancel));
        c.add(of("EventLoop.createTask", Rule.ANY, Asyncio::runningLoop, l -> l.createTask(() -> {})));
        c.add(of("EventLoop.callLater", Rule.ANY, Asyncio::runningLoop, l -> l.callLater(Duration.ZERO, () -> {})));
        c.add(of("EventLoop.counters", Rule.ANY, Asyncio::runningLoop, EventLoop::counters));
        c.add(of("LoopGroup.runOn", Rule.ANY, Asyncio::runningLoop, l -> LoopGroup.runOn(l, () -> 1)));
        c.add(of(
                "BackgroundTasks.requestSoon",
                Rule.ANY,
                () -> {
                    var tasks = BackgroundTasks.of(Asyncio.runningLoop());
                    var registration = tasks.add(() -> {}, When.ON_REQUEST);
                    return (Action)
                            () -> assertThat(tasks.requestSoon(registration)).isTrue();
                },
                Action::run));
        // Synchronisation: wakes from anywhere, waits on one loop.
        c.add(of("Lock.release", Rule.ANY, OwnershipTest::held, Lock::release));
        c.add(of("Lock.acquire", Rule.WAIT, OwnershipTest::held, Lock::acquire));
        c.add(of("Semaphore.release", Rule.ANY, () -> taken(new Semaphore(1)), Semaphore::release));
        c.add(of("Semaphore.acquire", Rule.WAIT, () -> taken(new Semaphore(1)), Semaphore::acquire));
        c.add(of("BoundedSemaphore.release", Rule.ANY, () -> taken(new BoundedSemaphore(1)), Semaphore::release));
        c.add(of("Event.set", Rule.ANY, OwnershipTest::awaitedEvent, Event::set));
        c.add(of("Event.await", Rule.WAIT, OwnershipTest::awaitedEvent, Event::await));
        c.add(of("ThreadSafeFlag.set", Rule.ANY, OwnershipTest::awaitedFlag, ThreadSafeFlag::set));
        c.add(of("ThreadSafeFlag.await", Rule.WAIT, OwnershipTest::awaitedFlag, ThreadSafeFlag::await));
        c.add(of("Condition.signalAll", Rule.ANY, OwnershipTest::awaited, Condition::signalAll));
        c.add(of("AsyncQueue.putNowait", Rule.ANY, OwnershipTest::awaitedQueue, q -> q.putNowait(1)));
        c.add(of("AsyncQueue.close", Rule.ANY, OwnershipTest::awaitedQueue, AsyncQueue::close));
        c.add(of("AsyncQueue.get", Rule.WAIT, OwnershipTest::awaitedQueue, AsyncQueue::get));
        c.add(of("RingQueue.put", Rule.ANY, OwnershipTest::awaitedRing, r -> r.put(1)));
        c.add(of("RingQueue.get", Rule.WAIT, OwnershipTest::awaitedRing, RingQueue::get));
        c.add(of("Barrier.arrive", Rule.ANY, OwnershipTest::awaitedBarrier, Barrier::arrive));
        c.add(of("Barrier.await", Rule.WAIT, OwnershipTest::awaitedBarrier, Barrier::await));
        c.add(of("Message.set", Rule.ANY, OwnershipTest::awaitedMessage, m -> m.set("news")));
        c.add(of("Message.await", Rule.WAIT, OwnershipTest::awaitedMessage, Message::await));
        c.add(of(
                "RetriggerableDelay.trigger",
                Rule.ANY,
                () -> new RetriggerableDelay(Duration.ofHours(1), null),
                RetriggerableDelay::trigger));
        c.add(of(
                "Interval.await",
                Rule.WAIT,
                () -> new Interval(Duration.ofMillis(1), Interval.Missed.SKIP),
                Interval::await));
        c.add(of("Channel.send", Rule.ANY, () -> new Channel<Integer>(1), ch -> ch.send(1)));
        return c;
    }

    @TestFactory
    java.util.stream.Stream<DynamicTest> S13_whoIsNotOnTheLoop() {
        return cases().stream()
                .flatMap(c -> java.util.stream.Stream.of(
                        DynamicTest.dynamicTest(c.name + " by a thread", () -> byAThread(c)),
                        DynamicTest.dynamicTest(c.name + " by another loop", () -> byAnotherLoop(c))));
    }

    private static void byAThread(Case c) throws Exception {
        Action use = LoopGroup.runOn(owner, c.make);
        CompletableFuture<@Nullable Throwable> thrown = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name(INTRUDER).start(() -> thrown.complete(caught(use)));
        Throwable t = thrown.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        switch (c.rule) {
            case LOOP ->
                assertThat(t)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(OWNER)
                        .hasMessageContaining(INTRUDER);
            case WAIT -> assertThat(t).isInstanceOf(IllegalStateException.class).hasMessageContaining("task");
            case ANY -> assertThat(t).isNull();
        }
    }

    private static void byAnotherLoop(Case c) throws Exception {
        Action use = LoopGroup.runOn(owner, c.make);
        CompletableFuture<@Nullable Throwable> thrown = new CompletableFuture<>();
        Task<?> task = stranger.createTask(INTRUDER, () -> {
            thrown.complete(caught(use));
        });
        try {
            Throwable t = thrown.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            switch (c.rule) {
                case LOOP, WAIT ->
                    assertThat(t)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining(OWNER)
                            .hasMessageContaining(STRANGER);
                case ANY -> assertThat(t).isNull();
            }
        } finally {
            task.cancel();
        }
    }

    @SuppressWarnings("CatchingUnchecked") // whatever it is, the test shall see it
    private static @Nullable Throwable caught(Action use) {
        try {
            use.run();
            return null;
        } catch (Throwable e) {
            return e;
        }
    }
}
