package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** C8: a scope that another thread cancels while its body begins to wait ends that wait. */
@JCStressTest
@Outcome(id = "cancelled", expect = ACCEPTABLE, desc = "The body was ended.")
@Outcome(expect = FORBIDDEN, desc = "The cancel was lost.")
@Twin(of = "Scope", in = "strikeFromAnywhere", lacks = "postIfOpen", guard = Twin.Guard.CALL)
@State
public class CancelScopeCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile @Nullable CancelScope scope;

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            String end = Asyncio.cancelScope(s -> {
                scope = s;
                meeting.loop();
                Asyncio.sleep(OnLoop.LIMIT);
                return OnLoop.LOST;
            });
            return end == null ? "cancelled" : end;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        CancelScope s = scope;
        if (s != null) {
            s.cancel();
        }
    }
}
