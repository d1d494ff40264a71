package io.fastio.context;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Of two threads that send into the last place of a channel one is refused. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first was in time.")
@Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second was in time.")
@Outcome(expect = FORBIDDEN, desc = "More in than there is room for, or nothing.")
@Twin(of = "Channel", in = "reserve", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class ChannelBoundCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Channel<Integer> channel = new Channel<>(1);

    @Actor
    public void one(ZZ_Result r) {
        r.r1 = channel.offer(1, Duration.ZERO);
    }

    @Actor
    public void another(ZZ_Result r) {
        r.r2 = channel.offer(2, Duration.ZERO);
    }
}
