package io.fastio.benchmarks.subject;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import kotlin.KotlinVersion;
import kotlin.ResultKt;
import kotlin.Unit;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlin.coroutines.intrinsics.IntrinsicsKt;
import kotlin.coroutines.jvm.internal.SuspendLambda;
import kotlin.jvm.functions.Function2;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineScope;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.DelayKt;
import kotlinx.coroutines.ExecutorsKt;
import kotlinx.coroutines.JobKt;
import kotlinx.coroutines.YieldKt;
import kotlinx.coroutines.sync.Semaphore;
import kotlinx.coroutines.sync.SemaphoreKt;
import org.jspecify.annotations.Nullable;

/**
 * Kotlin coroutines, in {@code runBlocking}'s own event loop or on a single-thread dispatcher. The suspending bodies are
 * written out as the state machines that Kotlin's compiler makes of them, so that this module needs no second compiler.
 */
final class KotlinCoroutines implements Subject.Rate, Subject.Timing, Subject.Wake, Subject.Sleepers, Subject.Memory {
    private static final Object SUSPENDED = IntrinsicsKt.getCOROUTINE_SUSPENDED();
    private static final long HOUR_MILLIS = 3_600_000;

    private final boolean ownThread;
    private final CoroutineContext context;

    KotlinCoroutines(boolean ownThread) {
        this.ownThread = ownThread;
        if (ownThread) {
            ExecutorService executor = Executors.newSingleThreadExecutor();
            context = ExecutorsKt.from(executor);
        } else {
            context = EmptyCoroutineContext.INSTANCE;
        }
    }

    @Override
    public String config() {
        return "kotlinx.coroutines on Kotlin " + KotlinVersion.CURRENT
                + (ownThread ? ", single-thread executor as dispatcher" : ", runBlocking");
    }

    /** What a coroutine does between two suspensions. */
    private interface Step {
        /** Ends in a suspending call with {@code self}, whose result it returns; null ends the coroutine. */
        @Nullable
        Object next(Continuation<Object> self);
    }

    /** A suspend lambda that repeats one step, in the shape that the compiler gives to {@code while (…) step()}. */
    @SuppressWarnings("serial") // coroutines of a benchmark are never serialised
    private static final class Loop extends SuspendLambda
            implements Function2<CoroutineScope, Continuation<? super Unit>, Object> {
        private final Step step;

        Loop(Step step, @Nullable Continuation<Object> completion) {
            super(2, completion);
            this.step = step;
        }

        @Override
        @SuppressWarnings("unchecked")
        public Continuation<Unit> create(@Nullable Object scope, Continuation<?> completion) {
            return (Continuation<Unit>) (Continuation<?>) new Loop(step, (Continuation<Object>) completion);
        }

        @Override
        public Object invoke(CoroutineScope scope, Continuation<? super Unit> completion) {
            return ((Loop) (Continuation<?>) create(scope, completion)).invokeSuspend(Unit.INSTANCE);
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a marker object, compared as the compiler does
        protected Object invokeSuspend(Object result) {
            ResultKt.throwOnFailure(result);
            while (true) {
                Object outcome = step.next(this);
                if (outcome == null) {
                    return Unit.INSTANCE;
                }
                if (outcome == SUSPENDED) {
                    return outcome;
                }
            }
        }
    }

    private interface Main {
        /** Launches the coroutines; {@code run} returns when all of them have ended. */
        void launchAll(CoroutineScope scope);
    }

    private void run(Main main) throws InterruptedException {
        var _ = BuildersKt.runBlocking(context, (scope, completion) -> {
            main.launchAll(scope);
            return Unit.INSTANCE;
        });
    }

    private static void launch(CoroutineScope scope, Step step) {
        var _ = BuildersKt.launch(scope, EmptyCoroutineContext.INSTANCE, CoroutineStart.DEFAULT, new Loop(step, null));
    }

    @Override
    public Reading rate(int tasks, long millis) throws InterruptedException {
        Lap lap = new Lap(tasks, millis, Lap.bytesOfAll());
        run(scope -> {
            for (int i = 0; i < tasks; i++) {
                boolean first = i == 0;
                BooleanSupplier more = first ? lap::more : lap::running;
                launch(scope, self -> more.getAsBoolean() ? YieldKt.yield(self) : null);
            }
        });
        return lap.reading();
    }

    @Override
    public Reading timing(long millis) throws InterruptedException {
        Hogs hogs = new Hogs(millis);
        run(scope -> {
            for (int i = 0; i < Hogs.TIMERS; i++) {
                long[] start = {0};
                launch(scope, self -> {
                    if (start[0] != 0) {
                        hogs.fired(start[0]);
                    }
                    start[0] = System.nanoTime();
                    return hogs.running() ? DelayKt.delay(Hogs.TIMER_MILLIS, self) : null;
                });
            }
            for (int i = 0; i < Hogs.COUNT; i++) {
                launch(scope, self -> {
                    Hogs.block(Hogs.STEP_NANOS);
                    return hogs.running() ? YieldKt.yield(self) : null;
                });
            }
        });
        return hogs.reading();
    }

    @Override
    public Reading wake(int count) throws InterruptedException {
        Alarm alarm = new Alarm(count);
        Semaphore flag = SemaphoreKt.Semaphore(1, 1);
        Thread waker = Thread.ofPlatform().start(() -> alarm.ring(flag::release));
        boolean[] waited = {false};
        run(scope -> launch(scope, self -> {
            if (waited[0] && !alarm.awake()) {
                return null;
            }
            waited[0] = true;
            return flag.acquire(self);
        }));
        waker.join();
        return alarm.reading();
    }

    @Override
    public Reading sleepers(int tasks) throws InterruptedException {
        Naps naps = new Naps();
        run(scope -> {
            for (int i = 0; i < tasks; i++) {
                launch(scope, new Nap(naps));
            }
        });
        return naps.reading();
    }

    private static final class Nap implements Step {
        private final Naps naps;
        private int count;
        private int millis;
        private long start;

        Nap(Naps naps) {
            this.naps = naps;
        }

        @Override
        public @Nullable Object next(Continuation<Object> self) {
            if (count > 0) {
                naps.slept(start, millis);
            }
            if (count++ == Naps.PER_TASK) {
                return null;
            }
            millis = naps.nextMillis();
            start = System.nanoTime();
            return DelayKt.delay(millis, self);
        }
    }

    @Override
    public Reading memory(int tasks) throws InterruptedException {
        long before = Heap.liveBytes();
        double[] bytes = {0};
        run(scope -> {
            for (int i = 0; i < tasks; i++) {
                launch(scope, self -> DelayKt.delay(HOUR_MILLIS, self));
            }
            boolean[] waited = {false};
            launch(scope, self -> {
                if (!waited[0]) {
                    waited[0] = true;
                    return DelayKt.delay(500, self);
                }
                bytes[0] = Heap.liveBytes() - before;
                JobKt.cancelChildren(scope.getCoroutineContext(), null);
                return null;
            });
        });
        return Reading.of("bytes", bytes[0] / tasks);
    }
}
