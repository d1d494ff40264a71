package io.fastio;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.poll.Poller;
import io.fastio.stress.Meeting;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** W1: a loop that sleeps in the poller is woken by a push, whatever its moment. */
@JCStressTest
@Outcome(id = "woken", expect = ACCEPTABLE, desc = "It woke, or did not sleep at all.")
@Outcome(expect = FORBIDDEN, desc = "It slept on.")
@Twin(of = "Sleeper", in = "sleep", lacks = "prepareSleep", guard = Twin.Guard.REFUSAL)
@State
public class SleeperPollerCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final Inbox INBOX = new Inbox();
    private static final Sleeper SLEEPER = sleeper();

    private final Meeting meeting = new Meeting();

    private static Sleeper sleeper() {
        Sleeper s = new Sleeper(INBOX, Poller.Kind.AUTO);
        try {
            s.poller(); // as a loop has done before it sleeps there
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        s.watch(1, true);
        return s;
    }

    @Actor
    public void loop(L_Result r) {
        r.r1 = Nap.sleep(meeting, INBOX, SLEEPER);
    }

    @Actor
    public void other() {
        Nap.push(meeting, INBOX, SLEEPER);
    }
}
