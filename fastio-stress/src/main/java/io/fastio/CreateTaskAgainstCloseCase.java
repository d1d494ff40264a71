package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** S13: a task that is made while the loop ends has an end too, or is refused. */
@JCStressTest
@Outcome(id = "ended", expect = ACCEPTABLE, desc = "It ran, or was cancelled.")
@Outcome(id = "refused", expect = ACCEPTABLE, desc = "The loop was closed.")
@Outcome(expect = FORBIDDEN, desc = "The task never ends.")
@Twin(of = "LoopTask", in = "deliver", lacks = "arrive", guard = Twin.Guard.CALL)
@State
public class CreateTaskAgainstCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile @Nullable EventLoop closing;

    @Actor
    public void loop() {
        EventLoop l = EventLoop.builder().build();
        closing = l;
        meeting.loop();
        l.close();
    }

    @Actor
    public void other(L_Result r) {
        meeting.other();
        if (Meeting.isLost()) {
            r.r1 = OnLoop.LOST;
            return;
        }
        try {
            Task<Integer> task = Objects.requireNonNull(closing).createTask(() -> 1);
            r.r1 = Meeting.comesTrue(task::done) ? "ended" : OnLoop.LOST;
        } catch (IllegalStateException closed) {
            r.r1 = "refused";
        }
    }
}
