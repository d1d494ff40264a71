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

/** Y1: set and clear from another thread wake the task that waited, also if the loop sees them together. */
@JCStressTest
@Outcome(id = "woken", expect = ACCEPTABLE, desc = "The waiter went on.")
@Outcome(expect = FORBIDDEN, desc = "The waiter waits on.")
@Twin(of = "Event", in = "set", lacks = "getAndAdd", guard = Twin.Guard.CALL)
@State
public class EventPulseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Event event = new Event();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            Task<Boolean> waiter = Asyncio.createTask(() -> event.awaitWithin(OnLoop.LIMIT));
            Asyncio.yieldNow();
            meeting.loop();
            return waiter.await() ? "woken" : OnLoop.LOST;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        event.set();
        event.clear();
    }
}
