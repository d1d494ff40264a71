package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** C1: a cancel that meets the very end of a task has one of two results, and of a task that has ended none. */
@JCStressTest
@Outcome(id = "value, true", expect = ACCEPTABLE, desc = "It was ending.")
@Outcome(id = "cancelled, true", expect = ACCEPTABLE, desc = "The cancel was in time.")
@Outcome(id = "value, false", expect = ACCEPTABLE, desc = "It had ended.")
@Outcome(expect = FORBIDDEN, desc = "A task that had ended was cancelled, or the other way round.")
@Twin(of = "LoopTask", in = "cancel", lacks = "done", guard = Twin.Guard.CALL)
@State
public class TaskEndCancelCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile @Nullable Task<String> ending;

    @Actor
    public void loop(LL_Result r) {
        r.r1 = OnLoop.run(() -> {
            Task<String> task = Asyncio.createTask(() -> {
                Asyncio.yieldNow();
                return "value";
            });
            ending = task;
            meeting.loop();
            try {
                return task.await();
            } catch (CancelledError e) {
                return task.cancelled() ? "cancelled" : "value";
            }
        });
    }

    @Actor
    public void other(LL_Result r) {
        meeting.other();
        Task<String> task = ending;
        if (task == null) {
            r.r2 = OnLoop.LOST;
            return;
        }
        boolean ended = task.done();
        boolean took = task.cancel();
        r.r2 = ended && took ? "too late, and true" : String.valueOf(took);
    }
}
