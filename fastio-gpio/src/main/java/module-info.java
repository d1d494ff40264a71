import org.jspecify.annotations.NullMarked;

/** Pins of the kernel and of Pi4J, and what is built on pins: switches, buttons, encoders, key matrices. */
@NullMarked
module io.fastio.gpio {
    requires transitive io.fastio.core;
    requires static org.jspecify;
    requires static com.pi4j;

    exports io.fastio.gpio;
}
