package io.fastio;

import io.fastio.carrier.Carrier;
import io.fastio.carrier.HeldMonitors;
import io.fastio.poll.LoopThread;
import io.fastio.poll.Poller;
import io.fastio.time.IdleStrategy;
import io.fastio.time.LoopClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One thread that runs tasks, which are virtual threads, one step at a time, the most urgent first. Answers to asyncio's
 * event loop, with the priorities of fast_io. Who runs next is the business of {@link Scheduler}; this class is what others
 * see of a loop, and starts, ends and feeds its turns.
 *
 * <p>Depth: tasks run on the stack of that thread, so {@code -Xss} of the JVM, or the size given to a thread of yours,
 * bounds how deeply calls may be nested in a task: some 500 timeouts or groups within each other in 1 MB, 3,000 in the
 * 8 MB of a thread that the loop makes itself. A {@link StackOverflowError} ends that task only.
 *
 * <p>Threads: the thread that calls {@link #run}, {@link #runForever} or {@link #poll} is the loop's carrier for as long
 * as that call lasts; {@link #start} gives the loop a thread of its own. Only loop code runs on the carrier itself; tasks
 * and callbacks run on virtual threads that it carries. Fields without a word about threads belong to the loop.
 */
public final class EventLoop implements Executor, AutoCloseable {
    static {
        StartUp.begin();
    }

    /** Of the loop's own threads, in bytes: while a task has its step, its frames stand on the stack of the carrier. */
    private static final long STACK = 8 << 20;

    private final String name;
    private final LoopClock clock;
    private final long shutdownTimeout;
    private final boolean ioFirst;
    private final boolean debug;
    private final boolean handleInterrupt;
    private final @Nullable Consumer<? super LoopError> exceptionHandler;

    /** Who runs next. */
    final Scheduler scheduler;

    final StepShare share;
    final Ticks ticks;
    final LiveTasks live = new LiveTasks();
    final Elsewhere elsewhere = new Elsewhere();
    final Runners runners = new Runners(this);

    /** Values of {@link LoopLocal}s, by their index. */
    @Nullable
    Object[] locals = new Object[0];

    /** The newest watch; link to the others. */
    @Nullable
    Watch watches;

    /** For {@link LoopCounters}; read by other threads as it is. */
    long coalesced;

    // ---- running and ending
    private volatile @Nullable Thread carrier;
    private volatile @Nullable Thread ownThread;
    private volatile boolean stopping;
    private volatile boolean closing;
    private volatile boolean closed;
    private final Object runLock = new Object();

    private long slackBefore = -1;

    /** The thread that polled last. */
    private @Nullable Thread host;

    private final ThreadSettings threadSettings;
    final Ending ending;

    /** A host loop drives this one by {@link #poll}. */
    private boolean driven;

    private EventLoop(Builder b) {
        this.name = b.name;
        this.clock = b.clock != null ? b.clock : LoopClock.monotonic();
        this.shutdownTimeout = nanos(b.shutdownTimeout);
        this.ticks = new Ticks(this, nanos(b.tick));
        this.ioFirst = b.ioFirst;
        this.threadSettings = b.threadSettings.copy();
        this.debug = b.debug;
        this.handleInterrupt = b.handleInterrupt;
        this.exceptionHandler = b.exceptionHandler;
        this.scheduler = new Scheduler(this, b, clock, ticks);
        this.share = new StepShare(scheduler, clock);
        this.ending = new Ending(this, clock, shutdownTimeout);
        warmUp();
    }

    /**
     * Loads what callbacks and reports need before they are needed: a process that has run out of descriptors cannot load a
     * class, and on the carrier that would be the end of the loop.
     */
    private void warmUp() {
        Objects.requireNonNull(LoopError.class);
        LoopTask.prepare();
        Carrier.require(); // late, as it is made ready beside all this (StartUp)
        runners.add(new Runner(this));
    }

    static long nanos(Duration d) {
        return LoopClock.saturatedNanos(d);
    }

    /** A loop with default settings. Any thread. */
    public static EventLoop create() {
        return builder().build();
    }

    /** Settings for a new loop. Any thread. */
    public static Builder builder() {
        return new Builder();
    }

    /** The loop that runs the calling task, callback or library thread; null elsewhere. */
    static @Nullable EventLoop currentOrNull() {
        Thread t =
                Thread.currentThread(); // a platform thread has no need to wait for Carrier, which StartUp makes ready
        return t.isVirtual() && Carrier.schedulerOf(t) instanceof Fiber f ? f.loop : null;
    }

    /**
     * Whether the caller is on this loop: its carrier, or a virtual thread that it carries. Then nothing else of the loop
     * runs until the caller waits, and what belongs to the loop may be touched. Any thread.
     */
    public boolean isCurrent() {
        Thread t = Thread.currentThread();
        return t == carrier || Carrier.schedulerOf(t) instanceof Fiber f && f.loop == this;
    }

    @Nullable
    Thread carrier() {
        return carrier;
    }

    Poller poller() throws IOException {
        return scheduler.sleeper().poller();
    }

    /** Timers set at present. */
    int timerCount() {
        return scheduler.timers.size();
    }

    boolean isVirtual() {
        return clock.isVirtual();
    }

    /** How often background tasks run (B1). Any thread. */
    public Duration tick() {
        return Duration.ofNanos(ticks.period);
    }

    long readClock() {
        return clock.nanos();
    }

    // =========================================================== from outside

    /** Posts; a closed loop is an error (S13). Any thread. */
    void post(Posted p, int signal) {
        if (!postIfOpen(p, signal)) {
            throw closedError();
        }
    }

    /** Posts; false if the loop is closed. Any thread. */
    boolean postIfOpen(Posted p, int signal) {
        if (p.addSignals(signal)) {
            if (!push(p)) {
                p.takeSignals();
                return false;
            }
            return true; // S13: in before the end; it will be served, or its task ends cancelled
        }
        return !closed;
    }

    /** Brings {@code p}, which is in no inbox, to the loop; false if that is closed. Any thread. */
    boolean push(Posted p) {
        return switch (scheduler.inbox.push(p)) {
            case ACCEPTED -> true;
            case MUST_WAKE -> {
                if (!scheduler.sleeper().wake()) { // W1: once per sleep
                    report(new LoopError(
                            "the wake channel of " + name + " was broken and has been made anew", null, null));
                }
                yield true;
            }
            case REFUSED -> false;
        };
    }

    /** The same without waking it (W2). */
    boolean pushBatched(Posted p) {
        if (scheduler.batch.push(p) == Inbox.Push.REFUSED) {
            return false;
        }
        ticks.arm();
        return true;
    }

    /** Whether something waits for a turn or a tick. Any thread. */
    boolean hasBatch() {
        return !scheduler.batch.isEmpty();
    }

    void runInside(Fiber parent, Runnable step) {
        new InsideStep(parent, step).arrive();
    }

    // =========================================================== callbacks

    /**
     * Has {@code callback} called on the loop, once all that is ready now has run ({@code loop.call_soon} and {@code
     * call_soon_threadsafe}). Any thread.
     *
     * @throws IllegalStateException if the loop is closed
     */
    public Handle callSoon(Runnable callback) {
        Handle h = new Handle(this, callback, Priority.NORMAL);
        h.callSoon();
        return h;
    }

    /**
     * Has {@code callback} called on the loop in {@code d} from now. Any thread.
     *
     * @param d zero or negative: as {@link #callSoon}; what overflows: never
     */
    public Handle callLater(Duration d, Runnable callback) {
        Objects.requireNonNull(d, "d");
        Handle h = new Handle(this, callback, Priority.NORMAL);
        h.callLater(d);
        return h;
    }

    /** Has {@code callback} called on the loop at that moment of {@link #time()}. Any thread. */
    public Handle callAt(long loopNanos, Runnable callback) {
        Handle h = new Handle(this, callback, Priority.NORMAL);
        h.callAt(loopNanos);
        return h;
    }

    /**
     * Has {@code callback} called in {@code d} from now or later, while nothing NORMAL is ready ({@code call_after} of fast_io).
     * Any thread.
     */
    public Handle callAfter(Duration d, Runnable callback) {
        Objects.requireNonNull(d, "d");
        Handle h = new Handle(this, callback, Priority.LOW);
        h.callLater(d);
        return h;
    }

    /** {@link #callSoon} on the loop, also while it closes. */
    void soon(Runnable r) {
        scheduler.ready(new Handle(this, r, Priority.NORMAL), ReadyQueues.NORMAL);
    }

    /** A handle of class {@code priority} that is not scheduled yet. Any thread. */
    public Handle handle(Priority priority, Runnable callback) {
        return new Handle(this, callback, Objects.requireNonNull(priority, "priority"));
    }

    /**
     * A handle, not scheduled yet, of work that goes between any two steps, ahead of all that is ready, and at {@linkplain
     * Asyncio#checkpoint checkpoints} (B1, B4). Between two such pieces of work one step of something else runs. Any thread.
     */
    public Handle betweenSteps(Runnable callback) {
        return new Handle(this, callback, ReadyQueues.BETWEEN);
    }

    /** {@link #callSoon} for those who want an {@link Executor}. Any thread. */
    @Override
    public void execute(Runnable callback) {
        callSoon(callback);
    }

    /** Interrupts the JDK call that a task is in, as a callback: that may run foreign code (C2). */
    void interruptLater(Suspendable t) {
        Handle h = new Handle(this, t::interruptIfBlocked, Priority.URGENT);
        scheduler.enqueue(h, ReadyQueues.URGENT, -1);
    }

    /**
     * Tells the loop's exception handler of something that no caller can be told of ({@code call_exception_handler}). Any
     * thread; does not wait.
     */
    public void report(LoopError e) {
        Objects.requireNonNull(e, "e");
        Runnable tell = () -> tell(e);
        try {
            callSoon(tell);
        } catch (IllegalStateException loopIsClosed) {
            tell.run();
        }
    }

    private void tell(LoopError e) {
        if (exceptionHandler != null) {
            try {
                exceptionHandler.accept(e);
                return;
            } catch (Throwable broken) { // G3: a handler that throws does not hurt the loop
                System.getLogger("io.fastio")
                        .log(System.Logger.Level.ERROR, "the exception handler of " + this + " threw", broken);
            }
        }
        System.Logger.Level level = e.exception() == null ? System.Logger.Level.WARNING : System.Logger.Level.ERROR;
        System.getLogger("io.fastio").log(level, e.message(), e.exception());
    }

    // =========================================================== tasks

    /**
     * Starts a task ({@code loop.create_task}); does not switch to it. Any thread.
     *
     * @throws IllegalStateException if the loop is closed
     */
    public <T extends @Nullable Object> Task<T> createTask(Callable<T> body) {
        return createTask(TaskOptions.defaults(), body);
    }

    /** {@link #createTask(Callable)} with a name. */
    public <T extends @Nullable Object> Task<T> createTask(String name, Callable<T> body) {
        return createTask(TaskOptions.named(name), body);
    }

    /** {@link #createTask(Callable)} with options. */
    public <T extends @Nullable Object> Task<T> createTask(TaskOptions options, Callable<T> body) {
        Objects.requireNonNull(options, "options");
        requireOpen();
        if (closing && !isCurrent()) {
            throw closedError(); // or whoever makes tasks fast enough would keep the loop from ending
        }
        LoopTask<T> t = new LoopTask<>(this, options, body);
        t.start();
        return t;
    }

    /** {@link #createTask(Callable)} for a body without a value. */
    public Task<@Nullable Void> createTask(Action body) {
        return createTask(TaskOptions.defaults(), Asyncio.callable(body));
    }

    /** {@link #createTask(Callable)} for a body without a value, with a name. */
    public Task<@Nullable Void> createTask(String name, Action body) {
        return createTask(TaskOptions.named(name), body);
    }

    /** {@link #createTask(Callable)} for a body without a value, with options. */
    public Task<@Nullable Void> createTask(TaskOptions options, Action body) {
        return createTask(options, Asyncio.callable(body));
    }

    /**
     * Makes threads that are tasks of this loop: the drop-in for code that wants a {@link ThreadFactory}. Any thread; the
     * threads may be started from any thread; one that is started after the loop was closed gets a {@link
     * java.util.concurrent.RejectedExecutionException} (S13). One that is cancelled before it ran never runs, and if its
     * {@code Runnable} is a {@link java.util.concurrent.Future} that is cancelled too.
     */
    public ThreadFactory threadFactory(Priority priority) {
        TaskOptions options = TaskOptions.of(priority);
        return body -> {
            Objects.requireNonNull(body, "body");
            requireOpen();
            return new LoopTask<@Nullable Void>(this, options, new ThreadBody(body)).thread;
        };
    }

    /** A service that runs each piece of work in a task of its own on this loop. Any thread. */
    public ExecutorService executor(Priority priority) {
        return Executors.newThreadPerTaskExecutor(threadFactory(priority));
    }

    // =========================================================== running

    private @Nullable LoopTask<?> awaitedMain;
    private boolean interrupted;

    /** Whether somebody waits for its end, and it is not to rest for long. Any thread. */
    boolean isToEnd() {
        return stopping || closing;
    }

    /** Whether a host, a stop, a close or the end of main waits for the step in progress to be over. */
    boolean isStepAwaited() {
        return driven || isToEnd() || awaitedMain != null && awaitedMain.done();
    }

    /** Under virtual time nothing can happen any more: an error if main waits for it (S12). */
    void refuseDeadlock() {
        LoopTask<?> main = awaitedMain;
        if (main != null) {
            throw new DeadlockError("nothing is left that could wake " + main.name() + ":\n" + live.tree());
        }
    }

    /** Ends the process if Ctrl-C ended the run (G4). */
    private void exitIfInterrupted() {
        if (interrupted) {
            Runtime.getRuntime().exit(Interrupts.EXIT_CODE);
        }
    }

    /**
     * Runs {@code main} as a task until it ends ({@code run_until_complete}); other tasks keep their state and go on at
     * the next run. The calling thread is the loop's carrier meanwhile; if that is a virtual thread, a platform thread
     * takes that part, and the caller waits for it.
     *
     * @return main's value
     * @throws Exception the very exception main ended with
     * @throws CancelledError if main was cancelled
     * @throws IllegalStateException in a task of any loop, inside {@code synchronized} ({@link Asyncio#run} works there, since it
     *     leaves no task suspended), if the loop runs already, or if it is closed
     */
    public <T extends @Nullable Object> T run(Callable<T> main) throws Exception {
        Objects.requireNonNull(main, "main");
        if (currentOrNull() != null) {
            throw new IllegalStateException("run() cannot be called from a running event loop");
        }
        refuseMonitors();
        return runBeforeClose(main);
    }

    /** The same for whoever closes the loop afterwards, on the same thread: no task outlives the monitors that it holds. */
    <T extends @Nullable Object> T runBeforeClose(Callable<T> main) throws Exception {
        if (Thread.currentThread().isVirtual()) {
            return onPlatformThread(() -> runBeforeClose(main));
        }
        enterRun();
        LoopTask<T> task;
        try {
            tune();
            task = new LoopTask<>(this, TaskOptions.named("main"), main);
            task.start();
            awaitedMain = task;
            Interrupts interrupts = handleInterrupt ? Interrupts.cancel(task) : null;
            try {
                runTurns(task);
            } finally {
                if (interrupts != null) {
                    interrupts.close();
                    interrupted |= interrupts.received();
                }
            }
        } finally {
            awaitedMain = null;
            leaveRun();
        }
        if (!task.done()) {
            throw new IllegalStateException("the event loop was stopped before main ended");
        }
        return task.valueOrThrow();
    }

    /** {@link #run(Callable)} for a body without a value. */
    public void run(Action main) throws Exception {
        run(Asyncio.callable(Objects.requireNonNull(main, "main")));
    }

    /**
     * Runs until {@link #stop()}. The calling thread is the loop's carrier meanwhile.
     *
     * @throws IllegalStateException in a task of any loop, on a virtual thread, inside {@code synchronized}, if the loop runs
     *     already or is closed
     */
    public void runForever() {
        if (currentOrNull() != null) {
            throw new IllegalStateException("runForever() cannot be called from a running event loop");
        }
        if (Thread.currentThread() != ownThread) {
            refuseMonitors();
        }
        enterRun();
        try {
            tune();
            runTurns(null);
        } finally {
            leaveRun();
        }
    }

    /**
     * Ends {@link #runForever()} after the round in progress; what is ready stays ready for the next run. Before a run it
     * ends that run after one round. Again: no effect (S15). Any thread; does not wait.
     */
    public void stop() {
        stopping = true;
        if (!isCurrent()) {
            wakeSignal.raise();
            scheduler.idle().endSlice();
        }
    }

    private final Signal wakeSignal = new Signal(this) {
        @Override
        protected void act() {
            // The turn that it causes is all that it is for.
        }
    };

    private void runTurns(@Nullable LoopTask<?> main) {
        scheduler.forgetRound();
        boolean ending = stopping;
        if (ending) {
            scheduler.beginOnlyRound(); // S15: stopped before
        }
        while (main == null || !main.done()) {
            if (stopping) {
                if (!ending) {
                    ending = true;
                    scheduler.beginLastRound(); // S15
                }
                if (scheduler.isLastRoundOver()) {
                    stopping = false;
                    return;
                }
            }
            scheduler.turn(stopping ? 0 : Long.MAX_VALUE);
        }
    }

    /**
     * Lets a host loop (user interface, game, robot frame) drive this one: waits at most {@code atMost} for something to
     * become ready, then runs what is ready, at least one round of it, for at most {@code atMost} and the step in
     * progress. The calling thread is the loop's carrier meanwhile. It may hold locks of {@code java.util.concurrent}, but no
     * monitor. That is looked at in each call: for nanoseconds with {@code --enable-native-access}, for some microseconds, and
     * more in a deep stack, without it.
     *
     * @param atMost zero or negative: one round of what is ready, without waiting
     * @return whether anything ran
     * @throws IllegalStateException in a task of any loop, on a virtual thread, inside {@code synchronized}, if the loop runs
     *     already or is closed
     */
    public boolean poll(Duration atMost) {
        Objects.requireNonNull(atMost, "atMost");
        if (currentOrNull() != null) {
            throw new IllegalStateException("poll() cannot be called from a running event loop");
        }
        refuseMonitors();
        enterRun();
        driven = true;
        if (host != carrier) {
            host = carrier; // its timer slack is set once, which costs as much as many an empty poll, and stays so
            slackBefore = -1;
        }
        try {
            long end = LoopClock.saturatedSum(clock.nanos(), Math.max(0, nanos(atMost)));
            scheduler.lookAtAllNext();
            boolean ran;
            do {
                ran = scheduler.turn(end); // a rest may end early, and one that spins always does
            } while (!ran && !stopping && clock.nanos() < end);
            ran = ran || scheduler.turn(0);
            while (ran && (scheduler.isInRound() || clock.nanos() < end) && scheduler.turn(0)) {
                // The turn is all there is to do.
            }
            return ran;
        } finally {
            driven = false;
            leaveRun();
        }
    }

    /**
     * Runs the loop on a daemon thread of its own until {@link #close()} or {@link #stop()}. Any thread; returns once the
     * loop takes tasks. Should the loop fail, as when its poller does, it is closed, and the exception handler is told.
     *
     * @throws IllegalStateException if the loop runs already or is closed
     */
    public void start() {
        synchronized (runLock) {
            requireOpen();
            if (carrier != null || ownThread != null) {
                throw new IllegalStateException("the event loop runs already");
            }
            Thread t = Thread.ofPlatform().daemon().name(name).stackSize(STACK).unstarted(this::runOnOwnThread);
            ownThread = t;
            t.start();
        }
    }

    private void runOnOwnThread() {
        try {
            runForever();
        } catch (Throwable e) { // S13: nobody is there who would get it
            giveUpOwnThread();
            try {
                close();
            } catch (Throwable again) {
                if (again != e) {
                    e.addSuppressed(again);
                }
            }
            tell(new LoopError(name + " cannot go on, and is closed: " + e, e, null));
        } finally {
            giveUpOwnThread();
        }
    }

    /** The thread of {@link #start} lets go, whether or not it has run the loop. */
    private void giveUpOwnThread() {
        synchronized (runLock) {
            if (ownThread == Thread.currentThread()) {
                ownThread = null;
            }
            runLock.notifyAll();
        }
    }

    private <T extends @Nullable Object> T onPlatformThread(Callable<T> work) throws Exception {
        java.util.concurrent.FutureTask<T> f = new java.util.concurrent.FutureTask<>(work);
        Thread.ofPlatform().name(name).stackSize(STACK).start(f);
        boolean interruptedMeanwhile = false;
        try {
            while (true) {
                try {
                    return f.get();
                } catch (InterruptedException e) {
                    interruptedMeanwhile = true; // as a platform thread in run(): the run goes on
                }
            }
        } catch (java.util.concurrent.ExecutionException e) {
            throw LoopTask.sneaky(Objects.requireNonNull(e.getCause()));
        } finally {
            if (interruptedMeanwhile) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * S13: the JVM would take it for one of the tasks' monitors, and crash when such a task goes on. Not asked by {@link
     * Asyncio#run}, with which most programs begin: looking costs tens of milliseconds the first time.
     */
    private static void refuseMonitors() {
        if (!Thread.currentThread().isVirtual() && HeldMonitors.any()) {
            throw new IllegalStateException(
                    "run(), runForever() and poll() of a loop must not be called by a thread that holds a monitor"
                            + " (synchronized): the JVM would break; use a lock of java.util.concurrent");
        }
    }

    private void enterRun() {
        Thread me = Thread.currentThread();
        if (me.isVirtual()) {
            throw new IllegalStateException("a virtual thread cannot carry an event loop");
        }
        StartUp.await();
        synchronized (runLock) {
            requireOpen();
            Thread other = carrier != null ? carrier : ownThread != me ? ownThread : null;
            if (other != null) { // S13: also a thread that start() has made and that has not come as far as this
                throw new IllegalStateException("the event loop runs already, on " + other);
            }
            carrier = me;
        }
        prepareRun();
    }

    private void prepareRun() {
        scheduler.sleeper().holdInterrupt();
        if (!clock.isVirtual() && Thread.currentThread() != host) {
            slackBefore = LoopThread.timerSlack();
            if (slackBefore > threadSettings.timerSlack()) {
                slackBefore = LoopThread.setTimerSlack(threadSettings.timerSlack()) ? slackBefore : -1; // S10
            }
        }
        scheduler.beginRun();
    }

    /** Asks the system for what the builder was told about the thread; a thread that only polls is left as it is. */
    private void tune() {
        String refused = threadSettings.apply(this, clock.isVirtual());
        if (refused != null) {
            report(new LoopError("the thread of " + name + " runs as any other: " + refused, null, null));
        }
    }

    private void leaveRun() {
        scheduler.endRun();
        boolean interruptIsOwed = scheduler.sleeper().takeInterrupt();
        threadSettings.restore();
        if (slackBefore > threadSettings.timerSlack()) {
            LoopThread.setTimerSlack(slackBefore); // the thread was only lent to us
            slackBefore = -1;
        }
        synchronized (runLock) {
            carrier = null;
            giveUpOwnThread();
        }
        if (interruptIsOwed) {
            Thread.currentThread().interrupt(); // it was meant for whoever called us
        }
    }

    // =========================================================== the end

    /** Whether {@link #close()} has begun: new tasks are cancelled before they run. */
    boolean isClosing() {
        return closing;
    }

    /** Whether the loop is closed. Any thread. */
    public boolean isClosed() {
        return closed;
    }

    void requireOpen() {
        if (closed) {
            throw closedError();
        }
    }

    private static IllegalStateException closedError() {
        return new IllegalStateException("event loop is closed"); // S13
    }

    /**
     * Cancels the tasks that are left, runs their {@code finally} blocks for at most the shutdown time, and closes what
     * belongs to the loop (S11). What still hangs is named in a warning. A loop that runs on another thread is stopped
     * first. Idempotent. If Ctrl-C has cancelled a main task of this loop ({@link Builder#handleInterrupt}), the process
     * then exits with 130.
     *
     * @throws IllegalStateException from the loop itself
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (isCurrent()) {
            throw new IllegalStateException("a running event loop cannot be closed from within; stop() it");
        }
        if (Thread.currentThread().isVirtual()) {
            try {
                onPlatformThread(() -> {
                    close();
                    return true;
                });
            } catch (Exception e) {
                throw LoopTask.sneaky(e);
            }
            return;
        }
        if (!takeOver()) {
            return;
        }
        prepareRun();
        try {
            closing = true;
            ending.endTasks();
        } finally {
            closed = true;
            ticks.end();
            ending.afterLastTurn();
            leaveRun();
        }
        exitIfInterrupted();
    }

    /**
     * Has {@code r} called once when the loop has been closed, and nothing that is posted to it runs any more: as a
     * callback, or, if the loop is closed already, at once. Any thread; does not wait.
     */
    public void onClose(Runnable r) {
        ending.onClose(Objects.requireNonNull(r, "r"));
    }

    /** Takes back {@link #onClose}; no effect if it was not asked for. Any thread. */
    public void withdrawOnClose(Runnable r) {
        ending.withdraw(Objects.requireNonNull(r, "r"));
    }

    private final ConcurrentHashMap<Class<?>, Object> attachments = new ConcurrentHashMap<>();

    /**
     * The one object of a class that belongs to this loop, made when it is first asked for; the loop keeps it for as long as
     * it lives itself. {@link LoopLocal} is the faster way for those who are on the loop. Any thread.
     */
    public <T> T attachment(Class<T> type, Function<? super EventLoop, ? extends T> initial) {
        Objects.requireNonNull(initial, "initial");
        return type.cast(attachments.computeIfAbsent(Objects.requireNonNull(type, "type"), t -> initial.apply(this)));
    }

    /** Waits until nobody runs the loop and carries it from then on; false if it has been closed meanwhile. */
    private boolean takeOver() {
        boolean interruptedMeanwhile = false;
        boolean mine;
        synchronized (runLock) {
            while (carrier != null || ownThread != null) {
                stop();
                try {
                    runLock.wait(10);
                } catch (InterruptedException e) {
                    interruptedMeanwhile = true;
                }
            }
            mine = !closed;
            if (mine) {
                carrier = Thread.currentThread();
                stopping = false;
            }
        }
        if (interruptedMeanwhile) {
            Thread.currentThread().interrupt();
        }
        return mine;
    }

    // =========================================================== settings

    /** Nanoseconds since the loop was made; the clock of {@link #callAt} and of every deadline. Any thread. */
    public long time() {
        return clock.nanos();
    }

    /** The moment {@code d} from now on {@link #time()}; what overflows is {@link Long#MAX_VALUE}, never. Any thread. */
    public long timeIn(Duration d) {
        return LoopClock.saturatedSum(clock.nanos(), nanos(d));
    }

    /** Longest time for which a ready LOW entry is passed over (S5); zero: no limit. Any thread. */
    public Duration maxOverdue() {
        return scheduler.maxOverdue();
    }

    /** Sets {@link #maxOverdue()}. Any thread. */
    public void maxOverdue(Duration d) {
        Objects.requireNonNull(d, "d");
        if (d.isNegative()) {
            throw new IllegalArgumentException("maxOverdue must not be negative: " + d);
        }
        scheduler.maxOverdue(d);
    }

    /** What the loop does while nothing is ready (S10). Any thread. */
    public IdleStrategy idleStrategy() {
        return scheduler.idle().strategy();
    }

    /** Changes {@link #idleStrategy()}, also while the loop runs. Any thread. */
    public void idleStrategy(IdleStrategy s) {
        scheduler.idle().strategy(Objects.requireNonNull(s, "s"));
        if (!closed) {
            wakeSignal.raise();
        }
    }

    /** What happened in this loop so far. Any thread; costs the loop nothing. */
    public LoopCounters counters() {
        return Counts.of(this);
    }

    /** Whether all streams of this loop are URGENT ({@code ioq_len} of fast_io). Any thread. */
    public boolean ioFirst() {
        return ioFirst;
    }

    /** The loop's name. Any thread. */
    public String name() {
        return name;
    }

    /** {@link #requireCurrent}, in debug mode only: where the call costs little more than the check would. */
    void checkOwner(Object what) {
        if (debug) {
            requireCurrent(what);
        }
    }

    /**
     * For those who build on a loop: refuses whoever is not on it, since what belongs to a loop is for its own tasks and
     * callbacks (S13). Any thread; does not wait.
     *
     * @param what belongs to this loop; for the message
     * @throws IllegalStateException unless this loop {@linkplain #isCurrent is current}; names it and the caller
     */
    public void requireCurrent(Object what) {
        Objects.requireNonNull(what, "what");
        if (!isCurrent()) {
            EventLoop other = currentOrNull();
            throw new IllegalStateException(what + " belongs to " + this + " and is touched by "
                    + (other != null ? LoopTask.nameOfCaller() + " of " + other : Thread.currentThread()));
        }
    }

    boolean debug() {
        return debug;
    }

    /** Longest time for which {@link #close()}, and closing streams, wait for others. Any thread. */
    public Duration shutdownTimeout() {
        return Duration.ofNanos(shutdownTimeout);
    }

    @Override
    public String toString() {
        return "EventLoop[" + name + ", " + (closed ? "closed" : carrier != null ? "running" : "not running") + ", "
                + live.size() + " tasks, " + scheduler.sleeper() + "]";
    }

    /** Which poller a loop finds readiness with. */
    public enum PollerKind {
        /** Epoll on Linux where the JVM's flags allow it, else the selector. The default. */
        AUTO(Poller.Kind.AUTO),
        /** Epoll, or an error that says why not. */
        EPOLL(Poller.Kind.EPOLL),
        /** The portable NIO selector. */
        SELECTOR(Poller.Kind.SELECTOR);

        final Poller.Kind kind;

        PollerKind(Poller.Kind kind) {
            this.kind = kind;
        }
    }

    /** Settings of a loop to be built. Not thread-safe. */
    public static final class Builder {
        String name = "fastio-loop";
        boolean ioFirst;
        Duration maxOverdue = Duration.ZERO;
        Duration urgentBudget = Duration.ofMillis(10);
        Duration ioPollInterval = Duration.ofNanos(20_000);
        Duration devicePollInterval = Duration.ofMillis(1);
        Duration tick = Duration.ofMillis(1);
        Duration shutdownTimeout = Duration.ofSeconds(10);
        IdleStrategy idle = IdleStrategy.BLOCK;

        @Nullable
        LoopClock clock;

        PollerKind poller = PollerKind.AUTO;
        final ThreadSettings threadSettings = new ThreadSettings();
        boolean debug;
        boolean handleInterrupt;

        @Nullable
        Consumer<? super LoopError> exceptionHandler;

        private Builder() {}

        /** Name of the loop and of its own thread. Default {@code fastio-loop}. */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /** All streams are URGENT. Default false. */
        public Builder ioFirst(boolean on) {
            this.ioFirst = on;
            return this;
        }

        /** See {@link EventLoop#maxOverdue()}. Zero or more; default zero. */
        public Builder maxOverdue(Duration d) {
            this.maxOverdue = notNegative(d);
            return this;
        }

        /** Longest time for which URGENT work holds up NORMAL work (S7); zero: no limit. Default 10 ms. */
        public Builder urgentBudget(Duration d) {
            this.urgentBudget = notNegative(d);
            return this;
        }

        /** Shortest time between two looks at readiness between steps (S8). Zero or more; default 20 µs. */
        public Builder ioPollInterval(Duration d) {
            this.ioPollInterval = notNegative(d);
            return this;
        }

        /** How often an idle loop asks devices that cannot wake it (I8). Positive; default 1 ms. */
        public Builder devicePollInterval(Duration d) {
            if (notNegative(d).isZero()) {
                throw new IllegalArgumentException("devicePollInterval must be positive");
            }
            this.devicePollInterval = d;
            return this;
        }

        /** How often background tasks run (B1), and the longest time for which batched wakes wait (W2). Positive; default 1 ms. */
        public Builder tick(Duration d) {
            if (notNegative(d).isZero()) {
                throw new IllegalArgumentException("tick must be positive");
            }
            this.tick = d;
            return this;
        }

        /** Longest time for which closing waits for cancelled tasks (S11). Zero or more; default 10 s. */
        public Builder shutdownTimeout(Duration d) {
            this.shutdownTimeout = notNegative(d);
            return this;
        }

        /** What to do while nothing is ready (S10). Default {@link IdleStrategy#BLOCK}. */
        public Builder idle(IdleStrategy s) {
            this.idle = Objects.requireNonNull(s, "s");
            return this;
        }

        /** The clock. Default {@link LoopClock#monotonic()}. */
        public Builder clock(LoopClock c) {
            this.clock = Objects.requireNonNull(c, "c");
            return this;
        }

        /** Which poller. Default {@link PollerKind#AUTO}. */
        public Builder poller(PollerKind kind) {
            this.poller = Objects.requireNonNull(kind, "kind");
            return this;
        }

        /** Which processor and priority the loop's thread is to have: {@code thread(t -> t.cpu(1).realtime(50))}. */
        public Builder thread(Consumer<? super ThreadSettings> settings) {
            Objects.requireNonNull(settings, "settings").accept(threadSettings);
            return this;
        }

        /** Warnings and checks that cost time. Default false. */
        public Builder debug(boolean on) {
            this.debug = on;
            return this;
        }

        /**
         * Ctrl-C cancels main under {@link EventLoop#run}, and {@link EventLoop#close()} then exits with 130 (G4). Default
         * false; {@link Asyncio#run} does it.
         */
        public Builder handleInterrupt(boolean on) {
            this.handleInterrupt = on;
            return this;
        }

        /** Where {@link LoopError}s go, on the loop. Default: {@link System.Logger} {@code io.fastio}. */
        public Builder exceptionHandler(Consumer<? super LoopError> handler) {
            this.exceptionHandler = Objects.requireNonNull(handler, "handler");
            return this;
        }

        /** A new loop with these settings. */
        public EventLoop build() {
            return new EventLoop(this);
        }

        private static Duration notNegative(Duration d) {
            if (Objects.requireNonNull(d, "d").isNegative()) {
                throw new IllegalArgumentException("must not be negative: " + d);
            }
            return d;
        }
    }
}
