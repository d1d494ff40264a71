package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.Asyncio;
import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Y4: a delay that another thread triggers while the loop turns expires. */
@JCStressTest
@Outcome(id = "expired", expect = ACCEPTABLE, desc = "It did.")
@Outcome(expect = FORBIDDEN, desc = "It never does.")
@Twin(of = "RetriggerableDelay", in = "trigger", lacks = "callLaterNanos", guard = Twin.Guard.CALL)
@State
public class DelayTriggerCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final RetriggerableDelay delay = new RetriggerableDelay(OnLoop.LOOP, Duration.ofNanos(1), null);

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            try {
                return Asyncio.waitFor(
                        () -> {
                            delay.await();
                            return "expired";
                        },
                        OnLoop.LIMIT);
            } catch (java.util.concurrent.TimeoutException e) {
                return OnLoop.LOST;
            }
        });
    }

    @Actor
    public void other() {
        meeting.other();
        delay.trigger();
    }
}
