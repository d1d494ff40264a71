package io.fastio;

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

/** W1: between the last look of the loop and its sleep nothing falls. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It sleeps, and is woken.")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "It stays awake.")
@Outcome(expect = FORBIDDEN, desc = "It sleeps and nobody wakes it, or is woken for nothing.")
@Twin(of = "Inbox", in = "prepareSleep", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class InboxSleepCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Inbox inbox = new Inbox();
    private final Posted item = Item.fresh();

    @Actor
    public void loop(ZZ_Result r) {
        r.r1 = inbox.prepareSleep();
    }

    @Actor
    public void other(ZZ_Result r) {
        r.r2 = inbox.push(item) == Inbox.Push.MUST_WAKE;
    }
}
