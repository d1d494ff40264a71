package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Y3: of two releases of the last permit one is one too many, and says so. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The second was one too many.")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The first was one too many.")
@Outcome(expect = FORBIDDEN, desc = "Both were taken, or none.")
@Twin(of = "Semaphore", in = "releaseMany", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class BoundedReleaseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final BoundedSemaphore semaphore = BoundedReleases.taken();

    @Actor
    public void one(ZZ_Result r) {
        r.r1 = BoundedReleases.release(semaphore);
    }

    @Actor
    public void another(ZZ_Result r) {
        r.r2 = BoundedReleases.release(semaphore);
    }
}
