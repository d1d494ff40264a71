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

/** S13: a task that is made while the loop ends has an end too, or is refused. */
@JCStressTest
@Outcome(id = "ended", expect = ACCEPTABLE, desc = "It ran, or was cancelled.")
@Outcome(id = "refused", expect = ACCEPTABLE, desc = "The loop was closed.")
@Outcome(expect = FORBIDDEN, desc = "The task never ends.")
@Twin(of = "LoopTask", in = "deliver", lacks = "arrive", guard = Twin.Guard.CALL)
@State
public class CreateTaskAgainstCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Closing closing = new Closing();

    @Actor
    public void loop() {
        closing.close();
    }

    @Actor
    public void other(L_Result r) {
        EventLoop loop = closing.meet();
        if (loop == null || Meeting.isLost()) {
            r.r1 = OnLoop.LOST;
            return;
        }
        try {
            Task<Integer> task = loop.createTask(() -> 1);
            r.r1 = Meeting.comesTrue(task::done) ? "ended" : OnLoop.LOST;
        } catch (IllegalStateException closed) {
            r.r1 = "refused";
        }
    }
}
