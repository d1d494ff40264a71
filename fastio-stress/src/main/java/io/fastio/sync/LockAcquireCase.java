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

/** Y2: a lock that another thread releases while a task asks for it goes to that task. */
@JCStressTest
@Outcome(id = "acquired", expect = ACCEPTABLE, desc = "It holds it.")
@Outcome(expect = FORBIDDEN, desc = "It waits for a lock that nobody holds.")
@Twin(of = "Lock", in = "release", lacks = "ring", guard = Twin.Guard.CALL)
@State
public class LockAcquireCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Lock lock = new Lock();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            lock.acquire();
            Task<Boolean> next = Asyncio.createTask(() -> lock.acquireWithin(OnLoop.LIMIT));
            meeting.loop();
            return next.await() ? "acquired" : OnLoop.LOST;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        if (!Meeting.isLost()) {
            lock.release();
        }
    }
}
