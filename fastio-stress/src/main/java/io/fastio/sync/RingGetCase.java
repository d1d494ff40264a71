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

/** Y4: an item that a full ring drops while a task takes it is taken, or counted as lost: one of the two. */
@JCStressTest
@Outcome(id = "1 2, 0 lost", expect = ACCEPTABLE, desc = "Both were taken.")
@Outcome(id = "2, 1 lost", expect = ACCEPTABLE, desc = "The older one was dropped.")
@Outcome(expect = FORBIDDEN, desc = "An item was both, or neither.")
@Twin(of = "RingQueue", in = "put", lacks = "ring", guard = Twin.Guard.CALL)
@State
public class RingGetCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final RingQueue<Integer> ring = new RingQueue<>(1, RingQueue.WhenFull.DROP_OLDEST);

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            Integer first = ring.poll(OnLoop.LIMIT);
            if (first == null) {
                return OnLoop.LOST;
            }
            if (first == 2) {
                return "2, " + ring.lost() + " lost";
            }
            Integer second = ring.poll(OnLoop.LIMIT);
            return second == null ? OnLoop.LOST : first + " " + second + ", " + ring.lost() + " lost";
        });
    }

    @Actor
    public void other() {
        meeting.other();
        ring.put(1);
        Meeting.jitter();
        ring.put(2);
    }
}
