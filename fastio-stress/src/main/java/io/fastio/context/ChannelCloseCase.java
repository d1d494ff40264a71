package io.fastio.context;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.stress.Meeting;
import io.fastio.stress.OnLoop;
import io.fastio.stress.Twin;
import io.fastio.stress.Twins;
import io.fastio.sync.QueueClosedException;
import java.lang.invoke.MethodHandles;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** What is sent to a channel while that is closed is received, or refused. */
@JCStressTest
@Outcome(id = "hello, sent", expect = ACCEPTABLE, desc = "In before the end: it was received.")
@Outcome(id = "nothing, refused", expect = ACCEPTABLE, desc = "The channel was closed.")
@Outcome(expect = FORBIDDEN, desc = "The item was lost.")
@Twin(of = "Channel$Take", in = "getAsBoolean", lacks = "get", guard = Twin.Guard.CALL)
@Twin(of = "Channel$Place", in = "getAsBoolean", lacks = "reserve", guard = Twin.Guard.REFUSAL)
@State
public class ChannelCloseCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private final Meeting meeting = new Meeting();
    private final Channel<String> channel = new Channel<>(1);

    @Actor
    public void loop(LL_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            channel.close();
            try {
                String item = channel.poll(OnLoop.LIMIT);
                return item == null ? OnLoop.LOST : item;
            } catch (QueueClosedException e) {
                return "nothing";
            }
        });
    }

    @Actor
    public void other(LL_Result r) {
        meeting.other();
        try {
            channel.send("hello");
            r.r2 = "sent";
        } catch (QueueClosedException e) {
            r.r2 = "refused";
        }
    }
}
