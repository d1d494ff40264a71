package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.Asyncio;
import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.TimeoutException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Y4: of several events one that another thread sets while the wait begins ends it. */
@JCStressTest
@Outcome(id = "second", expect = ACCEPTABLE, desc = "The wait ended by that event.")
@Outcome(expect = FORBIDDEN, desc = "The set was lost, or another event took its place.")
@Twin(of = "Event", in = "watch", lacks = "isSet", guard = Twin.Guard.CALL)
@Twin(of = "Event", in = "wakeAll", lacks = "wasSet", guard = Twin.Guard.CALL)
@State
public class WaitAnyCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Event first = new Event();
    private final Event second = new Event();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            WaitAny any = new WaitAny(first, second);
            meeting.loop();
            try {
                return Asyncio.waitFor(any::await, OnLoop.LIMIT) == second ? "second" : "first";
            } catch (TimeoutException e) {
                return OnLoop.LOST;
            }
        });
    }

    @Actor
    public void other() {
        meeting.other();
        second.set();
    }
}
