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

/** W1: the last of the raises that merge is acted upon after it was made. */
@JCStressTest
@Outcome(id = "seen", expect = ACCEPTABLE, desc = "The loop acted on what was written before the last raise.")
@Outcome(expect = FORBIDDEN, desc = "The last raise was lost.")
@Twin(of = "Signal", in = "deliver", lacks = "act", guard = Twin.Guard.ORDER)
@State
public class SignalRaiseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Raised raised = new Raised();
    private final Signal signal = raised.signal();

    @Actor
    public void loop(L_Result r) {
        meeting.loop();
        r.r1 = Meeting.comesTrue(() -> OnLoop.poll() && raised.seen == 2) ? "seen" : OnLoop.LOST;
    }

    @Actor
    public void other() {
        meeting.other();
        raised.written = 1;
        signal.raise();
        Meeting.jitter();
        raised.written = 2;
        signal.raise();
    }
}
