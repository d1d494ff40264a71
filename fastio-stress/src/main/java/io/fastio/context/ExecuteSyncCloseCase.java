package io.fastio.context;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** W3: a call into a context that is being closed is done, or refused; its caller does not wait for ever. */
@JCStressTest
@Outcome(id = "done", expect = ACCEPTABLE, desc = "In before the end.")
@Outcome(id = "refused", expect = ACCEPTABLE, desc = "The context was closed.")
@Outcome(expect = FORBIDDEN, desc = "The caller was forgotten.")
@Twin(of = "AsyncContext", in = "end", lacks = "refuse", guard = Twin.Guard.CALL)
@Twin(of = "AsyncContext", in = "execute", lacks = "closed", guard = Twin.Guard.READ)
@State
public class ExecuteSyncCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private volatile @Nullable AsyncContext closing;
    private volatile boolean answered;

    @Actor
    public void loop() {
        AsyncContext context = AsyncContext.on(OnLoop.LOOP);
        closing = context;
        meeting.loop();
        context.close();
        Meeting.comesTrue(() -> OnLoop.poll() && answered);
    }

    @Actor
    public void other(L_Result r) {
        meeting.other();
        r.r1 = Meeting.isLost() ? OnLoop.LOST : call();
        answered = true;
    }

    private String call() {
        AsyncContext context = closing;
        try {
            return context == null ? OnLoop.LOST : context.executeSync(() -> "done", OnLoop.LIMIT);
        } catch (IllegalStateException closed) {
            return "refused";
        } catch (TimeoutException e) {
            Meeting.lose();
            return OnLoop.LOST;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
