package io.fastio.sync;

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

/** Y4: a message that is set while a task waits for it brings its value. */
@JCStressTest
@Outcome(id = "hello", expect = ACCEPTABLE, desc = "It arrived.")
@Outcome(expect = FORBIDDEN, desc = "It was lost.")
@Twin(of = "Message", in = "set", lacks = "set", guard = Twin.Guard.CALL)
@State
public class MessageCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Message<String> message = new Message<>();

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            String value = message.awaitWithin(OnLoop.LIMIT);
            return value == null ? OnLoop.LOST : value;
        });
    }

    @Actor
    public void other() {
        meeting.other();
        message.set("hello");
    }
}
