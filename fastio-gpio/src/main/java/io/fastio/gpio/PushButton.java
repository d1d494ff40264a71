package io.fastio.gpio;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.Handle;
import io.fastio.Priority;
import io.fastio.device.Pin;
import io.fastio.sync.AsyncQueue;
import java.io.IOException;

/**
 * A push button at a pin ({@code Pushbutton} of MicroPython's primitives): presses, releases, clicks, double clicks and long
 * presses, without bouncing. A short press is a CLICK or, with a second one, a DOUBLE, or it is held on to and becomes LONG;
 * never two of them. For the tasks of the pin's loop.
 */
public final class PushButton implements AutoCloseable {
    private final ContactOptions options;
    private final Contact contact;
    private final Reactions<ButtonEvent> reactions;
    private final Handle secondPressOver;
    private final Handle heldLong;
    private boolean decided;

    /** {@link #PushButton(Pin, ContactOptions)} with the defaults. */
    public PushButton(Pin pin) throws IOException {
        this(pin, ContactOptions.defaults());
    }

    /**
     * A button at that pin, from now on; if it is pressed now, that press is not told. Does not wait.
     *
     * @throws IOException if the chip fails
     */
    public PushButton(Pin pin, ContactOptions options) throws IOException {
        EventLoop loop = Asyncio.runningLoop();
        this.options = options;
        this.reactions = new Reactions<>("button at " + pin);
        this.secondPressOver = loop.handle(Priority.URGENT, () -> reactions.happened(ButtonEvent.CLICK));
        this.heldLong = loop.handle(Priority.URGENT, this::heldLong);
        this.contact = new Contact(pin, options, this::changed);
        this.decided = true;
    }

    private void changed(boolean pressed) {
        reactions.happened(pressed ? ButtonEvent.PRESS : ButtonEvent.RELEASE);
        if (pressed) {
            decided = secondPressOver.scheduled();
            if (decided) {
                secondPressOver.cancel();
                reactions.happened(ButtonEvent.DOUBLE);
            } else {
                heldLong.callLater(options.longTime());
            }
        } else {
            heldLong.cancel();
            if (!decided) {
                secondPressOver.callLater(options.doubleTime());
            }
        }
    }

    private void heldLong() {
        decided = true;
        reactions.happened(ButtonEvent.LONG);
    }

    /** Whether it is pressed. */
    public boolean isPressed() {
        return contact.isClosed();
    }

    /** Starts a task for the action at each such event. */
    public PushButton on(ButtonEvent event, Action action) {
        reactions.on(event, action);
        return this;
    }

    /** The events from now on, in their order; each call gives a queue of its own, to be closed when it is not read any more. */
    public AsyncQueue<ButtonEvent> events() {
        return reactions.subscribe();
    }

    /** Ends its looking after the pin, which stays open, and closes the queues. Idempotent. */
    @Override
    public void close() {
        contact.close();
        secondPressOver.cancel();
        heldLong.cancel();
        reactions.close();
    }
}
