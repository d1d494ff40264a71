package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LI_Result;

/** S13: a callback that races with the end of the loop runs, or is refused. */
@JCStressTest
@Outcome(id = "accepted, 1", expect = ACCEPTABLE, desc = "In before the end: it ran.")
@Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "The loop was closed.")
@Outcome(expect = FORBIDDEN, desc = "Accepted and never run, or refused and run.")
@Twin(of = "Inbox", in = "close", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class CallSoonAgainstCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Closing closing = new Closing();
    private volatile int ran;

    @Actor
    public void loop() {
        closing.close();
    }

    @Actor
    public void other(LI_Result r) {
        EventLoop loop = closing.meet();
        if (loop == null) {
            r.r1 = OnLoop.LOST;
            return;
        }
        try {
            loop.callSoon(() -> ran = 1);
            r.r1 = "accepted";
        } catch (IllegalStateException closed) {
            r.r1 = "refused";
        }
    }

    @Arbiter
    public void end(LI_Result r) {
        r.r2 = ran;
    }
}
