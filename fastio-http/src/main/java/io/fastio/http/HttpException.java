package io.fastio.http;

import java.io.IOException;

/**
 * An answer other than success, as an exception: thrown for requests that break the rules, and by handlers. The message
 * goes to the client.
 */
public final class HttpException extends IOException {
    private static final long serialVersionUID = 1;

    private final int status;

    /**
     * @param status 400 to 599
     * @param message what the client shall read
     */
    public HttpException(int status, String message) {
        super(message);
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException("no status of an error: " + status);
        }
        this.status = status;
    }

    /** 400 to 599. */
    public int status() {
        return status;
    }
}
