import org.jspecify.annotations.NullMarked;

/** The commands behind {@code ./fastio}. */
@NullMarked
module io.fastio.tools {
    requires io.fastio.core;
    requires info.picocli;
    requires java.management;
    requires static org.jspecify;

    opens io.fastio.tools to
            info.picocli;
    opens io.fastio.tools.demo to
            info.picocli;
}
