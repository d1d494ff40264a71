package io.fastio;

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

/** Of what other threads ask of a handle the latest counts: scheduled, cancelled, scheduled again, it runs. */
@JCStressTest
@Outcome(id = "ran", expect = ACCEPTABLE, desc = "It ran after the last request.")
@Outcome(expect = FORBIDDEN, desc = "The last request was lost.")
@Twin(of = "Handle", in = "overrule", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class HandleAgainCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile boolean asked;
    private volatile boolean ranSince;
    private final Handle handle = OnLoop.LOOP.handle(Priority.NORMAL, () -> ranSince = asked || ranSince);

    @Actor
    public void loop(L_Result r) {
        meeting.loop();
        r.r1 = Meeting.comesTrue(() -> OnLoop.poll() && ranSince) ? "ran" : OnLoop.LOST;
    }

    @Actor
    public void other() {
        meeting.other();
        handle.callSoon();
        Meeting.jitter();
        handle.cancel();
        asked = true;
        handle.callSoon();
    }
}
