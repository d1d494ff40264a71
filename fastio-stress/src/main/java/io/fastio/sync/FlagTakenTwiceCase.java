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

/** Y1: of two that clear a set flag one has cleared it. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first.")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second.")
@Outcome(expect = FORBIDDEN, desc = "One set was taken twice.")
@Twin(of = "Flag", in = "clear", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class FlagTakenTwiceCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Flag flag = new Flag();

    public FlagTakenTwiceCase() {
        flag.setOutside();
    }

    @Actor
    public void one(ZZ_Result r) {
        r.r1 = flag.clear();
    }

    @Actor
    public void another(ZZ_Result r) {
        r.r2 = flag.clear();
    }
}
