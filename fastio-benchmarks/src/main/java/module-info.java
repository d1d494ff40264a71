import org.jspecify.annotations.NullMarked;

/** The scenario benchmarks behind {@code ./fastio bench}. Meant to run from the class path, as its child processes do. */
@NullMarked
module io.fastio.benchmarks {
    requires io.fastio.core;
    requires io.fastio.http;
    requires io.fastio.tls;
    requires java.desktop;
    requires java.management;
    requires jdk.httpserver;
    requires jdk.management;
    requires info.picocli;
    requires com.fasterxml.jackson.core;
    requires org.jfree.jfreechart;
    requires org.jfree.svg;
    requires HdrHistogram;
    requires io.netty.buffer;
    requires io.netty.codec.http;
    requires io.netty.common;
    requires io.netty.transport;
    requires io.netty.transport.classes.epoll;
    requires io.netty.transport.classes.io_uring;
    requires io.vertx.core;
    requires jmh.core;
    requires kotlin.stdlib;
    requires kotlinx.coroutines.core;
    requires static org.jspecify;

    opens io.fastio.benchmarks to
            info.picocli;
}
