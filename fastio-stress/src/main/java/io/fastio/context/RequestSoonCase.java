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

/** B2: a background task that is asked for after it began runs once more in the next batch. */
@JCStressTest
@Outcome(id = "seen", expect = ACCEPTABLE, desc = "Its last run saw what was written before the last request.")
@Outcome(expect = FORBIDDEN, desc = "The last request was lost.")
@Twin(of = "BackgroundTasks", in = "runBatch", lacks = "queued", guard = Twin.Guard.WRITE)
@State
public class RequestSoonCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final BackgroundTasks TASKS = BackgroundTasks.of(OnLoop.LOOP);

    private final Meeting meeting = new Meeting();
    private volatile int written;
    private volatile int seen;
    private final BackgroundTasks.Registration task = TASKS.add(() -> seen = written, BackgroundTasks.When.ON_REQUEST);

    @Actor
    public void loop(L_Result r) {
        meeting.loop();
        r.r1 = Meeting.comesTrue(() -> OnLoop.poll() && seen == 2) ? "seen" : OnLoop.LOST;
    }

    @Actor
    public void other() {
        meeting.other();
        written = 1;
        task.requestSoon();
        Meeting.jitter();
        written = 2;
        task.requestSoon();
    }
}
