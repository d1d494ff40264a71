package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.context.AsyncContext;
import io.fastio.context.AtTimeWorker;
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
import io.fastio.sync.Broker;
import io.fastio.sync.Condition;
import io.fastio.sync.Event;
import io.fastio.sync.Interval;
import io.fastio.sync.Lock;
import io.fastio.sync.Message;
import io.fastio.sync.RetriggerableDelay;
import io.fastio.sync.RingQueue;
import io.fastio.sync.Semaphore;
import io.fastio.sync.ThreadSafeFlag;
import io.fastio.sync.WaitAny;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Who may touch what belongs to a loop (S13): each class by what stands for the rest of it. Keeps the tables of
 * docs/howto-waking.md true.
 */
final class OwnershipTest {
    private static final String OWNER = "owner-loop";
    private static final String STRANGER = "stranger-loop";
    private static final String INTRUDER = "intruder";
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** What the cases leave open and let fail; none of it is what they are about. */
    private static final Queue<LoopError> REPORTS = new ConcurrentLinkedQueue<>();

    private static EventLoop owner;
    private static EventLoop debuggedOwner;
    private static EventLoop stranger;

    /** What a call is for, as the page names it. */
    private enum Rule {
        WAIT("waits"),
        LOOP("on the loop"),
        DEBUG("on the loop, checked in debug mode"),
        ANY("anywhere");

        final String column;

        Rule(String column) {
            this.column = column;
        }

        EventLoop owner() {
            return this == DEBUG ? debuggedOwner : owner;
        }
    }

    /** Who calls, as the page names it. */
    private enum Caller {
        TASK("a task of the loop"),
        CALLBACK("a callback of the loop"),
        CHILD("a thread that a task of the loop started"),
        OTHER_LOOP("a task of another loop"),
        THREAD("any other thread");

        final String row;

        Caller(String row) {
            this.row = row;
        }

        Answer answer(Rule rule) {
            return switch (rule) {
                case ANY -> Answer.WORKS;
                case LOOP, DEBUG -> this == THREAD || this == OTHER_LOOP ? Answer.NOT_YOURS : Answer.WORKS;
                case WAIT ->
                    switch (this) {
                        case TASK -> Answer.WORKS;
                        case OTHER_LOOP -> Answer.NOT_YOURS;
                        case CALLBACK, CHILD, THREAD -> Answer.NO_TASK;
                    };
            };
        }
    }

    private enum Answer {
        WORKS("yes"),
        NO_TASK("no: not a task"),
        NOT_YOURS("no: another's");

        final String cell;

        Answer(String cell) {
            this.cell = cell;
        }
    }

    @FunctionalInterface
    private interface Use<T> {
        void on(T thing) throws Exception;
    }

    private record Case(String type, String method, Rule rule, Callable<Action> make) {}

    @BeforeAll
    static void open() {
        owner = started(OWNER, false);
        debuggedOwner = started(OWNER, true);
        stranger = started(STRANGER, false);
    }

    private static EventLoop started(String name, boolean debug) {
        EventLoop loop = EventLoop.builder()
                .name(name)
                .debug(debug)
                .exceptionHandler(REPORTS::add)
                .build();
        loop.start();
        return loop;
    }

    @AfterAll
    static void close() {
        stranger.close();
        debuggedOwner.close();
        owner.close();
    }

