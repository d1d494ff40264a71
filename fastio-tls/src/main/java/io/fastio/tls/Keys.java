package io.fastio.tls;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** From key stores to a context. */
final class Keys {
    private Keys() {}

    /**
     * @param own certificates and keys to show, by server name if there are several; null: none
     * @param trusted certificates to believe in; null: those that come with the JDK
     */
    static SSLContext context(@Nullable KeyStore own, char @Nullable [] password, @Nullable KeyStore trusted)
            throws GeneralSecurityException {
        KeyManager[] keys = null;
        if (own != null) {
            KeyManagerFactory f = KeyManagerFactory.getInstance("PKIX"); // chooses by server name
            f.init(own, password);
            keys = f.getKeyManagers();
        }
        TrustManager[] trust = null;
        if (trusted != null) {
            TrustManagerFactory f = TrustManagerFactory.getInstance("PKIX");
            f.init(trusted);
            trust = f.getTrustManagers();
        }
        SSLContext c = SSLContext.getInstance("TLS");
        c.init(keys, trust, null);
        return c;
    }
}
