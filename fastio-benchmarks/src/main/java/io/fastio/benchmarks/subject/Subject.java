package io.fastio.benchmarks.subject;

/**
 * One contender, in a process of its own. What it cannot do it leaves as it is here; such a request is answered with
 * "not supported" and the parent goes on without it. Requests come one at a time, on the child's main thread.
 */
interface Subject {
    /** How it is configured, one line for the report. */
    String config();

    /** {@code tasks} tasks that only give way, for about {@code millis} ms: {@code ns} and {@code bytes} per switch. */
    default Reading rate(int tasks, long millis) throws Exception {
        throw new UnsupportedOperationException("rate");
    }

    /** One callback that re-arms itself, for about {@code millis} ms: {@code ns} and {@code bytes} per call. */
    default Reading callbacks(long millis) throws Exception {
        throw new UnsupportedOperationException("callbacks");
    }

    /** Like {@link #callbacks}, each re-armed by way of the timer queue with a due time that has come. */
    default Reading timerCallbacks(long millis) throws Exception {
        throw new UnsupportedOperationException("timerCallbacks");
    }

    /** Three 30 ms timers beside ten hogs of 10 ms for {@code millis} ms: one sample in ms for each timer that fired. */
    default Reading timing(long millis) throws Exception {
        throw new UnsupportedOperationException("timing");
    }

    /** Wakes of the idle loop from another thread after 0.5 to 2 ms of quiet: one sample in µs each. */
    default Reading wake(int count) throws Exception {
        throw new UnsupportedOperationException("wake");
    }

    /** {@code tasks} tasks, each sleeping three times for 1 to 1,000 ms: {@code cpu_ns} per sleep, lateness in µs. */
    default Reading sleepers(int tasks) throws Exception {
        throw new UnsupportedOperationException("sleepers");
    }

    /** Heap {@code bytes} per task when {@code tasks} tasks sleep. */
    default Reading memory(int tasks) throws Exception {
        throw new UnsupportedOperationException("memory");
    }

    /** An echo server on the loopback interface, beside {@code hogs} tasks that block {@code hogMicros} µs each. */
    default Service echo(int hogs, long hogMicros) throws Exception {
        throw new UnsupportedOperationException("echo");
    }

    /** The same in a way that only some have: {@code plain} is the one above. */
    default Service echo(int hogs, long hogMicros, String mode) throws Exception {
        if (mode.equals("plain")) {
            return echo(hogs, hogMicros);
        }
        throw new UnsupportedOperationException("echo " + mode);
    }

    /** An HTTP/1.1 server on the loopback interface that answers {@code hello} to every request. */
    default Service http() throws Exception {
        throw new UnsupportedOperationException("http");
    }

    /** Anything that only this subject offers, by name. */
    default Reading special(String name, String[] arguments) throws Exception {
        throw new UnsupportedOperationException(name);
    }

    /** A server that runs until it is closed. */
    record Service(int port, AutoCloseable server) {}
}
