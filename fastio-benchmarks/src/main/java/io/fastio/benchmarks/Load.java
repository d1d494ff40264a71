package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Reading;

/** What keeps a server busy. */
interface Load {
    /** Drives the server until the time is over: {@code rps}, {@code errors}, latencies in µs, and what else it knows. */
    Reading drive(Context context, int port, long serverPid) throws Exception;

    /** The same for another time, in ms, before the first measurement. */
    Load lasting(long millis);
}
