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
import org.openjdk.jcstress.infra.results.I_Result;

/** Y3: what two threads put at the same time is both in. */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "Two items.")
@Outcome(expect = FORBIDDEN, desc = "An item was lost.")
@Twin(of = "AsyncQueue", in = "putNowait", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class QueuePutsCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final AsyncQueue<Integer> queue = new AsyncQueue<>();

    @Actor
    public void one() {
        queue.putNowait(1);
    }

    @Actor
    public void another() {
        queue.putNowait(2);
    }

    @Arbiter
    public void end(I_Result r) {
        r.r1 = queue.size();
    }
}
