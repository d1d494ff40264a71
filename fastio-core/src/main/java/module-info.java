import org.jspecify.annotations.NullMarked;

/** fastio: asyncio for Java, with priorities. One loop thread runs tasks, which are virtual threads, one at a time. */
@NullMarked
module io.fastio.core {
    requires static org.jspecify;
    requires static jdk.unsupported;

    exports io.fastio;
    exports io.fastio.context;
    exports io.fastio.device;
    exports io.fastio.stream;
    exports io.fastio.sync;
    exports io.fastio.time;
}
