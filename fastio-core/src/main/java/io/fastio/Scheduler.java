package io.fastio;

import io.fastio.time.LoopClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Who runs next: section S of the semantics. {@link #turn} is the whole of it: look at what came (the inbox, due timers,
 * readiness), choose the entry to serve, run one step of it; with nothing to run, rest. Below it stand the parts of a
 * turn, in that order, and then what makes entries ready.
 *
 * <p>Loop only: the carrier between two steps, or what runs in a step. What other threads want comes through the inboxes.
 */
final class Scheduler {
    /** A timer this near (nanoseconds) is looked for before every step. */
    static final long NEAR = 20_000;

    /** Time between two looks at readiness that can wake nobody but NORMAL tasks, while others of them run (nanoseconds). */
    private static final long NORMAL_POLL_INTERVAL = 200_000;

    private final EventLoop loop;
    private final LoopClock clock;
    private final long urgentBudget;
    private final long ioPollInterval;
    private volatile long maxOverdue;

    // ---- what is ready, and what will be
    final ReadyQueues ready = new ReadyQueues();
    final TimerQueue timers = new TimerQueue();
    final Inbox inbox = new Inbox();

    /** What sources that do not wake have posted (W2): looked at with the inbox, before a sleep, and at ticks. */
    final Inbox batch = new Inbox();

    private @Nullable Suspendable yielded;
    private @Nullable Suspendable checkpointed;

    // ---- when to look, and at what
    private final Pace pace;
    private final Sleeper sleeper;
    private final Pollings pollings;
    private final Idle idle;
    private long now;
    private long lastPoll;

    /** {@link #now} was read a moment ago, and the timers due by then are ready. */
    private boolean fresh;

    /** S14: the last look of a turn, and how many steps had been run then. */
    private long lastLook;

    private long stepsAtLook = -1;

    // ---- rules that look back
    private int normalRoundLeft;

    /** Counts down from the number of those that were ready when it was last set (S15). */
    private int urgentRoundLeft;

    private boolean lowServedThisRound;

    /** Background work ran last: before it comes again, something else has its step. */
    private boolean betweenServed;

    private long normalWaitsSince = -1;

    /** For {@link LoopCounters}; read by other threads as it is. */
    @SuppressWarnings("UnusedVariable") // by Counts
    private long steps;

    Scheduler(EventLoop loop, EventLoop.Builder b, LoopClock clock, Ticks ticks) {
        this.loop = loop;
        this.clock = clock;
        this.urgentBudget = EventLoop.nanos(b.urgentBudget);
        this.ioPollInterval = EventLoop.nanos(b.ioPollInterval);
        this.maxOverdue = EventLoop.nanos(b.maxOverdue);
        this.pace = new Pace(loop, ticks, clock.isVirtual());
        this.sleeper = new Sleeper(inbox, b.poller.kind);
        this.pollings = new Pollings(loop, this, clock, EventLoop.nanos(b.devicePollInterval));
        this.idle = new Idle(loop, this, clock, b.idle);
    }

    // =========================================================== the turn

    /**
     * One turn: section S. Looks at what has come, then runs one step of the most urgent entry, or rests until {@code
     * wakeAt} at the latest.
     *
     * @return whether a step was run
     */
    boolean turn(long wakeAt) {
        look();
        queueYielded();
        Entry next = choose();
        if (next == null) {
            idle.rest(wakeAt); // S10
            return false;
        }
        idle.over();
        take(next);
        next.runStep();
        return true;
    }

    /** Takes in what came from outside, at once; timers and readiness as often as S8 says. */
    private void look() {
        if (!inbox.isEmpty()) {
            takeIn(); // W1
        }
        if (pace.isTimeToLook() && needsClock()) {
            lookAtClock();
        }
    }

    void takeIn() {
        if (!timers.isEmpty()) {
            refresh(); // S2: what is due goes before what is taken in
        }
        fresh = true;
        try {
            inbox.drain();
            if (!batch.isEmpty()) {
                batch.drain(); // W2
            }
        } finally {
            fresh = false;
        }
    }

    private void refresh() {
        now = clock.nanos();
        if (timers.nextDue() <= now) {
            expire();
        }
    }

