package io.fastio.tls;

import io.fastio.Asyncio;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The handshake, in the task that wants it. What the engine has to compute for it, signatures and paths of certificates above all, takes
 * milliseconds: a platform thread does that, so the loop goes on.
 */
final class Handshake {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** How long a failed handshake waits for the peer to read why. */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private static final int MOST_DISCARDED = 256 * 1024;

    private final Stream stream;
    private final SSLEngine engine;
    private final ByteBuffer in = ByteBuffer.allocate(Buffers.SIZE).flip();
    private ByteBuffer out = ByteBuffer.allocate(Buffers.SIZE);

    private Handshake(Stream stream, SSLEngine engine) {
        this.stream = stream;
        this.engine = engine;
    }

    static Stream upgrade(Stream stream, SSLEngine engine, Duration limit, @Nullable String host) throws IOException {
        Handshake h = new Handshake(stream, engine);
        boolean done = false;
        try {
            h.within(limit);
            h.checkValidity();
            TlsInfo info = h.info(host);
            Stream secured = Streams.layered(stream, below -> new TlsLayer(below, engine, h.in, info));
            done = true;
            return secured;
        } finally {
            if (!done) {
                stream.close();
            }
        }
    }

    private void within(Duration limit) throws IOException {
        try {
            Asyncio.waitFor(this::run, limit);
        } catch (TimeoutException e) {
            SSLHandshakeException late = new SSLHandshakeException(
                    "no TLS handshake with " + stream.name() + " within " + limit.toMillis() + " ms");
            late.initCause(e);
            throw late;
        } catch (SSLException e) {
            sayWhy();
            throw e;
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private void run() throws Exception {
        engine.beginHandshake();
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case FINISHED, NOT_HANDSHAKING -> {
                    stream.flush();
                    return;
                }
                case NEED_TASK -> compute();
                case NEED_WRAP -> wrap();
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> unwrap();
            }
        }
    }

    private void compute() throws Exception {
        Asyncio.offload(() -> {
            for (Runnable r = engine.getDelegatedTask(); r != null; r = engine.getDelegatedTask()) {
                r.run();
            }
            return true;
        });
    }

    private void wrap() throws IOException {
        SSLEngineResult r = engine.wrap(NOTHING, out);
        switch (r.getStatus()) {
            case OK -> {
                if (engine.getHandshakeStatus() != HandshakeStatus.NEED_WRAP || out.position() > out.capacity() / 2) {
                    send();
                }
            }
            case BUFFER_OVERFLOW -> {
                if (out.position() == 0) {
                    out = ByteBuffer.allocate(2 * out.capacity());
                }
                send();
            }
            case CLOSED, BUFFER_UNDERFLOW -> throw new SSLHandshakeException("the TLS session ended in its handshake");
        }
    }

    private void send() throws IOException {
        if (out.position() > 0) {
            stream.write(out.flip());
            out.clear();
            stream.drain();
        }
    }

    private void unwrap() throws IOException {
        send();
        if (engine.getHandshakeStatus() == HandshakeStatus.NEED_UNWRAP && !in.hasRemaining()) {
            receive();
        }
        SSLEngineResult r = engine.unwrap(in, NOTHING);
        switch (r.getStatus()) {
            case OK -> {
                // The handshake's status says what is next.
            }
            case BUFFER_UNDERFLOW -> receive();
            case BUFFER_OVERFLOW -> throw new SSLHandshakeException("data within the TLS handshake");
            case CLOSED -> throw new SSLHandshakeException(stream.name() + " ended the TLS session in its handshake");
        }
    }

    private void receive() throws IOException {
        in.compact();
        try {
            if (!in.hasRemaining()) {
                throw new SSLHandshakeException("a record is larger than TLS allows");
            }
            if (stream.read(in) < 0) {
                SSLHandshakeException e =
                        new SSLHandshakeException(stream.name() + " closed the connection in the TLS handshake");
                e.initCause(new EOFException());
                throw e;
            }
        } finally {
            in.flip();
        }
    }

    /**
     * A certificate that is trusted by itself is believed whatever its dates are; but not by us. For the engine the handshake is
     * over then, so it has no alert to send: the connection ends without an end of the session, which the peer cannot take for
     * a good one.
     */
    private void checkValidity() throws SSLException {
        Certificate[] chain;
        try {
            chain = engine.getSession().getPeerCertificates();
        } catch (SSLPeerUnverifiedException e) {
            return; // none was asked for
        }
        if (chain[0] instanceof X509Certificate x) {
            try {
                x.checkValidity();
            } catch (CertificateException e) {
                SSLHandshakeException invalid =
                        new SSLHandshakeException("the certificate of " + stream.name() + " is not valid now");
                invalid.initCause(e);
                throw invalid;
            }
        }
    }

    /** Sends the alert that the engine has made of the failure, and gives the peer a moment to read it. */
    private void sayWhy() {
        try {
            out.clear();
            engine.closeOutbound();
            while (!engine.isOutboundDone()) {
                SSLEngineResult r = engine.wrap(NOTHING, out);
                if (r.getStatus() != SSLEngineResult.Status.OK || r.bytesProduced() == 0) {
                    break;
                }
            }
            send();
            stream.writeEof();
            Asyncio.waitFor(this::readToEnd, LINGER);
        } catch (TimeoutException | IOException e) {
            // The peer will not hear why; the caller does.
            System.getLogger("io.fastio.tls").log(System.Logger.Level.TRACE, "alert not delivered", e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void readToEnd() throws IOException {
        byte[] sink = new byte[4096];
        int most = MOST_DISCARDED;
        for (int n = 0; most > 0 && n >= 0; most -= n) {
            n = stream.readInto(sink);
        }
    }

    private TlsInfo info(@Nullable String host) {
        SSLSession session = engine.getSession();
        String protocol = engine.getApplicationProtocol();
        return new TlsInfo(
                session,
                protocol == null || protocol.isEmpty() ? null : protocol,
                host != null ? host : asked(session));
    }

    private static @Nullable String asked(SSLSession session) {
        if (session instanceof ExtendedSSLSession x) {
            for (SNIServerName name : x.getRequestedServerNames()) {
                if (name instanceof SNIHostName h) {
                    return h.getAsciiName();
                }
            }
        }
        return null;
    }
}
