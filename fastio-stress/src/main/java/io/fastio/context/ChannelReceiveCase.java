package io.fastio.context;

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

/** An item that a thread sends while a task receives arrives. */
@JCStressTest
@Outcome(id = "hello", expect = ACCEPTABLE, desc = "It arrived.")
@Outcome(expect = FORBIDDEN, desc = "It was lost.")
@Twin(of = "Waiters", in = "await", lacks = "getAsBoolean", which = 2, guard = Twin.Guard.CALL)
@State
public class ChannelReceiveCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Channel<String> channel = new Channel<>(1);

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            String item = channel.poll(OnLoop.LIMIT);
            return item == null ? OnLoop.LOST : item;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        channel.send("hello");
    }
}