    /** Whether anything depends on the time: without it a switch costs no look at the clock. */
    private boolean needsClock() {
        return !timers.isEmpty()
                || sleeper.isWatching()
                || pollings.areUrgent()
                || normalWaitsSince >= 0 // S7; the URGENT one may just have yielded and stand in no queue
                || ready.firstLow() != null
                || clock.isVirtual();
    }

    private void lookAtClock() {
        long before = lastLook;
        refresh();
        lastLook = now;
        stepsAtLook = steps;
        if (sleeper.isWatching() && now - lastPoll >= timeBetweenPolls()) {
            lastPoll = now;
            fresh = true;
            try {
                sleeper.look(); // S8
            } finally {
                fresh = false;
            }
        }
        pollings.askUrgentEvery(ioPollInterval, now); // I8
        pace.looked(now - before, timers.nextDue() - now);
    }

    /**
     * S8: where readiness can only queue up behind NORMAL steps that are ready already, it is asked for seldom, and comes
     * in greater numbers at a time.
     */
    private long timeBetweenPolls() {
        return sleeper.isWatchingUrgently() || ready.firstNormal() == null
                ? ioPollInterval
                : Math.max(ioPollInterval, NORMAL_POLL_INTERVAL);
    }

    /** Makes ready what is due, by its due time (S2). */
    private void expire() {
        fresh = true;
        try {
            while (timers.nextDue() <= now) {
                Timed t = timers.first();
                timers.remove(t);
                t.timeReached();
            }
        } finally {
            fresh = false;
        }
    }

