package io.fastio;

import io.fastio.carrier.Carrier;
import io.fastio.poll.LoopThread;
import io.fastio.poll.Poller;
import io.fastio.time.IdleStrategy;
import io.fastio.time.LoopClock;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One thread that runs tasks, which are virtual threads, one step at a time, the most urgent first. Answers to asyncio's
 * event loop, with the priorities of fast_io.
 *
 * <p>{@link #turn} is the whole of scheduling: look at what came (the inbox, due timers, readiness), choose the entry to
 * serve by section S of the semantics, run one step of it; with nothing to run, sleep. Everything else in this class
 * starts, ends and feeds turns.
 *
 * <p>Threads: the thread that calls {@link #run}, {@link #runForever} or {@link #poll} is the loop's carrier for as long
 * as that call lasts; {@link #start} gives the loop a thread of its own. Only loop code runs on the carrier itself; tasks
 * and callbacks run on virtual threads that it carries. Fields without a word about threads belong to the loop.
 */
public final class EventLoop implements Executor, AutoCloseable {
    /** S8: as long as this many nanoseconds of steps passed between two looks, the looks are not further apart. */
    private static final long SHORT_STEPS = 2_500;

    private static final long LONG_STEPS = 20_000;
    private static final int MOST_STEPS_BETWEEN_LOOKS = 15;

    /** So many looks in a row have to find short steps before they move apart. */
    private static final int SHORT_LOOKS = 16;

    /** A timer this near (nanoseconds) is looked for before every step. */
    private static final long NEAR = 20_000;

    /** How long a closing loop on virtual time waits at most before it looks whether its real time is over. */
    private static final long CLOSING_SLICE = 5_000_000;

    /** S2: within a step, a wake looks for due timers unless the next one was at least this far away (nanoseconds). */
    private static final long FAR = 100_000_000;

    static {
        StartUp.begin();
    }

    // ---- fixed at construction
    private final String name;
    private final LoopClock clock;
    private final Sleeper sleeper;
    private final long urgentBudget;
    private final long ioPollInterval;
    private final long devicePollInterval;
    private final long shutdownTimeout;
    private final boolean ioFirst;
    private final boolean debug;
    private final boolean handleInterrupt;
    private final @Nullable Consumer<? super LoopError> exceptionHandler;

    // ---- what is ready, and what will be
    private final ReadyQueues ready = new ReadyQueues();
    private final TimerQueue timers = new TimerQueue();
    private final Inbox inbox = new Inbox();

    /** What sources that do not wake have posted (W2): looked at with the inbox, before a sleep, and at ticks. */
    private final Inbox batch = new Inbox();

    final Ticks ticks;
    private @Nullable LoopTask<?> yielded;
    private @Nullable LoopTask<?> checkpointed;

    // ---- time and looks
    private long now;
    private long lastPoll;
    private int stepsUntilLook;
    private int stepsBetweenLooks;
    private int shortLooks;
    private boolean expiring;

    /** Tasks that wait for readiness; with none the poller is not asked between steps. */
    private int readinessWaits;

    private boolean lookOwed;

    /** Sources that have to be asked (I8), and when they last were. */
    private @Nullable Polling pollings;

    private int urgentPollings;
    private int normalPollings;
    private long lastUrgentAsk;
    private long lastAsk;
    private final Handle askUrgent = new Handle(this, () -> ask(true), Priority.URGENT);
    private final Handle askNormal = new Handle(this, () -> ask(false), Priority.NORMAL);

    /** Values of {@link LoopLocal}s, by their index. */
    @Nullable
    Object[] locals = new Object[0];

    /** The newest watch; link to the others. */
    @Nullable
    Watch watches;

    // ---- rules that look back
    private int normalRoundLeft;
    private boolean lowServedThisRound;

    /** Background work ran last: before it comes again, something else has its step. */
    private boolean betweenServed;

    private long normalWaitsSince = -1;
    private volatile long maxOverdue;
    private volatile IdleStrategy idleStrategy;

    // ---- tasks and fibers
    @Nullable
    Fiber running;

    int blockedFibers;
    private int workOutside;
    private final Set<Offload<?>> strays = new LinkedHashSet<>();
    private @Nullable LoopTask<?> firstTask;
    private int taskCount;
    private @Nullable Runner idleRunners;

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

    /** A host loop drives this one by {@link #poll}. */
    private boolean driven;

    private EventLoop(Builder b) {
        Carrier.require();
        this.name = b.name;
        this.clock = b.clock != null ? b.clock : LoopClock.monotonic();
        this.urgentBudget = nanos(b.urgentBudget);
        this.ioPollInterval = nanos(b.ioPollInterval);
        this.devicePollInterval = nanos(b.devicePollInterval);
        this.shutdownTimeout = nanos(b.shutdownTimeout);
        this.maxOverdue = nanos(b.maxOverdue);
        this.ticks = new Ticks(this, nanos(b.tick));
        this.idleStrategy = b.idle;
        this.ioFirst = b.ioFirst;
        this.threadSettings = b.threadSettings.copy();
        this.debug = b.debug;
        this.handleInterrupt = b.handleInterrupt;
        this.exceptionHandler = b.exceptionHandler;
        try {
            this.sleeper = new Sleeper(inbox, Poller.Kind.valueOf(b.poller.name()));
        } catch (IOException e) {
            throw new IllegalStateException("cannot open the poller of an event loop: " + e.getMessage(), e);
        }
        warmUp();
    }

    /**
     * Loads what callbacks and reports need before they are needed: a process that has run out of descriptors cannot load a
     * class, and on the carrier that would be the end of the loop.
     */
    private void warmUp() {
        idle(new Runner(this));
        Objects.requireNonNull(LoopError.class);
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
        return Carrier.schedulerOf(Thread.currentThread()) instanceof Fiber f ? f.loop : null;
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

    // =========================================================== the turn

    /**
     * One turn: section S. Looks at what has come, then runs one step of the most urgent entry, or sleeps until {@code
     * wakeAt} at the latest.
     *
     * @return whether a step was run
     */
    private boolean turn(long wakeAt) {
        look();
        queueYielded();
        Entry next = choose();
        if (next == null) {
            idle(wakeAt);
            return false;
        }
        idleSince = -1;
        slept = false;
        take(next);
        next.runStep();
        return true;
    }

    /** Takes in what came from outside, at once; timers and readiness as often as S8 says. */
    private void look() {
        if (!inbox.isEmpty()) {
            takeIn(); // W1
        }
        if (--stepsUntilLook < 0 && needsClock()) {
            lookAtClock();
        }
    }

    private void takeIn() {
        inbox.drain();
        if (!batch.isEmpty()) {
            batch.drain(); // W2
        }
    }

    /** Whether anything depends on the time: without it a switch costs no look at the clock. */
    private boolean needsClock() {
        return !timers.isEmpty()
                || readinessWaits > 0
                || urgentPollings > 0
                || normalWaitsSince >= 0 // S7; the URGENT one may just have yielded and stand in no queue
                || ready.firstLow() != null;
    }

    private void lookAtClock() {
        long before = now;
        now = clock.nanos();
        if (timers.nextDue() <= now) {
            expire();
        }
        if (readinessWaits > 0 && now - lastPoll >= ioPollInterval) {
            lastPoll = now;
            lookAtReadiness(); // S8
        }
        if (urgentPollings > 0 && now - lastUrgentAsk >= ioPollInterval) {
            askSoon(askUrgent); // I8
        }
        pace(now - before);
    }

    /**
     * S8: short steps share one look at the clock, which costs a fifth of a switch. Where steps are of mixed length, or a
     * timer is near, there is a look before every one; time that jumps is looked at always.
     */
    private void pace(long sinceLastLook) {
        if (sinceLastLook > LONG_STEPS) {
            shortLooks = 0;
            stepsBetweenLooks = 0;
        } else if (timers.nextDue() - now < NEAR || clock.isVirtual()) {
            stepsBetweenLooks = 0;
        } else if (sinceLastLook > 2 * SHORT_STEPS) {
            stepsBetweenLooks >>= 1;
        } else if (sinceLastLook < SHORT_STEPS && ++shortLooks > SHORT_LOOKS) {
            shortLooks = SHORT_LOOKS;
            stepsBetweenLooks = Math.min(2 * stepsBetweenLooks + 1, MOST_STEPS_BETWEEN_LOOKS);
        }
        stepsUntilLook = stepsBetweenLooks;
        if (stepsBetweenLooks > 0 && !lookAtTicks) {
            lookAtTicks = true;
            ticks.ring(lookAtNextTurn, true);
        }
    }

    /**
     * S2, S6: steps that have been short may become long, and nobody would look for so many of them. While looks are
     * apart, each tick brings one on.
     */
    private final Signal lookAtNextTurn = new Signal(this) {
        @Override
        protected void act() {
            stepsUntilLook = 0;
            if (slept || stepsBetweenLooks == 0) {
                lookAtTicks = false;
                ticks.ring(this, false);
            }
        }
    };

    private boolean lookAtTicks;

    /** Makes ready what is due, by its due time (S2). */
    private void expire() {
        expiring = true;
        try {
            while (timers.nextDue() <= now) {
                Timed t = timers.first();
                timers.remove(t);
                t.timeReached();
            }
        } finally {
            expiring = false;
        }
    }

    /** A task that yielded becomes ready behind the timers that fell due during its step (S2). */
    private void queueYielded() {
        LoopTask<?> y = yielded;
        if (y != null) {
            yielded = null;
            if (y.isYielding()) {
                enqueue(y, y.yieldClass(), -1);
            }
        }
        LoopTask<?> c = checkpointed;
        if (c != null && c.phase == Fiber.WAITING) {
            checkpointed = null;
            if (c.wakesItself()) {
                ready.addFirst(c, c.yieldClass()); // B4: keeps its place
            }
        }
    }

    /**
     * Whether a yield of the running task would only come back to it: nothing else is ready, after a look at all that may
     * have come. Never while a host, a stop or the end of main waits for the step to be over, nor while devices are asked
     * once a round (I8).
     */
    boolean isNothingElseReady() {
        if (normalPollings > 0
                || driven
                || stopping
                || closing
                || !ready.isEmpty()
                || awaitedMain != null && awaitedMain.done()) {
            return false;
        }
        look();
        return ready.isEmpty();
    }

    /** The entry to serve now, or null if none is ready. */
    private @Nullable Entry choose() {
        Entry between = ready.firstBetween();
        if (between != null && !(betweenServed && ready.hasMoreThanBetween())) {
            return between; // B1, S7
        }
        Entry normal = ready.firstNormal();
        Entry urgent = ready.firstUrgent();
        if (urgent != null && !(normal != null && urgentHadItsShare())) {
            return urgent; // S6
        }
        if (normal == null) {
            normalWaitsSince = -1;
        }
        Entry low = ready.firstLow();
        if (low != null && (normal == null || isOverdue(low))) {
            return low; // S4, S5
        }
        return normal;
    }

    /** S7: NORMAL work has been ready for longer than the budget while URGENT ran. */
    private boolean urgentHadItsShare() {
        if (urgentBudget == 0) {
            return false;
        }
        if (normalWaitsSince < 0) {
            now = clock.nanos();
            normalWaitsSince = now;
        }
        return now - normalWaitsSince > urgentBudget;
    }

    /** S5: a LOW entry that has waited for longer than the limit runs before the NORMAL ones, one per round. */
    private boolean isOverdue(Entry low) {
        long limit = maxOverdue;
        return limit > 0 && now - low.due > limit && !lowServedThisRound;
    }

    private void take(Entry e) {
        steps++;
        betweenServed = e.readyIn == ReadyQueues.BETWEEN;
        if (e.readyIn == ReadyQueues.NORMAL) {
            if (normalRoundLeft <= 0) {
                if (normalPollings > 0 && e != askNormal) {
                    askSoon(askNormal); // I8: once a round
                }
                normalRoundLeft = ready.normalSize();
                lowServedThisRound = false;
            }
            normalRoundLeft = Math.min(normalRoundLeft, ready.normalSize()) - 1; // some may have been cancelled
            normalWaitsSince = -1;
        } else if (e.readyIn == ReadyQueues.LOW) {
            lowServedThisRound = true;
        }
        ready.remove(e);
    }

    /** S10: nothing is ready. Sleeps until something is, or until {@code wakeAt}. */
    private void idle(long wakeAt) {
        if (!batch.isEmpty()) {
            batch.drain(); // W2
            return;
        }
        if (slept) {
            slept = false;
            emptyTurns++;
        }
        long due = Math.min(timers.nextDue(), wakeAt);
        if (pollings != null) {
            long nextAsk = LoopClock.saturatedSum(lastAsk, devicePollInterval);
            if (clock.nanos() >= nextAsk) {
                askAll();
                return;
            }
            due = Math.min(due, nextAsk);
        }
        if (clock.isVirtual()) {
            idleVirtually(due);
            return;
        }
        stepsUntilLook = 0;
        long t = clock.nanos();
        if (due <= t) {
            return;
        }
        IdleStrategy strategy = idleStrategy;
        if (strategy instanceof IdleStrategy.Block) {
            sleep(due, t);
        } else if (strategy instanceof IdleStrategy.Spin) {
            spin();
        } else if (strategy instanceof IdleStrategy.Backoff b) {
            if (idleSince < 0) {
                idleSince = t;
            }
            if (t - idleSince < nanos(b.time())) {
                spin();
            } else {
                sleep(due, t);
            }
        } else if (strategy instanceof IdleStrategy.Powersave p) {
            long slice = Math.min(due, LoopClock.saturatedSum(lastWake, nanos(p.slice())));
            for (; t < slice; t = clock.nanos()) {
                Thread.interrupted(); // F97: an interrupted thread would not park
                LockSupport.parkNanos(this, slice - t);
            }
            if (due > t) {
                sleep(due, t);
            }
            lastWake = clock.nanos();
        }
    }

    private long idleSince = -1;

    /** The turn before was a sleep. */
    private boolean slept;

    // For LoopCounters; read by other threads as they are.
    @SuppressWarnings("UnusedVariable") // by Counts
    private long steps;

    @SuppressWarnings("UnusedVariable") // by Counts
    private long emptyTurns;

    long coalesced;

    private long lastWake;

    private void spin() {
        if (readinessWaits > 0) {
            lookAtReadiness();
        } else {
            Thread.onSpinWait();
        }
    }

    private void sleep(long due, long t) {
        if (lookOwed) {
            lookAtReadiness();
        } else {
            sleeper.sleep(due == Long.MAX_VALUE ? -1 : due - t, readinessWaits > 0);
            slept = true;
        }
        lastPoll = clock.nanos();
    }

    /** V1: time jumps to the next due moment, but not while foreign work is under way. */
    private void idleVirtually(long due) {
        if (due <= clock.nanos()) {
            return;
        }
        boolean workElsewhere = workOutside > 0 || blockedFibers > 0 || closing && !strays.isEmpty();
        if (readinessWaits > 0 && lookAtReadiness() > 0) {
            return;
        }
        if (!workElsewhere && due != Long.MAX_VALUE) {
            ((LoopClock.Virtual) clock).advanceTo(due);
        } else if (!workElsewhere && readinessWaits == 0 && awaitedMain != null && inbox.isEmpty()) {
            throw new DeadlockError("nothing is left that could wake " + awaitedMain.name() + ":\n" + taskTree());
        } else {
            sleeper.sleep(closing ? CLOSING_SLICE : -1, readinessWaits > 0); // S11: the end is bounded in real time
        }
    }

    void addPolling(Polling p) {
        p.next = pollings;
        pollings = p;
        countPolling(p, 1);
    }

    void removePolling(Polling p) {
        Polling before = null;
        for (Polling q = pollings; q != p; q = q.next) {
            before = Objects.requireNonNull(q);
        }
        if (before == null) {
            pollings = p.next;
        } else {
            before.next = p.next; // p keeps its own link: it may be the one that is being asked
        }
        countPolling(p, -1);
    }

    private void countPolling(Polling p, int change) {
        if (p.urgent) {
            urgentPollings += change;
        } else {
            normalPollings += change;
        }
    }

    /** I8: the loop is idle. */
    private void askAll() {
        if (urgentPollings > 0) {
            askSoon(askUrgent);
        }
        if (normalPollings > 0) {
            askSoon(askNormal);
        }
        lastAsk = clock.nanos();
    }

    private void askSoon(Handle h) {
        if (!h.scheduled()) {
            enqueue(h, h == askUrgent ? ReadyQueues.URGENT : ReadyQueues.NORMAL, -1);
        }
    }

    /** Asks the sources of one class; on a runner, as they are user code. */
    private void ask(boolean urgent) {
        for (Polling p = pollings; p != null; p = p.next) {
            if (p.urgent == urgent) {
                p.ask();
            }
        }
        lastAsk = clock.nanos();
        if (urgent) {
            lastUrgentAsk = lastAsk;
        }
    }

    void readinessWaits(int change) {
        readinessWaits += change;
    }

    /**
     * A watch was closed, and its channel will be. A selector lets go of a closed channel, and thus of its port and
     * connection, when it selects again: that look is owed even if nothing else waits for readiness.
     */
    void watchClosed(Poller p) {
        if (!p.supportsFds() && !lookOwed) {
            lookOwed = true;
            readinessWaits++;
        }
    }

    private int lookAtReadiness() {
        if (lookOwed) {
            lookOwed = false;
            readinessWaits--;
        }
        return sleeper.look();
    }

    Poller poller() throws IOException {
        return sleeper.poller();
    }

    // =========================================================== what becomes ready

    /** Makes an entry ready now. */
    void ready(Entry e, byte c) {
        if (!timers.isEmpty() && !expiring && (timers.nextDue() - now < FAR || clock.isVirtual())) {
            now = clock.nanos();
            if (timers.nextDue() <= now) {
                expire(); // S2: they became ready before
            }
        }
        enqueue(e, c, -1);
    }

    /** Makes an entry ready that became so at {@code since}. */
    void readySince(Entry e, byte c, long since) {
        enqueue(e, c, since);
    }

    private void enqueue(Entry e, byte c, long since) {
        if (c == ReadyQueues.NORMAL || c == ReadyQueues.BETWEEN) {
            ready.add(e, c);
        } else if (c == ReadyQueues.URGENT) {
            if (e.deadlineNanos() > 0) {
                e.due = LoopClock.saturatedSum(since >= 0 ? since : clock.nanos(), e.deadlineNanos());
                ready.addDeadline(e);
            } else {
                ready.add(e, c);
            }
        } else {
            e.due = since >= 0 ? since : clock.nanos(); // S5 counts from here
            ready.add(e, c);
        }
    }

    void unready(Entry e) {
        ready.remove(e);
    }

    /** Its class has changed while it was ready. */
    void requeue(Entry e, byte c) {
        ready.remove(e);
        enqueue(e, c, -1);
    }

    void yielded(LoopTask<?> t) {
        yielded = t;
    }

    void checkpointed(LoopTask<?> t) {
        checkpointed = t;
    }

    /** B4: whether something is ready that goes before class {@code c}; looks as often as S8 says. */
    boolean isDueBefore(byte c) {
        look();
        return ready.firstBetween() != null
                || ready.firstUrgent() != null && c > ReadyQueues.URGENT
                || ready.firstNormal() != null && c > ReadyQueues.NORMAL;
    }

    /** Sets the timer of {@code t}, in place of the one it has; {@link Long#MAX_VALUE} is none. */
    void setTimer(Timed t, long due) {
        cancelTimer(t);
        if (due != Long.MAX_VALUE) {
            t.due = due;
            timers.add(t);
            if (due - now < NEAR) {
                stepsUntilLook = 0;
            }
        }
    }

    void cancelTimer(Timed t) {
        if (t.place >= 0) {
            timers.remove(t);
        }
    }

    /** Timers set at present. */
    int timerCount() {
        return timers.size();
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
        return switch (inbox.push(p)) {
            case ACCEPTED -> true;
            case MUST_WAKE -> {
                if (!sleeper.wake()) { // W1: once per sleep
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
        if (batch.push(p) == Inbox.Push.REFUSED) {
            return false;
        }
        ticks.arm();
        return true;
    }

    /** Whether something waits for a turn or a tick. Any thread. */
    boolean hasBatch() {
        return !batch.isEmpty();
    }

    void runInside(Fiber parent, Runnable step) {
        new InsideStep(parent, step).arrive();
    }

    /** Offloaded work begins (+1) or has come back (-1). */
    void workOutside(int change) {
        workOutside += change;
    }

    /** Offloaded work that was cancelled and has not come back. */
    Set<Offload<?>> strays() {
        return strays;
    }

    // =========================================================== callbacks

    /**
     * Has {@code r} called on the loop, once all that is ready now has run ({@code loop.call_soon} and {@code
     * call_soon_threadsafe}). Any thread.
     *
     * @throws IllegalStateException if the loop is closed
     */
    public Handle callSoon(Runnable r) {
        Handle h = new Handle(this, r, Priority.NORMAL);
        h.callSoon();
        return h;
    }

    /**
     * Has {@code r} called on the loop in {@code d} from now. Any thread.
     *
     * @param d zero or negative: as {@link #callSoon}; what overflows: never
     */
    public Handle callLater(Duration d, Runnable r) {
        Objects.requireNonNull(d, "d");
        Handle h = new Handle(this, r, Priority.NORMAL);
        h.callLater(d);
        return h;
    }

    /** Has {@code r} called on the loop at that moment of {@link #time()}. Any thread. */
    public Handle callAt(long loopNanos, Runnable r) {
        Handle h = new Handle(this, r, Priority.NORMAL);
        h.callAt(loopNanos);
        return h;
    }

    /**
     * Has {@code r} called in {@code d} from now or later, while nothing NORMAL is ready ({@code call_after} of fast_io).
     * Any thread.
     */
    public Handle callAfter(Duration d, Runnable r) {
        Objects.requireNonNull(d, "d");
        Handle h = new Handle(this, r, Priority.LOW);
        h.callLater(d);
        return h;
    }

    /** {@link #callSoon} on the loop, also while it closes. */
    void soon(Runnable r) {
        ready(new Handle(this, r, Priority.NORMAL), ReadyQueues.NORMAL);
    }

    /** A handle of class {@code p} that is not scheduled yet. Any thread. */
    public Handle handle(Priority p, Runnable r) {
        return new Handle(this, r, p);
    }

    /**
     * A handle, not scheduled yet, of work that goes between any two steps, ahead of all that is ready, and at {@linkplain
     * Asyncio#checkpoint checkpoints} (B1, B4). Between two such pieces of work one step of something else runs. Any thread.
     */
    public Handle betweenSteps(Runnable r) {
        return new Handle(this, r, ReadyQueues.BETWEEN);
    }

    /** {@link #callSoon} for those who want an {@link Executor}. Any thread. */
    @Override
    public void execute(Runnable r) {
        callSoon(r);
    }

    /** Runs a callback, and its neighbours, on a runner. On the carrier. */
    void runCallbacks(Handle first) {
        Runner r = idleRunners;
        if (r == null) {
            r = new Runner(this);
        } else {
            idleRunners = r.nextIdle;
            r.nextIdle = null;
        }
        r.run(first);
    }

    /**
     * The next callback, if the step to run next is one: the same turn as the carrier's, but for sleeping and looking at
     * readiness, which are left to it. On a runner.
     */
    @Nullable
    Handle nextNeighbour() {
        if (stopping || !inbox.isEmpty() || awaitedMain != null && awaitedMain.done()) {
            return null;
        }
        if (--stepsUntilLook < 0 && needsClock()) {
            return null;
        }
        if (choose() instanceof Handle h) {
            take(h);
            return h;
        }
        return null;
    }

    void idle(Runner r) {
        r.nextIdle = idleRunners;
        idleRunners = r;
    }

    /** Interrupts the JDK call that a task is in, as a callback: that may run foreign code (C2). */
    void interruptLater(LoopTask<?> t) {
        Handle h = new Handle(this, t::interruptIfBlocked, Priority.URGENT);
        enqueue(h, ReadyQueues.URGENT, -1);
    }

    /**
     * Tells the loop's exception handler of something that no caller can be told of ({@code call_exception_handler}). Any
     * thread; does not wait.
     */
    public void report(LoopError e) {
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
        System.getLogger("io.fastio").log(System.Logger.Level.ERROR, e.message(), e.exception());
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
    public <T extends @Nullable Object> Task<T> createTask(String taskName, Callable<T> body) {
        return createTask(TaskOptions.named(taskName), body);
    }

    /** {@link #createTask(Callable)} with options. */
    public <T extends @Nullable Object> Task<T> createTask(TaskOptions options, Callable<T> body) {
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
    public Task<@Nullable Void> createTask(String taskName, Action body) {
        return createTask(TaskOptions.named(taskName), body);
    }

    /** {@link #createTask(Callable)} for a body without a value, with options. */
    public Task<@Nullable Void> createTask(TaskOptions options, Action body) {
        return createTask(options, Asyncio.callable(body));
    }

    /**
     * Makes threads that are tasks of this loop: the drop-in for code that wants a {@link ThreadFactory}. Any thread; the
     * threads may be started from any thread.
     */
    public ThreadFactory threadFactory(Priority p) {
        TaskOptions options = TaskOptions.of(p);
        return body -> {
            Objects.requireNonNull(body, "body");
            requireOpen();
            return new LoopTask<@Nullable Void>(this, options, () -> {
                        body.run();
                        return null;
                    })
                    .thread;
        };
    }

    /** A service that runs each piece of work in a task of its own on this loop. Any thread. */
    public ExecutorService executor(Priority p) {
        return Executors.newThreadPerTaskExecutor(threadFactory(p));
    }

    void adopt(LoopTask<?> t) {
        LoopTask<?> f = firstTask;
        t.nextTask = f;
        if (f != null) {
            f.previousTask = t;
        }
        firstTask = t;
        t.listed = true;
        taskCount++;
    }

    void dismiss(LoopTask<?> t) {
        if (!t.listed) {
            return;
        }
        LoopTask<?> p = t.previousTask;
        LoopTask<?> n = t.nextTask;
        if (p == null) {
            firstTask = n;
        } else {
            p.nextTask = n;
        }
        if (n != null) {
            n.previousTask = p;
        }
        t.previousTask = null;
        t.nextTask = null;
        t.listed = false;
        taskCount--;
    }

    /** The tasks that have not ended, oldest first. On the loop. */
    Set<Task<?>> tasks() {
        java.util.ArrayDeque<LoopTask<?>> newestFirst = new java.util.ArrayDeque<>();
        for (LoopTask<?> t = firstTask; t != null; t = t.nextTask) {
            newestFirst.addFirst(t);
        }
        return new LinkedHashSet<>(newestFirst);
    }

    private String taskTree() {
        StringBuilder s = new StringBuilder();
        for (Task<?> t : tasks()) {
            s.append("  ")
                    .append(t.name())
                    .append(": ")
                    .append(((LoopTask<?>) t).doing())
                    .append('\n');
        }
        return s.toString();
    }

    // =========================================================== running

    private @Nullable LoopTask<?> awaitedMain;
    private boolean interrupted;

    /** Ends the process if Ctrl-C ended the run (G4). */
    private void exitIfInterrupted() {
        if (interrupted) {
            Runtime.getRuntime().exit(Interrupts.EXIT_CODE);
        }
    }

    /**
     * Runs {@code main} as a task until it ends ({@code run_until_complete}); other tasks keep their state and go on at
     * the next run. The calling thread is the loop's carrier meanwhile; on a virtual thread a platform thread takes that
     * part, and the caller waits for it.
     *
     * @return main's value
     * @throws Exception the very exception main ended with
     * @throws CancelledError if main was cancelled
     * @throws IllegalStateException in a task of any loop, if the loop runs already, or if it is closed
     */
    public <T extends @Nullable Object> T run(Callable<T> main) throws Exception {
        Objects.requireNonNull(main, "main");
        if (currentOrNull() != null) {
            throw new IllegalStateException("run() cannot be called from a running event loop");
        }
        if (Thread.currentThread().isVirtual()) {
            return onPlatformThread(() -> run(main));
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
        run(Asyncio.callable(main));
    }

    /**
     * Runs until {@link #stop()}. The calling thread is the loop's carrier meanwhile.
     *
     * @throws IllegalStateException in a task of any loop, on a virtual thread, if the loop runs already or is closed
     */
    public void runForever() {
        if (currentOrNull() != null) {
            throw new IllegalStateException("runForever() cannot be called from a running event loop");
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
        }
    }

    private final Signal wakeSignal = new Signal(this) {
        @Override
        protected void act() {
            // The turn that it causes is all that it is for.
        }
    };

    private void runTurns(@Nullable LoopTask<?> main) {
        normalRoundLeft = 0;
        if (stopping) { // S15: stopped before: one round
            look();
            queueYielded();
            int urgent = ready.urgentSize();
            normalRoundLeft = ready.normalSize();
            if (urgent == 0 && normalRoundLeft == 0) {
                turn(0);
            }
            while (urgent-- > 0 && ready.firstUrgent() != null) {
                turn(0);
            }
        }
        while (main == null || !main.done()) {
            if (stopping && normalRoundLeft <= 0) {
                stopping = false;
                return;
            }
            turn(stopping ? 0 : Long.MAX_VALUE);
            if (stopping && ready.firstNormal() == null) {
                normalRoundLeft = 0;
            }
        }
    }

    /**
     * Lets a host loop (user interface, game, robot frame) drive this one: waits at most {@code atMost} for something to
     * become ready, then runs what is ready, at least one round of it, for at most {@code atMost} and the step in
     * progress. The calling thread is the loop's carrier meanwhile.
     *
     * @param atMost zero or negative: one round of what is ready, without waiting
     * @return whether anything ran
     * @throws IllegalStateException in a task of any loop, on a virtual thread, if the loop runs already or is closed
     */
    public boolean poll(Duration atMost) {
        Objects.requireNonNull(atMost, "atMost");
        if (currentOrNull() != null) {
            throw new IllegalStateException("poll() cannot be called from a running event loop");
        }
        enterRun();
        driven = true;
        if (host != carrier) {
            host = carrier; // its timer slack is set once, which costs as much as many an empty poll, and stays so
            slackBefore = -1;
        }
        try {
            long end = LoopClock.saturatedSum(clock.nanos(), Math.max(0, nanos(atMost)));
            stepsUntilLook = 0;
            lastPoll = now - ioPollInterval;
            boolean ran = turn(end) || turn(0);
            if (ran) {
                while ((normalRoundLeft > 0 || clock.nanos() < end) && turn(0)) {
                    // The turn is all there is to do.
                }
            }
            return ran;
        } finally {
            driven = false;
            leaveRun();
        }
    }

    /**
     * Runs the loop on a daemon thread of its own until {@link #close()} or {@link #stop()}. Any thread; returns once the
     * loop takes tasks.
     *
     * @throws IllegalStateException if the loop runs already or is closed
     */
    public void start() {
        synchronized (runLock) {
            requireOpen();
            if (carrier != null || ownThread != null) {
                throw new IllegalStateException("the event loop runs already");
            }
            Thread t = Thread.ofPlatform().daemon().name(name).unstarted(() -> {
                try {
                    runForever();
                } finally {
                    ownThread = null;
                }
            });
            ownThread = t;
            t.start();
        }
    }

    private <T extends @Nullable Object> T onPlatformThread(Callable<T> work) throws Exception {
        java.util.concurrent.FutureTask<T> f = new java.util.concurrent.FutureTask<>(work);
        Thread.ofPlatform().name(name).start(f);
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

    private void enterRun() {
        Thread me = Thread.currentThread();
        if (me.isVirtual()) {
            throw new IllegalStateException("a virtual thread cannot carry an event loop");
        }
        StartUp.await();
        synchronized (runLock) {
            requireOpen();
            if (carrier != null) {
                throw new IllegalStateException("the event loop runs already, on " + carrier);
            }
            carrier = me;
        }
        prepareRun();
    }

    private void prepareRun() {
        if (!clock.isVirtual() && Thread.currentThread() != host) {
            slackBefore = LoopThread.timerSlack();
            if (slackBefore > threadSettings.timerSlack()) {
                slackBefore = LoopThread.setTimerSlack(threadSettings.timerSlack()) ? slackBefore : -1; // S10
            }
        }
        stepsUntilLook = 0;
        now = clock.nanos();
        normalWaitsSince = -1;
        takeIn(); // S2: what was posted before the run became ready before it
    }

    /** Asks the system for what the builder was told about the thread; a thread that only polls is left as it is. */
    private void tune() {
        String refused = threadSettings.apply();
        if (refused != null) {
            report(new LoopError("the thread of " + name + " runs as any other: " + refused, null, null));
        }
    }

    private void leaveRun() {
        if (lookAtTicks) { // nobody would take them
            lookAtTicks = false;
            ticks.ring(lookAtNextTurn, false);
        }
        threadSettings.restore();
        if (slackBefore > threadSettings.timerSlack()) {
            LoopThread.setTimerSlack(slackBefore); // the thread was only lent to us
            slackBefore = -1;
        }
        synchronized (runLock) {
            carrier = null;
            runLock.notifyAll();
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
            endTasks();
        } finally {
            closed = true;
            inbox.close();
            batch.close();
            for (Task<?> t : tasks()) {
                ((LoopTask<?>) t).abandonAtClose();
            }
            runRemainingCallbacks();
            closeSources();
            announceClose();
            while (idleRunners != null) {
                Runner r = idleRunners;
                idleRunners = r.nextIdle;
                r.dismiss();
            }
            sleeper.close();
            leaveRun();
        }
        exitIfInterrupted();
    }

    private final ConcurrentLinkedQueue<Runnable> atClose = new ConcurrentLinkedQueue<>();

    /**
     * Has {@code r} called once when the loop has been closed, and nothing that is posted to it runs any more: as a
     * callback, or, if the loop is closed already, at once. Any thread; does not wait.
     */
    public void onClose(Runnable r) {
        atClose.add(Objects.requireNonNull(r, "r"));
        if (closed && atClose.remove(r)) {
            r.run();
        }
    }

    /** Takes back {@link #onClose}; no effect if it was not asked for. Any thread. */
    public void withdrawOnClose(Runnable r) {
        atClose.remove(r);
    }

    private final ConcurrentHashMap<Class<?>, Object> attachments = new ConcurrentHashMap<>();

    /**
     * The one object of a class that belongs to this loop, made when it is first asked for; the loop keeps it for as long as
     * it lives itself. {@link LoopLocal} is the faster way for those who are on the loop. Any thread.
     */
    public <T> T attachment(Class<T> type, Function<? super EventLoop, ? extends T> initial) {
        return type.cast(attachments.computeIfAbsent(type, t -> initial.apply(this)));
    }

    private void announceClose() {
        for (Runnable r = atClose.poll(); r != null; r = atClose.poll()) {
            new Handle(this, r, Priority.NORMAL).runStep();
            runRemainingCallbacks();
        }
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

    private void endTasks() {
        takeIn();
        for (Task<?> t : tasks()) {
            ((LoopTask<?>) t).cancelOnLoop("the end of the event loop");
        }
        long end = LoopClock.saturatedSum(System.nanoTime() & Long.MAX_VALUE, shutdownTimeout);
        long endOnClock = LoopClock.saturatedSum(clock.nanos(), shutdownTimeout);
        while (firstTask != null && (System.nanoTime() & Long.MAX_VALUE) < end && clock.nanos() < endOnClock) {
            turn(endOnClock);
        }
        end = Math.min(end, (System.nanoTime() & Long.MAX_VALUE) + Offload.GRACE.toNanos());
        while (!strays.isEmpty() && (System.nanoTime() & Long.MAX_VALUE) < end) {
            turn(LoopClock.saturatedSum(clock.nanos(), CLOSING_SLICE));
        }
        for (Offload<?> stray : strays) {
            soon(stray::reportIfBusy); // S11
        }
        for (Task<?> t : tasks()) {
            report(new LoopError(
                    t.name() + " did not end within " + Duration.ofNanos(shutdownTimeout) + " of its cancel ("
                            + ((LoopTask<?>) t).doing() + "): abandoned",
                    null,
                    t));
        }
        // Reports of failures come one round later (G3), those of callbacks one more.
        for (int rounds = 0; rounds < 3; rounds++) {
            runRemainingCallbacks();
        }
    }

    /** Runs what callbacks are ready, for one round: what was accepted before the close runs (S13). */
    private void runRemainingCallbacks() {
        for (int n = ready.normalSize() + ready.urgentSize() + ready.lowSize() + ready.betweenSize(); n > 0; n--) {
            Entry e = ready.firstBetween();
            if (e == null) {
                e = ready.firstUrgent();
            }
            if (e == null) {
                e = ready.firstNormal();
            }
            if (e == null) {
                e = ready.firstLow();
            }
            if (e == null) {
                return;
            }
            ready.remove(e);
            if (e instanceof Handle || e instanceof Runner) {
                e.runStep();
            }
        }
    }

    /** Streams left open are closed with their loop (S11); on a runner, since closing may run foreign code. */
    private void closeSources() {
        if (locals.length > 0) {
            new Handle(this, this::closeLocals, Priority.NORMAL).runStep();
            runRemainingCallbacks();
        }
        if (watches != null) {
            new Handle(
                            this,
                            () -> {
                                while (watches != null) {
                                    if (debug) {
                                        report(new LoopError(
                                                watches + " was left open at the end of the event loop", null, null));
                                    }
                                    watches.closeWithLoop();
                                }
                            },
                            Priority.NORMAL)
                    .runStep();
            runRemainingCallbacks();
        }
    }

    private void closeLocals() {
        for (Object value : locals) {
            if (value instanceof AutoCloseable c) {
                try {
                    c.close();
                } catch (Exception e) {
                    report(new LoopError("closing " + value + " with the event loop failed", e, null));
                }
            }
        }
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
        return Duration.ofNanos(maxOverdue);
    }

    /** Sets {@link #maxOverdue()}. Any thread. */
    public void maxOverdue(Duration d) {
        if (d.isNegative()) {
            throw new IllegalArgumentException("maxOverdue must not be negative: " + d);
        }
        maxOverdue = nanos(d);
    }

    /** What the loop does while nothing is ready (S10). Any thread. */
    public IdleStrategy idleStrategy() {
        return idleStrategy;
    }

    /** Changes {@link #idleStrategy()}, also while the loop runs. Any thread. */
    public void idleStrategy(IdleStrategy s) {
        idleStrategy = Objects.requireNonNull(s, "s");
        if (!closed) {
            wakeSignal.raise();
        }
    }

    /** What happened in this loop so far. Any thread; costs the loop nothing. */
    public LoopCounters counters() {
        return Counts.of(this);
    }

    /** Apart, so that a program that counts nothing links nothing. */
    private static final class Counts {
        private static final VarHandle STEPS = field(EventLoop.class, "steps");
        private static final VarHandle EMPTY_TURNS = field(EventLoop.class, "emptyTurns");
        private static final VarHandle COALESCED = field(EventLoop.class, "coalesced");
        private static final VarHandle SLEEPS = field(Sleeper.class, "sleeps");
        private static final VarHandle WAKES = field(Sleeper.class, "wakes");
        private static final VarHandle POLLS = field(Sleeper.class, "polls");

        private static VarHandle field(Class<?> owner, String name) {
            try {
                return MethodHandles.lookup().findVarHandle(owner, name, long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        static LoopCounters of(EventLoop loop) {
            return new LoopCounters(
                    (long) STEPS.getOpaque(loop),
                    (long) SLEEPS.getOpaque(loop.sleeper),
                    (long) WAKES.getOpaque(loop.sleeper),
                    (long) EMPTY_TURNS.getOpaque(loop),
                    (long) POLLS.getOpaque(loop.sleeper),
                    (long) COALESCED.getOpaque(loop));
        }
    }

    /** Whether all streams of this loop are URGENT ({@code ioq_len} of fast_io). Any thread. */
    public boolean ioFirst() {
        return ioFirst;
    }

    /** The loop's name. Any thread. */
    public String name() {
        return name;
    }

    /** In debug mode: what belongs to the loop is touched on the loop only (S13). */
    void checkOwner(Object what) {
        if (debug && !isCurrent()) {
            throw new IllegalStateException(
                    what + " belongs to " + this + " and is touched by " + Thread.currentThread());
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
                + taskCount + " tasks, " + sleeper + "]";
    }

    /** Which poller a loop finds readiness with. */
    public enum PollerKind {
        /** Epoll on Linux where the JVM's flags allow it, else the selector. The default. */
        AUTO,
        /** Epoll, or an error that says why not. */
        EPOLL,
        /** The portable NIO selector. */
        SELECTOR
    }

    /** Settings of a loop to be built. Not thread-safe. */
    public static final class Builder {
        private String name = "fastio-loop";
        private boolean ioFirst;
        private Duration maxOverdue = Duration.ZERO;
        private Duration urgentBudget = Duration.ofMillis(10);
        private Duration ioPollInterval = Duration.ofNanos(20_000);
        private Duration devicePollInterval = Duration.ofMillis(1);
        private Duration tick = Duration.ofMillis(1);
        private Duration shutdownTimeout = Duration.ofSeconds(10);
        private IdleStrategy idle = IdleStrategy.BLOCK;
        private @Nullable LoopClock clock;
        private PollerKind poller = PollerKind.AUTO;
        private final ThreadSettings threadSettings = new ThreadSettings();
        private boolean debug;
        private boolean handleInterrupt;
        private @Nullable Consumer<? super LoopError> exceptionHandler;

        private Builder() {}

        /** Name of the loop and of its own thread. Default {@code fastio-loop}. */
        public Builder name(String loopName) {
            this.name = Objects.requireNonNull(loopName, "loopName");
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
            settings.accept(threadSettings);
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
            if (Objects.requireNonNull(d, "duration").isNegative()) {
                throw new IllegalArgumentException("must not be negative: " + d);
            }
            return d;
        }
    }
}
