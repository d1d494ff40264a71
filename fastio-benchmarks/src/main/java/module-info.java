import org.jspecify.annotations.NullMarked;

/** The scenario benchmarks behind {@code ./fastio bench}. */
@NullMarked
module io.fastio.benchmarks {
    requires io.fastio.core;
    requires info.picocli;
    requires HdrHistogram;
    requires static org.jspecify;
}
