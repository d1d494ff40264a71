package io.fastio.stream;

import io.fastio.EventLoop;
import io.fastio.Polling;
import io.fastio.Priority;
import org.jspecify.annotations.Nullable;

/** The devices of one class that tasks of a loop wait for; the loop asks them as long as there are any (I8). Loop only. */
final class DevicePoller {
    private final Polling polling;
    private DeviceTransport.@Nullable Side first;
    private DeviceTransport.@Nullable Side last;

    DevicePoller(EventLoop loop, Priority priority) {
        this.polling = new Polling(loop, priority, this::ask);
    }

    void add(DeviceTransport.Side s) {
        s.list = this;
        s.previous = last;
        s.next = null;
        if (last == null) {
            first = s;
            polling.arm();
        } else {
            last.next = s;
        }
        last = s;
    }

    void remove(DeviceTransport.Side s) {
        s.list = null;
        if (s.previous == null) {
            first = s.next;
        } else {
            s.previous.next = s.next;
        }
        if (s.next == null) {
            last = s.previous;
        } else {
            s.next.previous = s.previous;
        }
        if (first == null) {
            polling.disarm();
        }
    }

    private void ask() {
        for (DeviceTransport.Side s = first; s != null; ) {
            DeviceTransport.Side next = s.next; // asking takes it out, and a driver may close the other side of its own
            s.ask();
            s = next == null || next.list == this ? next : first;
        }
    }
}
