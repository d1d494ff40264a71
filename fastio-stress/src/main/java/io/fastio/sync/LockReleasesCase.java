package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Y2: of two threads that release a lock held once, one is told that it is not held. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first released it.")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second released it.")
@Outcome(expect = FORBIDDEN, desc = "Both released it, or none.")
@Twin(of = "Lock", in = "release", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class LockReleasesCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Lock lock = new Lock();

    public LockReleasesCase() {
        OnLoop.run(() -> {
            lock.acquire();
            return "";
        });
    }

    @Actor
    public void one(ZZ_Result r) {
        r.r1 = released();
    }

    @Actor
    public void another(ZZ_Result r) {
        r.r2 = released();
    }

    private boolean released() {
        try {
            lock.release();
            return true;
        } catch (IllegalStateException notHeld) {
            return false;
        }
    }
}
