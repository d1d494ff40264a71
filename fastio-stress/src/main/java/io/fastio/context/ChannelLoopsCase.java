package io.fastio.context;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fastio.EventLoop;
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

/** Two loops: what a task of one sends over a channel with one place a task of the other receives, in order. */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "Both, in order.")
@Outcome(expect = FORBIDDEN, desc = "An item was lost or overtaken, or the sender was forgotten.")
@Twin(of = "Channel", in = "receive", lacks = "wakeNext", guard = Twin.Guard.CALL)
@Twin(of = "Channel", in = "send", lacks = "wakeNext", guard = Twin.Guard.CALL)
@State
public class ChannelLoopsCase {
    static final boolean TWIN = Twins.install(MethodHandles.lookup());

    private static final EventLoop SENDERS = EventLoop.builder().name("senders").build();

    private final Meeting meeting = new Meeting();
    private final Channel<Integer> channel = new Channel<>(1);

    @Actor
    public void loop(L_Result r) {
        r.r1 = OnLoop.run(() -> {
            meeting.loop();
            Integer first = channel.poll(OnLoop.LIMIT);
            Integer second = first == null ? null : channel.poll(OnLoop.LIMIT);
            return second == null ? OnLoop.LOST : first + ", " + second;
        });
    }

    @Actor
    public void other() {
        if (Meeting.isLost()) {
            return;
        }
        try {
            SENDERS.run(() -> {
                meeting.other();
                if (!channel.offer(1, OnLoop.LIMIT) || !channel.offer(2, OnLoop.LIMIT)) {
                    Meeting.lose();
                }
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
