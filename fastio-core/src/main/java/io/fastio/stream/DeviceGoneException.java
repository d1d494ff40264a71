package io.fastio.stream;

import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The device has been taken away: unplugged, or its other end was closed. Thrown by a {@link Device}; the stream throws it
 * once, to whoever finds out first, and closes itself, so that everybody else, and every later call, gets a {@link
 * java.nio.channels.ClosedChannelException} (F83).
 */
public final class DeviceGoneException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** The device of that name is gone. */
    public DeviceGoneException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
