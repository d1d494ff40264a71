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

/** Y3: two items that another thread puts while a task gets come out, in their order. */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "Both, in order.")
@Outcome(expect = FORBIDDEN, desc = "An item was lost, doubled or overtaken.")
@Twin(of = "AsyncQueue", in = "putNowait", lacks = "ring", guard = Twin.Guard.CALL)
@Twin(of = "AsyncQueue", in = "moveOver", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class QueueGetCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final AsyncQueue<Integer> queue = new AsyncQueue<>();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            Integer first = queue.poll(OnLoop.LIMIT);
            Integer second = first == null ? null : queue.poll(OnLoop.LIMIT);
            return second == null ? OnLoop.LOST : first + ", " + second;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        queue.putNowait(1);
        Meeting.jitter();
        queue.putNowait(2);
    }
}
