package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IL_Result;

/** Y4: of what two threads put into a full ring the ring keeps the last, and counts each other one as lost once. */
@JCStressTest
@Outcome(id = "1, 2 lost", expect = ACCEPTABLE, desc = "One is in, two were dropped.")
@Outcome(expect = FORBIDDEN, desc = "An item was dropped twice, or is neither in nor lost.")
@Twin(of = "RingQueue", in = "offer", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class RingDropCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final RingQueue<Integer> ring = new RingQueue<>(1, RingQueue.WhenFull.DROP_OLDEST);

    public RingDropCase() {
        ring.put(0);
    }

    @Actor
    public void one() {
        ring.put(1);
    }

    @Actor
    public void another() {
        ring.put(2);
    }

    @Arbiter
    public void end(IL_Result r) {
        r.r1 = ring.size();
        r.r2 = ring.lost() + " lost";
    }
}