    /** A task that yielded becomes ready behind the timers that fell due during its step (S2). */
    private void queueYielded() {
        Suspendable y = yielded;
        if (y != null) {
            yielded = null;
            if (y.isYielding()) {
                enqueue(y, y.yieldClass(), -1);
            }
        }
        Suspendable c = checkpointed;
        if (c != null && c.phase == Fiber.WAITING) {
            checkpointed = null;
            if (c.wakesItself()) {
                ready.addFirst(c, c.yieldClass()); // B4: keeps its place
            }
        }
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

    /** Takes an entry that is about to have its step out of its queue, and counts rounds. */
    private void take(Entry e) {
        steps++;
        betweenServed = e.readyIn == ReadyQueues.BETWEEN;
        if (e.readyIn == ReadyQueues.NORMAL) {
            if (normalRoundLeft <= 0) {
                pollings.askOncePerRound(e); // I8
                normalRoundLeft = ready.normalSize();
                lowServedThisRound = false;
            }
            normalRoundLeft = Math.min(normalRoundLeft, ready.normalSize()) - 1; // some may have been cancelled
            normalWaitsSince = -1;
        } else if (e.readyIn == ReadyQueues.LOW) {
            lowServedThisRound = true;
        } else {
            urgentRoundLeft--;
        }
        ready.remove(e);
    }

    // =========================================================== parts of a turn, for those who run in a step

    /**
     * Whether a yield of the running task would only come back to it: nothing else is ready, after a look at all that may
     * have come. Never while somebody waits for the step to be over, nor while devices are asked once a round (I8).
     */
    boolean isNothingElseReady() {
        if (pollings.areNormal() || loop.isStepAwaited() || !ready.isEmpty()) {
            return false;
        }
        look();
        return ready.isEmpty();
    }

    /** B4: whether something is ready that goes before class {@code c}; looks as often as S8 says. */
    boolean isDueBefore(byte c) {
        look();
        return ready.firstBetween() != null
                || ready.firstUrgent() != null && c > ReadyQueues.URGENT
                || ready.firstNormal() != null && c > ReadyQueues.NORMAL;
    }

    /**
     * The next callback, if the step to run next is one: the same turn as the carrier's, but for resting and looking at
     * readiness, which are left to it. On a runner.
     */
    @Nullable
    Handle nextNeighbour() {
        if (loop.isStepAwaited() || !inbox.isEmpty() || pace.isTimeToLook() && needsClock()) {
            return null;
        }
        if (choose() instanceof Handle h) {
            take(h);
            return h;
        }
        return null;
    }

    /** S14: when the step in progress began, at the latest, for somebody in it who finds it to be {@code atPresent}. */
    long stepBegan(long atPresent) {
        return stepsAtLook == steps - 1 ? lastLook : atPresent;
    }

    /** S14: whether steps are so long that a look at the clock costs next to nothing. */
    boolean areStepsLong() {
        return pace.areStepsLong();
    }

    // =========================================================== rounds

    /** A run begins: its first turn looks at everything. */
    void beginRun() {
        pace.lookNext();
        now = clock.nanos();
        normalWaitsSince = -1;
        takeIn(); // S2: what was posted before the run became ready before it
    }

    /** No run follows for now: tasks of other loops that await what ended in the last step are told (see Visitor). */
    void endRun() {
        if (!inbox.isEmpty()) {
            takeIn();
        }
        pace.rest();
    }

    /** The next turn looks at readiness, however short ago it did. */
    void lookAtAllNext() {
        pace.lookNext();
        lastPoll = now - Math.max(ioPollInterval, NORMAL_POLL_INTERVAL);
    }

    /** The round of the NORMAL ones that is in progress counts no more: the next step of one begins another. */
    void forgetRound() {
        normalRoundLeft = 0;
    }

    /** S15: a run that was stopped before it began has one round: of all that is ready now. */
    void beginOnlyRound() {
        look();
        queueYielded();
        normalRoundLeft = ready.normalSize();
        urgentRoundLeft = ready.urgentSize();
        if (urgentRoundLeft == 0 && normalRoundLeft == 0) {
            turn(0); // a LOW one, if there is one
        }
    }

    /** S15: the rounds in progress are the last ones: of the URGENT entries that are ready now, and of the NORMAL ones. */
    void beginLastRound() {
        urgentRoundLeft = ready.urgentSize();
    }

    /**
     * S15: whether all entries of the last rounds had their steps, or are to have none: where URGENT work has no budget (S7)
     * and never ends, the NORMAL ones would not get there.
     */
    boolean isLastRoundOver() {
        boolean urgentOver = urgentRoundLeft <= 0;
        if (urgentOver && urgentBudget == 0 && ready.firstUrgent() != null) {
            return true;
        }
        return (urgentOver || ready.firstUrgent() == null) && (normalRoundLeft <= 0 || ready.firstNormal() == null);
    }

    /** Whether NORMAL entries of the round in progress have yet to run. */
    boolean isInRound() {
        return normalRoundLeft > 0;
    }

    // =========================================================== what becomes ready

    /** Makes an entry ready now. */
    void ready(Entry e, byte c) {
        if (!timers.isEmpty() && !fresh) {
            refresh(); // S2: they became ready before
        }
        enqueue(e, c, -1);
    }

    /** Makes an entry ready that became so at {@code since}, or, if that is negative, now, whatever timers are due. */
    void enqueue(Entry e, byte c, long since) {
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

    /** The running task gives way: it becomes ready when its step is over. */
    void yielded(Suspendable t) {
        yielded = t;
    }

    /** The running task gives way to what is more urgent, and goes on first (B4). */
    void checkpointed(Suspendable t) {
        checkpointed = t;
    }

    /** Sets the timer of {@code t}, in place of the one it has; {@link Long#MAX_VALUE} is none. */
    void setTimer(Timed t, long due) {
        cancelTimer(t);
        if (due != Long.MAX_VALUE) {
            t.due = due;
            timers.add(t);
            if (due - now < NEAR) {
                pace.lookNext();
            }
        }
    }

    void cancelTimer(Timed t) {
        if (t.slot >= 0) {
            timers.remove(t);
        }
    }

    /** The loop has slept, and thereby looked at readiness. */
    void slept() {
        lastPoll = clock.nanos();
    }

    // =========================================================== its parts

    Pace pace() {
        return pace;
    }

    Sleeper sleeper() {
        return sleeper;
    }

    Pollings pollings() {
        return pollings;
    }

    Idle idle() {
        return idle;
    }

    /** S5. Any thread. */
    Duration maxOverdue() {
        return Duration.ofNanos(maxOverdue);
    }

    /** S5. Any thread. */
    void maxOverdue(Duration d) {
        maxOverdue = EventLoop.nanos(d);
    }
}
