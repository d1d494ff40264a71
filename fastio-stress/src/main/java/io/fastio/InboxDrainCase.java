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

/** W1: what is pushed while the loop drains comes out now or at the next time, once. */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "Delivered once.")
@Outcome(expect = FORBIDDEN, desc = "Lost, or delivered twice.")
@Twin(of = "Inbox", in = "drain", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class InboxDrainCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Inbox inbox = new Inbox();
    private final Posted item = Item.fresh();

    @Actor
    public void loop() {
        inbox.drain();
    }

    @Actor
    public void other() {
        inbox.push(item);
    }

    @Arbiter
    public void end(I_Result r) {
        inbox.drain();
        r.r1 = Item.deliveries(item);
    }
}
