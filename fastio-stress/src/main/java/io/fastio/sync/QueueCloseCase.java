package io.fastio.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.util.NoSuchElementException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** Y3: an item that is put while the queue is closed comes out, or is refused; closed it is in any case. */
@JCStressTest
@Outcome(id = "in, 1 and the end", expect = ACCEPTABLE, desc = "Accepted: it comes out before the end.")
@Outcome(id = "refused, 0 and the end", expect = ACCEPTABLE, desc = "Too late.")
@Outcome(expect = FORBIDDEN, desc = "Accepted and lost, or the close was lost.")
@Twin(of = "AsyncQueue", in = "putNowait", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@Twin(of = "AsyncQueue", in = "close", lacks = "compareAndSet", guard = Twin.Guard.ATOMICITY)
@State
public class QueueCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final AsyncQueue<Integer> queue = new AsyncQueue<>();

    @Actor
    public void putter(LL_Result r) {
        try {
            queue.putNowait(1);
            r.r1 = "in";
        } catch (QueueClosedException e) {
            r.r1 = "refused";
        }
    }

    @Actor
    public void closer() {
        queue.close();
    }

    @Arbiter
    public void end(LL_Result r) {
        r.r2 = OnLoop.run(() -> {
            int out = 0;
            while (true) {
                try {
                    queue.getNowait();
                    out++;
                } catch (QueueClosedException e) {
                    return out + " and the end";
                } catch (NoSuchElementException e) {
                    return out + " and no end";
                }
            }
        });
    }
}
