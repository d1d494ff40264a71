import org.jspecify.annotations.NullMarked;

/** Serial ports as streams of a loop. */
@NullMarked
module io.fastio.serial {
    requires transitive io.fastio.core;
    requires static org.jspecify;
    requires com.fazecast.jSerialComm;

    exports io.fastio.serial;
}
