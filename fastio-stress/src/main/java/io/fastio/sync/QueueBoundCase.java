package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Y3: of two threads that put into the last place one is refused. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first was in time.")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second was in time.")
@Outcome(expect = FORBIDDEN, desc = "More in than there is room for, or nothing.")
@Twin(of = "AsyncQueue", in = "takeRoom", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class QueueBoundCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final AsyncQueue<Integer> queue = new AsyncQueue<>(1);

    @Actor
    public void one(ZZ_Result r) {
        r.r1 = put(1);
    }

    @Actor
    public void another(ZZ_Result r) {
        r.r2 = put(2);
    }

    private boolean put(int item) {
        try {
            queue.putNowait(item);
            return true;
        } catch (IllegalStateException full) {
            return false;
        }
    }
}
