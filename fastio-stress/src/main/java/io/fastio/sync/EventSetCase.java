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

/** Y1: a set that races with the first wait, or with any other, ends it. */
@JCStressTest
@Outcome(id = "woken", expect = ACCEPTABLE, desc = "The wait ended.")
@Outcome(expect = FORBIDDEN, desc = "The set was lost.")
@Twin(of = "Event", in = "set", lacks = "ring", guard = Twin.Guard.CALL)
@Twin(of = "Event", in = "await", lacks = "isSet", guard = Twin.Guard.CALL)
@State
public class EventSetCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Event event = new Event();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            return event.awaitWithin(OnLoop.LIMIT) ? "woken" : OnLoop.LOST;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        event.set();
    }
}
