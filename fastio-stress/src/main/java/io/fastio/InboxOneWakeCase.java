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
import org.openjdk.jcstress.infra.results.III_Result;

/** W1: however many push, one of them wakes the loop that sleeps, and nothing of theirs is lost. */
@JCStressTest
@Outcome(id = "1, 0, 2", expect = ACCEPTABLE, desc = "The first one wakes it.")
@Outcome(id = "0, 1, 2", expect = ACCEPTABLE, desc = "The second one wakes it.")
@Outcome(expect = FORBIDDEN, desc = "Not one wake, or not all arrived.")
@Twin(of = "Inbox", in = "push", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class InboxOneWakeCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Inbox inbox = new Inbox();
    private final Posted first = Item.fresh();
    private final Posted second = Item.fresh();

    public InboxOneWakeCase() {
        inbox.prepareSleep();
    }

    @Actor
    public void one(III_Result r) {
        r.r1 = inbox.push(first) == Inbox.Push.MUST_WAKE ? 1 : 0;
    }

    @Actor
    public void another(III_Result r) {
        r.r2 = inbox.push(second) == Inbox.Push.MUST_WAKE ? 1 : 0;
    }

    @Arbiter
    public void end(III_Result r) {
        inbox.drain();
        r.r3 = Item.deliveries(first) + Item.deliveries(second);
    }
}
