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

/** Y1: a set that races with the wait ends it, and is taken by it. */
@JCStressTest
@Outcome(id = "taken", expect = ACCEPTABLE, desc = "It was set, and is clear again.")
@Outcome(expect = FORBIDDEN, desc = "The set was lost, or taken twice.")
@Twin(of = "ThreadSafeFlag", in = "set", lacks = "ring", guard = Twin.Guard.CALL)
@Twin(of = "ThreadSafeFlag", in = "await", lacks = "clear", guard = Twin.Guard.CALL)
@State
public class ThreadSafeFlagCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final ThreadSafeFlag flag = new ThreadSafeFlag();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            if (!flag.awaitWithin(OnLoop.LIMIT)) {
                return OnLoop.LOST;
            }
            return flag.isSet() ? "not cleared" : "taken";
        });
    }

    @Actor
    public void other() {
        meeting.other();
        flag.set();
    }
}
