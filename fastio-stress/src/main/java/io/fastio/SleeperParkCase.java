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

/** W1: a loop that sleeps parked is woken by a push, whatever its moment. */
@JCStressTest
@Outcome(id = "woken", expect = ACCEPTABLE, desc = "It woke, or did not sleep at all.")
@Outcome(expect = FORBIDDEN, desc = "It slept on.")
@Twin(of = "Sleeper", in = "sleep", lacks = "prepareSleep", guard = Twin.Guard.REFUSAL)
@Twin(of = "Sleeper", in = "sleep", lacks = "sleeping", guard = Twin.Guard.WRITE)
@State
public class SleeperParkCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final Inbox INBOX = new Inbox();
    private static final Sleeper SLEEPER = new Sleeper(INBOX, Poller.Kind.AUTO);

    private final Meeting meeting = new Meeting();

    @Actor
    public void loop(L_Result r) {
        r.r1 = Nap.sleep(meeting, INBOX, SLEEPER);
    }

    @Actor
    public void other() {
        Nap.push(meeting, INBOX, SLEEPER);
    }
}
