package io.fastio.http;

import java.io.IOException;

/**
 * The other side broke the rules of RFC 6455, or a limit, and was told so with {@link #code()}; or it has closed while something was
 * to be sent. A handler may let it pass: the connection ends, and nothing is reported.
 */
public final class WebSocketException extends IOException {
    private static final long serialVersionUID = 1;

    private final int code;

    WebSocketException(int code, String message) {
        super(message);
        this.code = code;
    }

    /** The code that the other side was told: 1002 protocol, 1007 not UTF-8, 1009 too large; or that it closed with. */
    public int code() {
        return code;
    }
}
