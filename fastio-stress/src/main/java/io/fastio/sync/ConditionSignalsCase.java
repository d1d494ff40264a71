package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.Asyncio;
import io.fastio.Task;
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

/** Y3: two notifications wake two tasks, also if the loop takes the first while the second is made. */
@JCStressTest
@Outcome(id = "both", expect = ACCEPTABLE, desc = "Both went on.")
@Outcome(expect = FORBIDDEN, desc = "A notification was lost.")
@Twin(of = "Condition", in = "settle", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class ConditionSignalsCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Condition condition = new Condition();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            Task<Boolean> first = Asyncio.createTask(this::await);
            Task<Boolean> second = Asyncio.createTask(this::await);
            Asyncio.yieldNow();
            Asyncio.yieldNow();
            meeting.loop();
            return first.await() && second.await() ? "both" : OnLoop.LOST;
        });
    }

    private boolean await() {
        try (Guard held = condition.hold()) {
            return condition.awaitWithin(OnLoop.LIMIT) && held != null;
        }
    }

    @Actor
    public void other() {
        meeting.other();
        condition.signal();
        Meeting.jitter();
        condition.signal();
    }
}
