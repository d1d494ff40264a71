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
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * S12: of two tasks of two loops that begin to await each other at the same time one is told at least. And W1: the other one
 * hears of its end, though that is the last step of its loop.
 */
@JCStressTest
@Outcome(id = "told, awaited", expect = ACCEPTABLE, desc = "The first closed the circle.")
@Outcome(id = "awaited, told", expect = ACCEPTABLE, desc = "The second closed it.")
@Outcome(id = "told, told", expect = ACCEPTABLE, desc = "Both did.")
@Outcome(expect = FORBIDDEN, desc = "They wait for each other.")
@Twin(of = "Circle", in = "refuse", lacks = "refuseAcross", guard = Twin.Guard.CALL)
@Twin(of = "Scheduler", in = "endRun", lacks = "takeIn", guard = Twin.Guard.CALL)
@State
public class AwaitCircleCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final EventLoop OTHERS = EventLoop.builder().name("others").build();

    private final Meeting meeting = new Meeting();
    private volatile @Nullable Task<?> first;
    private volatile @Nullable Task<?> second;

    @Actor
    public void loop(LL_Result r) {
        r.r1 = OnLoop.run(() -> {
            first = Asyncio.currentTask();
            meeting.loop();
            return await(second);
        });
    }

    @Actor
    public void other(LL_Result r) {
        if (Meeting.isLost()) {
            r.r2 = OnLoop.LOST;
            return;
        }
        try {
            r.r2 = OTHERS.run(() -> {
                second = Asyncio.currentTask();
                meeting.other();
                return await(first);
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String await(@Nullable Task<?> task) throws Exception {
        if (task == null) {
            return OnLoop.LOST;
        }
        try {
            var _ = Asyncio.waitFor(() -> Asyncio.shield(task), OnLoop.LIMIT);
            return "awaited";
        } catch (IllegalStateException circle) {
            return "told";
        } catch (java.util.concurrent.TimeoutException e) {
            Meeting.lose();
            return OnLoop.LOST;
        }
    }
}
