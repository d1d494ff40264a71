package io.fastio.stream;

import java.io.EOFException;

/** The stream ended before all of what was asked for had come (asyncio's {@code IncompleteReadError}). */
public final class IncompleteReadException extends EOFException {
    private static final long serialVersionUID = 1;

    private final byte[] partial;

    IncompleteReadException(byte[] partial, String wanted) {
        super("the stream ended after " + partial.length + " bytes, before " + wanted);
        this.partial = partial;
    }

    /** The bytes that did come; they are consumed. */
    public byte[] partial() {
        return partial.clone();
    }
}
