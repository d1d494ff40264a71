package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** A thread that begins to {@code get} a task just as that ends does not wait on. */
@JCStressTest
@Outcome(id = "value", expect = ACCEPTABLE, desc = "It got the value.")
@Outcome(expect = FORBIDDEN, desc = "It waited although the task had ended.")
@Twin(of = "LoopTask", in = "awaitOutside", lacks = "done", which = 1, guard = Twin.Guard.CALL)
@Twin(of = "LoopTask", in = "ended", lacks = "countDown", guard = Twin.Guard.CALL)
@State
public class FutureGetCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile @Nullable Task<String> ending;

    @Actor
    public void loop() {
        OnLoop.run(() -> {
            Task<String> task = Asyncio.createTask(() -> "value");
            ending = task;
            meeting.loop();
            return task.await();
        });
    }

    @Actor
    public void other(L_Result r) {
        meeting.other();
        r.r1 = Meeting.isLost() ? OnLoop.LOST : get();
    }

    private String get() {
        Task<String> task = ending;
        long end = System.nanoTime() + OnLoop.LIMIT.toNanos();
        try {
            String value = task == null ? OnLoop.LOST : task.get(OnLoop.LIMIT.toNanos(), TimeUnit.NANOSECONDS);
            if (System.nanoTime() < end) { // else it was found at the end of the limit, not woken
                return value;
            }
        } catch (TimeoutException tooLate) {
            // as below
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Meeting.lose();
        return OnLoop.LOST;
    }
}
