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

/** Y4: of two threads that are the first to subscribe to a topic both receive. */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "Both received.")
@Outcome(expect = FORBIDDEN, desc = "A subscription was lost.")
@Twin(of = "Broker", in = "subscribe", lacks = "compute", guard = Twin.Guard.ATOMICITY)
@State
public class BrokerSubscribeCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Broker<String> broker = new Broker<>();

    @Actor
    public void one() {
        subscribe();
    }

    @Actor
    public void another() {
        subscribe();
    }

    private void subscribe() {
        var _ = broker.subscribe("topic", (topic, message) -> {});
    }

    @Arbiter
    public void end(I_Result r) {
        r.r1 = broker.publish("topic", "hello");
    }
}
