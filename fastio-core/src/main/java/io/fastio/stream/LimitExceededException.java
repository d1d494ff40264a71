package io.fastio.stream;

import java.io.IOException;

/**
 * No separator within the limit (asyncio's {@code LimitOverrunError}). Nothing was consumed: the stream can be read on by
 * other means, or with a larger limit.
 */
public final class LimitExceededException extends IOException {
    private static final long serialVersionUID = 1;

    LimitExceededException(int limit) {
        super("no separator within the limit of " + limit + " bytes");
    }
}
