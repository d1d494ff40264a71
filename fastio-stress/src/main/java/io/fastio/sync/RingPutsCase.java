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

/** Y4: what two threads put into a ring with room for both comes out. */
@JCStressTest
@Outcome(id = "2 in, 3 in all", expect = ACCEPTABLE, desc = "Both came out.")
@Outcome(expect = FORBIDDEN, desc = "An item was lost or doubled.")
@Twin(of = "RingQueue", in = "offer", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class RingPutsCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final RingQueue<Integer> ring = new RingQueue<>(2, RingQueue.WhenFull.REFUSE);

    @Actor
    public void one() {
        ring.put(1);
    }

    @Actor
    public void another() {
        ring.put(2);
    }

    @Arbiter
    public void end(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            int in = ring.size();
            int sum = 0;
            for (Integer i = ring.poll(Duration.ZERO); i != null; i = ring.poll(Duration.ZERO)) {
                sum += i;
            }
            return in + " in, " + sum + " in all";
        });
    }
}
