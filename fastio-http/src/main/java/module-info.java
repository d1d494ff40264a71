import org.jspecify.annotations.NullMarked;

/** A small HTTP/1.1 and WebSocket server on the streams of a loop. */
@NullMarked
module io.fastio.http {
    requires transitive io.fastio.core;
    requires static org.jspecify;

    exports io.fastio.http;
}