    /** {@code make} runs in a task of the owner, {@code use} wherever the caller is. */
    private static <T> Case of(String name, Rule rule, Callable<T> make, Use<? super T> use) {
        int dot = name.indexOf('.');
        return new Case(name.substring(0, dot), name.substring(dot + 1), rule, () -> {
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

    private static RetriggerableDelay delay() {
        RetriggerableDelay delay = new RetriggerableDelay(Duration.ofHours(1), null);
        waiting(delay::await);
        return delay;
    }

    private static Pin pin() throws Exception {
        return Pin.of(new SimulatedChip(1), 0);
    }

    private static Handle handle() {
        return Asyncio.runningLoop().handle(Priority.NORMAL, () -> {});
    }

    private static AsyncContext context() {
        return AsyncContext.on(Asyncio.runningLoop());
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
        c.add(of("StreamReader.limit", Rule.LOOP, OwnershipTest::stream, s -> s.limit(100)));
        c.add(of("StreamReader.readPriority", Rule.LOOP, OwnershipTest::stream, s -> s.readPriority(true)));
        c.add(of("StreamWriter.writePriority", Rule.LOOP, OwnershipTest::stream, s -> s.writePriority(true)));
        c.add(of("StreamWriter.detach", Rule.LOOP, OwnershipTest::stream, s -> s.detach()));
        c.add(of("StreamWriter.waterMarks", Rule.LOOP, OwnershipTest::stream, s -> s.waterMarks(1, 2)));
        c.add(of("Stream.priority", Rule.LOOP, OwnershipTest::stream, s -> s.priority(true)));
        c.add(of("StreamWriter.waitClosed", Rule.WAIT, OwnershipTest::stream, Stream::waitClosed));
        c.add(of("StreamWriter.close", Rule.LOOP, OwnershipTest::stream, Stream::close));
        c.add(of("Stream.abort", Rule.LOOP, OwnershipTest::stream, Stream::abort));
        c.add(of("Server.close", Rule.LOOP, OwnershipTest::server, Server::close));
        c.add(of("Server.closeClients", Rule.LOOP, OwnershipTest::server, Server::closeClients));
        c.add(of("Server.abortClients", Rule.LOOP, OwnershipTest::server, Server::abortClients));
        c.add(of("Server.waitClosed", Rule.WAIT, OwnershipTest::server, Server::waitClosed));
        c.add(of("Server.serveForever", Rule.WAIT, OwnershipTest::server, Server::serveForever));
        c.add(of("Datagram.receive", Rule.WAIT, () -> Datagram.bind("127.0.0.1", 0), Datagram::receive));
        c.add(of("Datagram.send", Rule.WAIT, () -> Datagram.bind("127.0.0.1", 0), d -> {
            d.send(new byte[1], d.localAddress());
        }));
        c.add(of("Datagram.port", Rule.LOOP, () -> Datagram.bind("127.0.0.1", 0), Datagram::port));
        c.add(of("Datagram.priority", Rule.LOOP, () -> Datagram.bind("127.0.0.1", 0), d -> d.priority(true)));
        c.add(of("Datagram.close", Rule.LOOP, () -> Datagram.bind("127.0.0.1", 0), Datagram::close));
        c.add(of("Subprocess.close", Rule.LOOP, () -> Subprocess.start("sleep", "1"), Subprocess::close));
        c.add(of("Subprocess.waitFor", Rule.ANY, () -> Subprocess.start("true"), Subprocess::waitFor));
        c.add(of("Watch.awaitReadable", Rule.WAIT, OwnershipTest::watch, Watch::awaitReadable));
        c.add(of("Watch.whenReadable", Rule.DEBUG, OwnershipTest::watch, w -> {
            w.whenReadable(debuggedOwner.handle(Priority.NORMAL, () -> {}));
        }));
        c.add(of("Watch.readWouldBlock", Rule.DEBUG, OwnershipTest::watch, Watch::readWouldBlock));
        c.add(of("Watch.writeWouldBlock", Rule.DEBUG, OwnershipTest::watch, Watch::writeWouldBlock));
        c.add(of("Watch.wakeReader", Rule.DEBUG, OwnershipTest::watch, Watch::wakeReader));
        c.add(of("Watch.close", Rule.DEBUG, OwnershipTest::watch, Watch::close));
        c.add(of("Pin.awaitRising", Rule.WAIT, OwnershipTest::pin, Pin::awaitRising));
        c.add(of("Pin.awaitLow", Rule.WAIT, OwnershipTest::pin, Pin::awaitLow));
        c.add(of("Pin.value", Rule.LOOP, OwnershipTest::pin, Pin::value));
        c.add(of("Pin.set", Rule.LOOP, OwnershipTest::pin, p -> p.set(true)));
        c.add(of("Pin.priority", Rule.LOOP, OwnershipTest::pin, p -> p.priority(true)));
        c.add(of("Pin.close", Rule.LOOP, OwnershipTest::pin, Pin::close));
        c.add(of(
                "PinChange.close",
                Rule.LOOP,
                () -> new PinChange(pin(), edge -> assertThat(edge).isEqualTo(Edge.RISING)),
                PinChange::close));
        c.add(of("Polling.arm", Rule.DEBUG, OwnershipTest::polling, Polling::arm));
        c.add(of("Polling.disarm", Rule.DEBUG, OwnershipTest::polling, Polling::disarm));
        // What waits are made of.
        c.add(of("WaitList.await", Rule.WAIT, OwnershipTest::listWithOne, l -> {
            Wait.begin();
            l.await(null, Wait.FOREVER);
        }));
        c.add(of("WaitList.poll", Rule.DEBUG, OwnershipTest::listWithOne, WaitList::poll));
        c.add(of("WaitList.wakeAll", Rule.DEBUG, OwnershipTest::listWithOne, WaitList::wakeAll));
        c.add(of("Wait.resume", Rule.DEBUG, OwnershipTest::sleeper, Wait::resume));
        c.add(of("Wait.takeBack", Rule.DEBUG, OwnershipTest::sleeper, t -> Wait.takeBack(t, Priority.URGENT)));
        c.add(of("Wait.lend", Rule.DEBUG, OwnershipTest::sleeper, t -> Wait.lend(t, Priority.URGENT)));
        List<Long> ticket = new ArrayList<>();
        c.add(of(
                "Wait.resume(ticket)",
                Rule.ANY,
                () -> waitingForTicket(ticket),
                t -> Wait.resume(t, ticket.getLast())));
        // Groups, scopes, tasks, the loop itself.
        c.add(of("TaskGroup.createTask", Rule.LOOP, OwnershipTest::group, g -> g.createTask(() -> {})));
        c.add(of("TaskGroup.cancel", Rule.LOOP, OwnershipTest::group, TaskGroup::cancel));
        c.add(of("CancelScope.cancel", Rule.ANY, OwnershipTest::scope, CancelScope::cancel));
        c.add(of("Task.cancel", Rule.ANY, OwnershipTest::sleeper, Task::cancel));
        c.add(of("Task.addDoneCallback", Rule.ANY, OwnershipTest::sleeper, t -> t.addDoneCallback(d -> {})));
        c.add(of("Handle.callSoon", Rule.ANY, OwnershipTest::handle, Handle::callSoon));
        c.add(of("Handle.cancel", Rule.ANY, OwnershipTest::handle, Handle::cancel));
        c.add(of("EventLoop.createTask", Rule.ANY, Asyncio::runningLoop, l -> l.createTask(() -> {})));
        c.add(of("EventLoop.callLater", Rule.ANY, Asyncio::runningLoop, l -> l.callLater(Duration.ZERO, () -> {})));
        c.add(of("EventLoop.counters", Rule.ANY, Asyncio::runningLoop, EventLoop::counters));
        c.add(of("EventLoop.callSoon", Rule.ANY, Asyncio::runningLoop, l -> l.callSoon(() -> {})));
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
        c.add(of("Event.clear", Rule.ANY, OwnershipTest::awaitedEvent, Event::clear));
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
        c.add(of("RetriggerableDelay.trigger", Rule.ANY, OwnershipTest::delay, RetriggerableDelay::trigger));
        c.add(of("RetriggerableDelay.stop", Rule.ANY, OwnershipTest::delay, RetriggerableDelay::stop));
        c.add(of("RetriggerableDelay.await", Rule.WAIT, OwnershipTest::delay, d -> d.await()));
        c.add(of(
                "Interval.await",
                Rule.WAIT,
                () -> new Interval(Duration.ofMillis(1), Interval.Missed.SKIP),
                Interval::await));
        c.add(of("Channel.send", Rule.ANY, () -> new Channel<Integer>(1), ch -> ch.send(1)));
        c.add(of("Broker.publish", Rule.ANY, Broker<Integer>::new, b -> b.publish("topic", 1)));
        c.add(of("WaitAny.await", Rule.WAIT, OwnershipTest::awaitedEvent, e -> new WaitAny(e).await()));
        // What workers and background tasks are asked for by.
        c.add(of("AsyncContext.executeSync", Rule.ANY, OwnershipTest::context, x -> x.executeSync(() -> 1)));
        c.add(of("AsyncContext.addAtTimeWorker", Rule.ANY, OwnershipTest::context, x -> {
            assertThat(x.addAtTimeWorker(new AtTimeWorker(() -> {}), Duration.ZERO))
                    .isTrue();
        }));
        return c;
    }

    @TestFactory
    java.util.stream.Stream<DynamicTest> S13_whoMayTouchWhat() {
        return cases().stream()
                .flatMap(c -> java.util.stream.Stream.of(Caller.values())
                        .map(caller -> DynamicTest.dynamicTest(
                                c.type + "." + c.method + " by " + caller.row, () -> check(c, caller))));
    }

    private static void check(Case c, Caller caller) throws Exception {
        EventLoop loop = c.rule.owner();
        Throwable t = thrownTo(caller, loop, c.rule == Rule.WAIT, LoopGroup.runOn(loop, c.make));
        switch (caller.answer(c.rule)) {
            case WORKS -> {
                if (t != null) {
                    assertThat(c.rule).isEqualTo(Rule.WAIT);
                    assertThat(t).isInstanceOf(TimeoutException.class);
                }
            }
            case NO_TASK ->
                assertThat(t).isInstanceOf(IllegalStateException.class).hasMessageContaining("task");
            case NOT_YOURS ->
                assertThat(t)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(OWNER)
                        .hasMessageContaining(caller == Caller.THREAD ? INTRUDER : STRANGER);
        }
    }

    private static @Nullable Throwable thrownTo(Caller caller, EventLoop loop, boolean waits, Action use)
            throws Exception {
        CompletableFuture<@Nullable Throwable> thrown = new CompletableFuture<>();
        Runnable call = () -> thrown.complete(caught(use));
        switch (caller) {
            case TASK -> {
                Action limited = waits ? () -> Asyncio.waitForMs(use, 5) : use;
                loop.createTask(() -> {
                    thrown.complete(caught(limited));
                });
            }
            case CALLBACK -> loop.callSoon(call);
            case CHILD ->
                loop.createTask(() -> {
                    Thread.startVirtualThread(call).join();
                });
            case OTHER_LOOP -> stranger.createTask(call::run);
            case THREAD -> Thread.ofPlatform().daemon().name(INTRUDER).start(call);
        }
        return thrown.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
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

    @Test
    void S13_theTablesOfThePageSayTheSame() throws IOException {
        Path page = Path.of("").toAbsolutePath().getParent().resolve("docs/howto-waking.md");
        assertThat(Files.readString(page))
                .contains(table(
                        "who calls", List.of(Caller.values()), c -> c.row, (caller, rule) -> caller.answer(rule).cell))
                .contains(table(
                        "",
                        cases().stream().map(Case::type).distinct().toList(),
                        type -> "`" + type + "`",
                        (type, rule) -> cases().stream()
                                .filter(c -> c.type.equals(type) && c.rule == rule)
                                .map(c -> "`" + c.method + "`")
                                .collect(Collectors.joining(" "))));
    }

    private static <T> String table(
            String corner, List<T> rows, Function<T, String> name, BiFunction<T, Rule, String> cell) {
        StringBuilder b = new StringBuilder("| " + corner);
        for (Rule r : Rule.values()) {
            b.append(" | ").append(r.column);
        }
        b.append(" |\n").append("|---".repeat(Rule.values().length + 1)).append("|\n");
        for (T row : rows) {
            b.append("| ").append(name.apply(row));
            for (Rule r : Rule.values()) {
                b.append(" | ").append(cell.apply(row, r));
            }
            b.append(" |\n");
        }
        return b.toString().replaceAll(" +", " ");
    }
}
