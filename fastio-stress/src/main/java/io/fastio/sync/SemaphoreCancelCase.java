package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
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

/** C6: a permit on its way to a task that is cancelled is not lost; acquired or cancelled, never both. */
@JCStressTest
@Outcome(id = "acquired, 0 free", expect = ACCEPTABLE, desc = "It has it.")
@Outcome(id = "cancelled, 1 free", expect = ACCEPTABLE, desc = "The permit stayed.")
@Outcome(expect = FORBIDDEN, desc = "The permit is lost, or there are two.")
@Twin(of = "Semaphore", in = "abandon", lacks = "getAndAdd", guard = Twin.Guard.CALL)
@State
public class SemaphoreCancelCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Semaphore semaphore = new Semaphore(0);
    private volatile @Nullable Task<String> waiter;
    private volatile boolean over;

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            Task<String> task = Asyncio.createTask(() -> {
                semaphore.acquire();
                return "acquired, ";
            });
            waiter = task;
            Asyncio.yieldNow();
            meeting.loop();
            String end;
            try {
                end = task.await();
            } catch (CancelledError e) {
                end = "cancelled, ";
            }
            while (!over && !Meeting.isLost()) {
                Asyncio.yieldNow();
            }
            return end + semaphore.availablePermits() + " free";
        });
    }

    @Actor
    public void other() {
        meeting.other();
        Task<String> task = waiter;
        semaphore.release();
        if (task != null) {
            task.cancel();
        }
        over = true;
    }
}
