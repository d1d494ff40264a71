package io.fastio.tls;

import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * What was agreed on; {@code getExtraInfo("tls")} of a stream with TLS.
 *
 * @param session protocol, cipher suite, certificates
 * @param applicationProtocol chosen by ALPN; null if there was none
 * @param serverName the host that the client asked for (SNI); null if it did not say
 */
public record TlsInfo(
        SSLSession session,
        @Nullable String applicationProtocol,
        @Nullable String serverName) {
    /** The other side's certificates, its own first; empty if it has shown none. */
    public List<Certificate> peerCertificates() {
        try {
            return List.of(session.getPeerCertificates());
        } catch (SSLPeerUnverifiedException e) {
            return List.of(); // a client that was not asked for one
        }
    }
}
