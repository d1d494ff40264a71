package io.fastio.context;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** W3: work that was skipped because a thread held the lock is served when it lets go, whatever the moment. */
@JCStressTest
@Outcome(id = "served", expect = ACCEPTABLE, desc = "The worker ran.")
@Outcome(expect = FORBIDDEN, desc = "The work was forgotten.")
@Twin(of = "AsyncContext", in = "serve", lacks = "tryAcquire", which = 2, guard = Twin.Guard.CALL)
@State
public class ContextLockCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final AsyncContext CONTEXT = AsyncContext.on(OnLoop.LOOP);

    private final Meeting meeting = new Meeting();
    private volatile boolean ran;
    private final WhenPendingWorker worker = new WhenPendingWorker(() -> ran = true);

    @Actor
    public void loop(L_Result r) {
        CONTEXT.addWhenPendingWorker(worker);
        meeting.loop();
        CONTEXT.setWorkPending(worker);
        r.r1 = Meeting.comesTrue(() -> OnLoop.poll() && ran) ? "served" : OnLoop.LOST;
        CONTEXT.removeWhenPendingWorker(worker);
    }

    @Actor
    public void other() {
        meeting.other();
        CONTEXT.acquireLock();
        Meeting.jitter();
        CONTEXT.releaseLock();
    }
}
