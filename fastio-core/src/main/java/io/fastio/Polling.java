package io.fastio;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A question that the loop asks over and over while it is armed: the way to wait for what cannot wake the loop by itself,
 * such as a register of a device (I8). Asked at every look between steps if its class is URGENT, else once a round; while
 * the loop has nothing else to do, every {@code devicePollInterval}.
 *
 * <p>The question is a callback (S2): it may resume tasks, it may not use fastio's waits; one that throws is reported and
 * disarmed. Everything here is for the loop.
 */
public final class Polling {
    private final EventLoop loop;
    final boolean urgent;
    private final Runnable question;
    private boolean armed;

    @Nullable
    Polling next;

    /**
     * A question, not armed yet.
     *
     * @param priority URGENT, or anything else for once a round
     */
    public Polling(EventLoop loop, Priority priority, Runnable question) {
        this.loop = Objects.requireNonNull(loop, "loop");
        this.urgent = Objects.requireNonNull(priority, "priority") == Priority.URGENT;
        this.question = Objects.requireNonNull(question, "question");
    }

    /** From now on it is asked. Idempotent. */
    public void arm() {
        loop.checkOwner(this);
        if (!armed) {
            armed = true;
            loop.scheduler.pollings().add(this);
        }
    }

    /** From now on it is not asked; also from within the question. Idempotent. */
    public void disarm() {
        loop.checkOwner(this);
        if (armed) {
            armed = false;
            loop.scheduler.pollings().remove(this);
        }
    }

    void ask() {
        if (armed) {
            try {
                question.run();
            } catch (RuntimeException | Error e) {
                disarm(); // or every round would bring a report, which makes another round
                loop.report(
                        new LoopError("polling by " + question + " threw " + e + "; it is not asked again", e, null));
            }
        }
    }
}
