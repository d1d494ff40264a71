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
import org.openjdk.jcstress.infra.results.LL_Result;

/** Y2: of a task and another thread that release a lock held once, one is told that it is not held. */
@JCStressTest
@Outcome(id = "released, not held", expect = ACCEPTABLE, desc = "The task released it.")
@Outcome(id = "not held, released", expect = ACCEPTABLE, desc = "The thread released it.")
@Outcome(expect = FORBIDDEN, desc = "Both released it, or none.")
@Twin(of = "Lock", in = "releaseOnLoop", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class LockReleaseOnLoopCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Lock lock = new Lock();

    @Actor
    public void loop(LL_Result r) {
        r.r1 = OnLoop.run(() -> {
            lock.acquire();
            meeting.loop();
            return released();
        });
    }

    @Actor
    public void other(LL_Result r) {
        meeting.other();
        r.r2 = released();
    }

    private String released() {
        try {
            lock.release();
            return "released";
        } catch (IllegalStateException notHeld) {
            return "not held";
        }
    }
}
