package io.fastio.tls;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * What clients and servers have in common.
 *
 * @param applicationProtocols for ALPN, the favourite first; empty: none
 * @param protocols versions of TLS; empty: the JDK's choice
 * @param ciphers cipher suites; empty: the JDK's choice
 * @param handshakeTime how long a handshake may take
 */
record Settings(
        SSLContext context,
        List<String> applicationProtocols,
        List<String> protocols,
        List<String> ciphers,
        Duration handshakeTime) {
    private static final Duration HANDSHAKE_TIME = Duration.ofSeconds(10);

    Settings {
        if (handshakeTime.isNegative() || handshakeTime.isZero()) {
            throw new IllegalArgumentException("handshakeTime must be positive: " + handshakeTime);
        }
    }

    static Settings of(SSLContext context) {
        return new Settings(context, List.of(), List.of(), List.of(), HANDSHAKE_TIME);
    }

    Settings withApplicationProtocols(List<String> names) {
        for (String name : names) {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes == 0 || bytes > 255) { // RFC 7301, 3.1
                throw new IllegalArgumentException("the name of an application protocol has 1 to 255 bytes: " + name);
            }
        }
        return new Settings(context, names, protocols, ciphers, handshakeTime);
    }

    Settings withProtocols(List<String> names) {
        requireSome("protocols", names);
        return new Settings(context, applicationProtocols, names, ciphers, handshakeTime);
    }

    Settings withCiphers(List<String> names) {
        requireSome("ciphers", names);
        return new Settings(context, applicationProtocols, protocols, names, handshakeTime);
    }

    Settings withHandshakeTime(Duration d) {
        return new Settings(context, applicationProtocols, protocols, ciphers, d);
    }

    private static void requireSome(String what, List<String> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException(what + " must name at least one");
        }
    }

    void applyTo(SSLParameters p) {
        if (!applicationProtocols.isEmpty()) {
            p.setApplicationProtocols(applicationProtocols.toArray(String[]::new));
        }
        if (!protocols.isEmpty()) {
            p.setProtocols(protocols.toArray(String[]::new));
        }
        if (!ciphers.isEmpty()) {
            p.setCipherSuites(ciphers.toArray(String[]::new));
        }
    }
}
