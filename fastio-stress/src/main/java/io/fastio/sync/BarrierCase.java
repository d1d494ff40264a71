package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Y3: of the arrivals of two threads both count. */
@JCStressTest
@Outcome(id = "complete", expect = ACCEPTABLE, desc = "With the third the round is complete.")
@Outcome(expect = FORBIDDEN, desc = "An arrival was lost.")
@Twin(of = "Barrier", in = "arrive", lacks = "getAndAdd", guard = Twin.Guard.ATOMICITY)
@State
public class BarrierCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Barrier barrier = new Barrier(3);

    @Actor
    public void one() {
        barrier.arrive();
    }

    @Actor
    public void another() {
        barrier.arrive();
    }

    @Arbiter
    public void end(L_Result r) {
        r.r1 = OnLoop.run(() -> barrier.awaitWithin(Duration.ZERO) ? "complete" : "incomplete");
    }
}
