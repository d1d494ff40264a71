package io.fastio.gpio;

import io.fastio.Action;
import io.fastio.device.Pin;
import io.fastio.sync.Event;
import java.io.IOException;

/**
 * A switch at a pin: a contact that stays closed or open. Bouncing is taken out: a change counts at once, and is then left
 * alone for the debounce time. For the tasks of the pin's loop.
 */
public final class Switch implements AutoCloseable {
    private final Contact contact;
    private final Event closed = new Event();
    private final Event open = new Event();
    private final Reactions<Boolean> reactions;

    /** {@link #Switch(Pin, ContactOptions)} with the defaults. */
    public Switch(Pin pin) throws IOException {
        this(pin, ContactOptions.defaults());
    }

    /**
     * A switch at that pin, from now on. Does not wait.
     *
     * @throws IOException if the chip fails
     */
    public Switch(Pin pin, ContactOptions options) throws IOException {
        this.reactions = new Reactions<>("switch at " + pin);
        this.contact = new Contact(pin, options, this::changed);
        (contact.isClosed() ? closed : open).set();
    }

    private void changed(boolean nowClosed) {
        (nowClosed ? open : closed).clear();
        (nowClosed ? closed : open).set();
        reactions.happened(nowClosed);
    }

    /** Whether it is closed. */
    public boolean isClosed() {
        return contact.isClosed();
    }

    /** Waits until it is closed; goes on at once if it is. */
    public void awaitClosed() {
        closed.await();
    }

    /** Waits until it is open; goes on at once if it is. */
    public void awaitOpen() {
        open.await();
    }

    /** Starts a task for the action each time it is closed. */
    public Switch onClose(Action action) {
        reactions.on(true, action);
        return this;
    }

    /** Starts a task for the action each time it is opened. */
    public Switch onOpen(Action action) {
        reactions.on(false, action);
        return this;
    }

    /** Ends its looking after the pin, which stays open; who waits goes on waiting. Idempotent. */
    @Override
    public void close() {
        contact.close();
        reactions.close();
    }
}
