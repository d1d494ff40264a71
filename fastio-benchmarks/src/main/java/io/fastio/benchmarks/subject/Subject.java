package io.fastio.benchmarks.subject;

/**
 * One contender, in a process of its own. It implements the roles it can play; a request for another one is answered with
 * "not supported" and the parent goes on without it. Requests come one at a time, on the child's main thread.
 */
interface Subject {
    /** How it is configured, one line for the report. */
    String config();

    interface Rate extends Subject {
        /** {@code tasks} tasks that only give way, for about {@code millis} ms: {@code ns} and {@code bytes} per switch. */
        Reading rate(int tasks, long millis) throws Exception;
    }

    interface Callbacks extends Subject {
        /** One callback that re-arms itself, for about {@code millis} ms: {@code ns} and {@code bytes} per call. */
        Reading callbacks(long millis) throws Exception;
    }

    interface TimerCallbacks extends Subject {
        /** Like {@link Callbacks}, each re-armed by way of the timer queue with a due time that has come. */
        Reading timerCallbacks(long millis) throws Exception;
    }

    interface Timing extends Subject {
        /** Three 30 ms timers beside ten hogs of 10 ms for {@code millis} ms: one sample in ms for each timer that fired. */
        Reading timing(long millis) throws Exception;
    }

    interface Wake extends Subject {
        /** Wakes of the idle loop from another thread after 0.5 to 2 ms of quiet: one sample in µs each. */
        Reading wake(int count) throws Exception;
    }

    interface Sleepers extends Subject {
        /** {@code tasks} tasks, each sleeping three times for 1 to 1,000 ms: {@code cpu_ns} per sleep, lateness in µs. */
        Reading sleepers(int tasks) throws Exception;
    }

    interface Memory extends Subject {
        /** Heap {@code bytes} per task when {@code tasks} tasks sleep. */
        Reading memory(int tasks) throws Exception;
    }

    interface Echo extends Subject {
        /** An echo server on the loopback interface, beside {@code hogs} tasks that block {@code hogMicros} µs each. */
        Service echo(int hogs, long hogMicros) throws Exception;
    }

    interface Http extends Subject {
        /** An HTTP/1.1 server on the loopback interface that answers {@code hello} to every request. */
        Service http() throws Exception;
    }

    interface SpinWake extends Subject {
        /** As {@link Wake}, of a loop that spins. */
        Reading spinWake(int count) throws Exception;
    }

    /** What only fastio offers. */
    interface Special extends Subject {
        /** An echo server as in {@link Echo} whose streams are URGENT and whose hogs, if wished, look around while they compute. */
        Service urgentEcho(int hogs, long hogMicros, boolean checkpoints) throws Exception;

        /** A program of its own, by name. */
        Reading special(String name, String[] arguments) throws Exception;
    }

    /** A server that runs until it is closed. */
    record Service(int port, AutoCloseable server) {}
}
