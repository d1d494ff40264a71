package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Y3: of two threads that say that the only item is done, one is told that it is too often. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first was right.")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second was right.")
@Outcome(expect = FORBIDDEN, desc = "Both were right, or none.")
@Twin(of = "AsyncQueue", in = "taskDone", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class QueueTaskDoneCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final AsyncQueue<Integer> queue = new AsyncQueue<>();

    public QueueTaskDoneCase() {
        OnLoop.run(() -> {
            queue.put(1);
            queue.get();
            return "";
        });
    }

    @Actor
    public void one(ZZ_Result r) {
        r.r1 = done();
    }

    @Actor
    public void another(ZZ_Result r) {
        r.r2 = done();
    }

    private boolean done() {
        try {
            queue.taskDone();
            return true;
        } catch (IllegalStateException tooOften) {
            return false;
        }
    }
}
