import org.jspecify.annotations.NullMarked;

/** fastio: asyncio for Java, with priorities. One loop thread runs tasks, which are virtual threads, one at a time. */
@NullMarked
@SuppressWarnings("module") // the modules that io.fastio.poll is open to are built later
module io.fastio.core {
    requires static org.jspecify;
    requires static jdk.unsupported;

    exports io.fastio;
    exports io.fastio.context;
    exports io.fastio.device;
    exports io.fastio.poll to
            io.fastio.gpio,
            io.fastio.serial;
    exports io.fastio.stream;
    exports io.fastio.sync;
    exports io.fastio.time;
}
