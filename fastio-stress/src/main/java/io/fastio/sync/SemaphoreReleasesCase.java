package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Y3: permits that two threads give back at the same time are both there. */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "Two permits.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost.")
@Twin(of = "Semaphore", in = "releaseMany", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class SemaphoreReleasesCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Semaphore semaphore = new Semaphore(0);

    @Actor
    public void one() {
        semaphore.release();
    }

    @Actor
    public void another() {
        semaphore.release();
    }

    @Arbiter
    public void end(I_Result r) {
        r.r1 = semaphore.availablePermits();
    }
}
