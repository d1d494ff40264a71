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

/** W3: a worker that is set pending while it begins to run runs once more. */
@JCStressTest
@Outcome(id = "seen", expect = ACCEPTABLE, desc = "Its last run saw what was written before the last request.")
@Outcome(expect = FORBIDDEN, desc = "The last request was lost.")
@Twin(of = "AsyncContext", in = "bringUp", lacks = "raise", guard = Twin.Guard.CALL)
@Twin(of = "AsyncContext", in = "bringUp", lacks = "marked", guard = Twin.Guard.WRITE)
@State
public class SetWorkPendingCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final AsyncContext CONTEXT = AsyncContext.on(OnLoop.LOOP);

    private final Meeting meeting = new Meeting();
    private volatile int written;
    private volatile int seen;
    private final WhenPendingWorker worker = new WhenPendingWorker(() -> seen = written);

    @Actor
    public void loop(L_Result r) {
        CONTEXT.addWhenPendingWorker(worker);
        meeting.loop();
        r.r1 = Meeting.comesTrue(() -> OnLoop.poll() && seen == 2) ? "seen" : OnLoop.LOST;
        CONTEXT.removeWhenPendingWorker(worker);
    }

    @Actor
    public void other() {
        meeting.other();
        written = 1;
        CONTEXT.setWorkPending(worker);
        Meeting.jitter();
        written = 2;
        CONTEXT.setWorkPending(worker);
    }
}
