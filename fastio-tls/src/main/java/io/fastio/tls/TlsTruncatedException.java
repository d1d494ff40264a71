package io.fastio.tls;

import javax.net.ssl.SSLException;

/**
 * The connection ended without the other side's word that this is the end ({@code close_notify}): something, or somebody, may
 * have cut it off. What came before was delivered.
 */
public final class TlsTruncatedException extends SSLException {
    private static final long serialVersionUID = 1;

    TlsTruncatedException(String message) {
        super(message);
    }
}
