package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** C2: a cancel from another thread ends the wait that it finds, or the next one, whatever its moment. */
@JCStressTest
@Outcome(id = "cancelled", expect = ACCEPTABLE, desc = "The wait ended by the cancel.")
@Outcome(expect = FORBIDDEN, desc = "The cancel was lost.")
@Twin(of = "LoopTask", in = "deliver", lacks = "cancelOnLoop", guard = Twin.Guard.CALL)
@State
public class TaskCancelCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile @Nullable Task<String> sleeper;

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            Task<String> task = Asyncio.createTask(() -> {
                if (Meeting.isLost()) {
                    return OnLoop.LOST;
                }
                Asyncio.sleep(OnLoop.LIMIT);
                return OnLoop.LOST;
            });
            sleeper = task;
            meeting.loop();
            try {
                return task.await();
            } catch (CancelledError e) {
                return "cancelled";
            }
        });
    }

    @Actor
    public void other() {
        meeting.other();
        Task<String> task = sleeper;
        if (task != null) {
            task.cancel();
        }
    }
}
