import org.jspecify.annotations.NullMarked;

/** TLS over any stream, by the JDK's {@code SSLEngine}. */
@NullMarked
module io.fastio.tls {
    requires transitive io.fastio.core;
    requires static org.jspecify;

    exports io.fastio.tls;
}
