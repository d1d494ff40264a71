package io.fastio.tls;

import io.fastio.stream.Server;
import io.fastio.stream.ServerOptions;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Predicate;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.StandardConstants;
import org.jspecify.annotations.Nullable;

/**
 * Speaks TLS as a server:
 *
 * <pre>{@code
 * TlsServer tls = TlsServer.showing(keyStore, password);
 * Server s = tls.startServer((reader, writer) -> ..., "localhost", 8443);
 * }</pre>
 *
 * Immutable; any thread, but for {@code startServer} and {@code upgrade}, which are for tasks.
 */
public final class TlsServer {
    private final Settings settings;
    private final ClientCertificate clients;
    private final @Nullable Predicate<String> names;

    /** Whether clients have to show a certificate. */
    public enum ClientCertificate {
        /** They are not asked. */
        NONE,
        /** They are asked, and may have none; one that is not trusted ends the handshake. */
        WANTED,
        /** They have to. */
        NEEDED
    }

    private TlsServer(Settings settings, ClientCertificate clients, @Nullable Predicate<String> names) {
        this.settings = settings;
        this.clients = clients;
        this.names = names;
    }

    /** With a context of your own. */
    public static TlsServer create(SSLContext context) {
        return new TlsServer(Settings.of(Objects.requireNonNull(context, "context")), ClientCertificate.NONE, null);
    }

    /**
     * Shows a certificate of that store: of several, the one that names the host asked for.
     *
     * @param password of the keys
     */
    public static TlsServer showing(KeyStore own, char[] password) throws GeneralSecurityException {
        return create(Keys.context(Objects.requireNonNull(own, "own"), password, null));
    }

    /**
     * As {@link #showing}, and clients need a certificate that one of {@code trusted} vouches for.
     */
    public static TlsServer showing(KeyStore own, char[] password, KeyStore trusted) throws GeneralSecurityException {
        SSLContext c =
                Keys.context(Objects.requireNonNull(own, "own"), password, Objects.requireNonNull(trusted, "trusted"));
        return create(c).clientCertificate(ClientCertificate.NEEDED);
    }

    /** Whether clients have to show a certificate; default NONE. */
    public TlsServer clientCertificate(ClientCertificate wanted) {
        return new TlsServer(settings, Objects.requireNonNull(wanted, "wanted"), names);
    }

    /**
     * Serves clients that ask for one of certain hosts; the others are refused. Clients that ask for none are served.
     *
     * @param served called on a foreign thread, with the name in lower case
     */
    public TlsServer onlyFor(Predicate<String> served) {
        return new TlsServer(settings, clients, Objects.requireNonNull(served, "served"));
    }

    /** Speaks those application protocols (ALPN), the favourite first; a client that offers only others is refused. */
    public TlsServer applicationProtocols(String... protocolNames) {
        return new TlsServer(settings.withApplicationProtocols(List.of(protocolNames)), clients, names);
    }

    /** Speaks those versions of TLS only, such as {@code TLSv1.3}. */
    public TlsServer protocols(String... protocolNames) {
        return new TlsServer(settings.withProtocols(List.of(protocolNames)), clients, names);
    }

    /** Speaks those cipher suites only, under the JDK's names. */
    public TlsServer ciphers(String... cipherNames) {
        return new TlsServer(settings.withCiphers(List.of(cipherNames)), clients, names);
    }

    /** How long a handshake may take; positive, default 10 s. */
    public TlsServer handshakeTime(Duration d) {
        return new TlsServer(settings.withHandshakeTime(d), clients, names);
    }

    /** Listens with the default options; see {@link #startServer(Server.Handler, String, int, ServerOptions)}. */
    public Server startServer(Server.Handler onConnect, @Nullable String host, int port) throws IOException {
        return startServer(onConnect, host, port, ServerOptions.defaults());
    }

    /**
     * As {@link Streams#startServer}, with TLS: the handler is called behind the handshake. A client whose handshake fails gets an
     * alert and the end of its connection; that is not reported.
     */
    public Server startServer(Server.Handler onConnect, @Nullable String host, int port, ServerOptions options)
            throws IOException {
        return Streams.startServer(handler(onConnect), host, port, options);
    }

    /** The same for any {@link Server}: a handler that shakes hands and then calls {@code onConnect}. */
    public Server.Handler handler(Server.Handler onConnect) {
        Objects.requireNonNull(onConnect, "onConnect");
        return (reader, writer) -> {
            Stream s;
            try {
                s = upgrade((Stream) reader);
            } catch (IOException e) {
                System.getLogger("io.fastio.tls")
                        .log(System.Logger.Level.DEBUG, () -> "no TLS with " + reader + ": " + e.getMessage());
                return;
            }
            try {
                onConnect.handle(s, s);
            } finally {
                s.close();
                s.waitClosed();
            }
        };
    }

    /**
     * Goes on with TLS on a live stream: one just accepted, or one behind a {@code STARTTLS}. From then on the result is used in its
     * place, and closes it. If this fails, the stream is closed. Bytes that the stream has received already count as TLS:
     * so nothing that was sent in the clear is ever taken for protected. Waits.
     *
     * @throws javax.net.ssl.SSLException if the handshake fails, or takes too long
     */
    public Stream upgrade(Stream stream) throws IOException {
        SSLEngine engine = settings.context().createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters p = engine.getSSLParameters();
        settings.applyTo(p);
        switch (clients) {
            case NONE -> p.setNeedClientAuth(false);
            case WANTED -> p.setWantClientAuth(true);
            case NEEDED -> p.setNeedClientAuth(true);
        }
        Predicate<String> only = names;
        if (only != null) {
            p.setSNIMatchers(List.of(new Matcher(only)));
        }
        engine.setSSLParameters(p);
        return Handshake.upgrade(stream, engine, settings.handshakeTime(), null);
    }

    private static final class Matcher extends SNIMatcher {
        private final Predicate<String> served;

        Matcher(Predicate<String> served) {
            super(StandardConstants.SNI_HOST_NAME);
            this.served = served;
        }

        @Override
        public boolean matches(SNIServerName name) {
            try {
                return served.test(
                        new SNIHostName(name.getEncoded()).getAsciiName().toLowerCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                return false; // not a host name
            }
        }
    }
}
