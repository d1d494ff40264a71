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

/** Y3: a permit that is given back while a task asks for it goes to that task. */
@JCStressTest
@Outcome(id = "acquired", expect = ACCEPTABLE, desc = "It has the permit.")
@Outcome(expect = FORBIDDEN, desc = "It waits beside a free permit.")
@Twin(of = "Semaphore", in = "releaseMany", lacks = "ring", guard = Twin.Guard.CALL)
@Twin(of = "Semaphore", in = "acquire", lacks = "take", guard = Twin.Guard.CALL)
@State
public class SemaphoreAcquireCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Semaphore semaphore = new Semaphore(0);

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            return semaphore.acquireWithin(OnLoop.LIMIT) ? "acquired" : OnLoop.LOST;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        semaphore.release();
    }
}
