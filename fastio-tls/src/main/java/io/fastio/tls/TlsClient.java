package io.fastio.tls;

import io.fastio.stream.ConnectOptions;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * Speaks TLS as a client:
 *
 * <pre>{@code
 * Stream s = TlsClient.create().connect("example.org", 443);
 * }</pre>
 *
 * The server has to show a certificate that is valid now, that a trusted authority vouches for, and that names the host. Immutable;
 * any thread, but for {@code connect} and {@code upgrade}, which are for tasks and wait.
 */
public final class TlsClient {
    private final Settings settings;
    private final boolean verifiesHost;

    private TlsClient(Settings settings, boolean verifiesHost) {
        this.settings = settings;
        this.verifiesHost = verifiesHost;
    }

    /** Trusts the authorities that come with the JDK. */
    public static TlsClient create() {
        try {
            return create(SSLContext.getDefault());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("the JDK has no default for TLS", e);
        }
    }

    /** With a context of your own. */
    public static TlsClient create(SSLContext context) {
        return new TlsClient(Settings.of(Objects.requireNonNull(context, "context")), true);
    }

    /** Trusts those certificates, and what they vouch for, only. */
    public static TlsClient trusting(KeyStore trusted) throws GeneralSecurityException {
        return create(Keys.context(null, null, Objects.requireNonNull(trusted, "trusted")));
    }

    /**
     * Trusts those certificates only, and shows one of its own to a server that asks for it.
     *
     * @param own with a certificate and its key
     * @param password of the key
     */
    public static TlsClient trusting(KeyStore trusted, KeyStore own, char[] password) throws GeneralSecurityException {
        return create(
                Keys.context(Objects.requireNonNull(own, "own"), password, Objects.requireNonNull(trusted, "trusted")));
    }

    /** Offers those application protocols (ALPN), the favourite first. */
    public TlsClient applicationProtocols(String... names) {
        return new TlsClient(settings.withApplicationProtocols(List.of(names)), verifiesHost);
    }

    /** Speaks those versions of TLS only, such as {@code TLSv1.3}. */
    public TlsClient protocols(String... names) {
        return new TlsClient(settings.withProtocols(List.of(names)), verifiesHost);
    }

    /** Speaks those cipher suites only, under the JDK's names. */
    public TlsClient ciphers(String... names) {
        return new TlsClient(settings.withCiphers(List.of(names)), verifiesHost);
    }

    /** How long a handshake may take; positive, default 10 s. */
    public TlsClient handshakeTime(Duration d) {
        return new TlsClient(settings.withHandshakeTime(d), verifiesHost);
    }

    /**
     * Does not look whether the certificate names the host. For devices that are known by their certificate alone, which has
     * to be trusted still.
     */
    public TlsClient withoutHostCheck() {
        return new TlsClient(settings, false);
    }

    /** Connects to a port and shakes hands; see {@link #connect(String, int, ConnectOptions)}. */
    public Stream connect(String host, int port) throws IOException {
        return connect(host, port, ConnectOptions.defaults());
    }

    /**
     * Connects to a port and shakes hands. Waits; a cancel closes the connection.
     *
     * @throws IOException if there is no connection
     * @throws javax.net.ssl.SSLException if the handshake fails, or takes too long
     */
    public Stream connect(String host, int port, ConnectOptions options) throws IOException {
        return upgrade(Streams.openConnection(host, port, options), host, port);
    }

    /** {@link #upgrade(Stream, String, int)} with a port that is not known. */
    public Stream upgrade(Stream stream, String host) throws IOException {
        return upgrade(stream, host, -1);
    }

    /**
     * Goes on with TLS on a live stream, as after a {@code STARTTLS}. From then on the result is used in its place, and closes it.
     * If this fails, the stream is closed. Bytes that the stream has received already count as TLS. Waits.
     *
     * @param host whom the server's certificate has to name, and who is asked for (SNI)
     * @param port of the server, for the resumption of sessions; -1: not known
     * @throws javax.net.ssl.SSLException if the handshake fails, or takes too long
     */
    public Stream upgrade(Stream stream, String host, int port) throws IOException {
        SSLEngine engine = settings.context().createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters p = engine.getSSLParameters();
        settings.applyTo(p);
        SNIHostName name = sniName(host);
        if (name != null) {
            p.setServerNames(List.of(name));
        }
        if (verifiesHost) {
            p.setEndpointIdentificationAlgorithm("HTTPS");
        }
        engine.setSSLParameters(p);
        return Handshake.upgrade(stream, engine, settings.handshakeTime(), host);
    }

    /** Addresses are not asked for by name (RFC 6066, 3). */
    private static @Nullable SNIHostName sniName(String host) {
        if (host.indexOf(':') >= 0 || host.matches("[0-9.]+")) {
            return null;
        }
        try {
            return new SNIHostName(host.endsWith(".") ? host.substring(0, host.length() - 1) : host);
        } catch (IllegalArgumentException e) {
            return null; // no name that DNS could hold; the certificate will tell
        }
    }
}
