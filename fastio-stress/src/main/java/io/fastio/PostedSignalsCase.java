package io.fastio;

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

/** W1: signals of two threads on one object coalesce; both are seen, and it is pushed once. */
@JCStressTest
@Outcome(id = "3", expect = ACCEPTABLE, desc = "Both signals arrived.")
@Outcome(expect = FORBIDDEN, desc = "A signal was lost.")
@Twin(of = "Posted", in = "addSignals", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class PostedSignalsCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Inbox inbox = new Inbox();
    private final Posted item = Item.fresh();

    @Actor
    public void one() {
        Item.post(item, 1, inbox);
    }

    @Actor
    public void another() {
        Item.post(item, 2, inbox);
    }

    @Arbiter
    public void end(I_Result r) {
        inbox.drain();
        r.r1 = Item.signals(item);
    }
}
