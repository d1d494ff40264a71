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
import org.openjdk.jcstress.infra.results.II_Result;

/** S13: a push that races with the end is delivered, or refused. */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Accepted and delivered.")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Refused.")
@Outcome(expect = FORBIDDEN, desc = "Accepted and lost, or refused and delivered.")
@Twin(of = "Inbox", in = "close", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class InboxCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Inbox inbox = new Inbox();
    private final Posted item = Item.fresh();

    @Actor
    public void loop() {
        inbox.close();
    }

    @Actor
    public void other(II_Result r) {
        r.r1 = inbox.push(item) == Inbox.Push.REFUSED ? 0 : 1;
    }

    @Arbiter
    public void end(II_Result r) {
        r.r2 = Item.deliveries(item);
    }
}
