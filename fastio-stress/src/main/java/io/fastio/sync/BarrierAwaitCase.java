package io.fastio.sync;

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

/** Y3: a thread that arrives while a task does lets it go on. */
@JCStressTest
@Outcome(id = "complete", expect = ACCEPTABLE, desc = "Both are there.")
@Outcome(expect = FORBIDDEN, desc = "The task waits on.")
@Twin(of = "Barrier", in = "arrive", lacks = "ring", guard = Twin.Guard.CALL)
@Twin(of = "Barrier", in = "settle", lacks = "getAndSet", guard = Twin.Guard.CALL)
@State
public class BarrierAwaitCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Barrier barrier = new Barrier(2);

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            return barrier.awaitWithin(OnLoop.LIMIT) ? "complete" : OnLoop.LOST;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        barrier.arrive();
    }
}
