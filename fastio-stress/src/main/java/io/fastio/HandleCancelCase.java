package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Of what other threads ask of a handle the latest counts: scheduled and then cancelled, it is not scheduled. */
@JCStressTest
@Outcome(id = "cancelled", expect = ACCEPTABLE, desc = "It is not scheduled.")
@Outcome(expect = FORBIDDEN, desc = "The cancel was lost.")
@Twin(of = "Handle", in = "overrule", lacks = "getAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class HandleCancelCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final long HOUR = 3_600_000_000_000L;

    private final Meeting meeting = new Meeting();
    private volatile boolean asked;
    private final Handle handle = OnLoop.LOOP.handle(Priority.NORMAL, () -> {});

    @Actor
    public void loop(L_Result r) {
        meeting.loop();
        Meeting.comesTrue(() -> OnLoop.poll() && asked);
        OnLoop.poll();
        r.r1 = handle.scheduled() ? OnLoop.LOST : "cancelled";
        handle.cancel();
    }

    @Actor
    public void other() {
        meeting.other();
        handle.callLaterNanos(HOUR);
        Meeting.jitter();
        handle.cancel();
        asked = true;
    }
}
