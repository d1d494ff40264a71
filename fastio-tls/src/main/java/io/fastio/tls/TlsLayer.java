package io.fastio.tls;

import io.fastio.stream.Below;
import io.fastio.stream.Layer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A TLS session behind its handshake.
 *
 * <p>Up to four records are decrypted by one read and encrypted by one write, straight from and into the caller's array where
 * that has room; buffers are held only while there is something in them.
 *
 * <p>Of what a write has encrypted, bytes count as written when the records they are in were sent. If the connection takes
 * only a part, those are {@link #owed}: the stream offers the same bytes again, and then they count without being encrypted
 * a second time.
 *
 * <p>Renegotiation is refused: TLS 1.3 has none, and in TLS 1.2 it is a way to have the server compute for nothing. For the same
 * reason a peer may not change its keys again and again without sending data, nor without taking the answers.
 */
final class TlsLayer implements Layer {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Messages of the protocol itself, such as changes of keys, that a peer may send without data between. */
    private static final int MOST_MESSAGES = 64;

    private final Below below;
    private final SSLEngine engine;
    private final TlsInfo info;
    private final Buffers buffers = Buffers.LOCAL.get();
    private final boolean tls13;

    // ---- reading: between position and limit is what was received, or decrypted, and not used yet
    private @Nullable ByteBuffer received;
    private @Nullable ByteBuffer decrypted;
    private final ByteBuffer[] both = {NOTHING, NOTHING};
    private boolean needsMore = true;
    private boolean ended;
    private int messages;

    // ---- writing: between position and limit is what is to be sent
    private @Nullable ByteBuffer encrypted;
    private int owed;
    private boolean closed;

    /** @param rest what was received behind the handshake */
    TlsLayer(Below below, SSLEngine engine, ByteBuffer rest, TlsInfo info) {
        this.below = below;
        this.engine = engine;
        this.info = info;
        this.tls13 = info.session().getProtocol().equals("TLSv1.3");
        if (rest.hasRemaining()) {
            received = buffers.take().put(rest).flip();
            needsMore = false;
        }
    }

    // =========================================================== reading

    @Override
    public boolean isReadable() {
        return decrypted != null || ended || received != null && !needsMore;
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        if (decrypted != null) {
            return takeDecrypted(dst);
        }
        int total = 0;
        while (!ended && dst.hasRemaining()) {
            if (needsMore) {
                if (total > 0) {
                    break;
                }
                int n = receive();
                if (n == 0) {
                    return 0;
                }
                if (n < 0) {
                    throw truncated();
                }
            }
            total += unwrap(dst);
            if (decrypted != null) {
                break;
            }
        }
        return total > 0 || !ended ? total : -1;
    }

    private TlsTruncatedException truncated() {
        return new TlsTruncatedException("the connection ended, but not the TLS session: it may have been cut off");
    }

    private int receive() throws IOException {
        ByteBuffer r = received;
        if (r == null) {
            r = buffers.take();
            received = r;
        } else {
            r.compact();
        }
        int n;
        try {
            n = below.read(r);
        } finally {
            r.flip();
            releaseReceived();
        }
        needsMore = n <= 0;
        return n;
    }

    private void releaseReceived() {
        ByteBuffer r = received;
        if (r != null && !r.hasRemaining()) {
            received = null;
            buffers.giveBack(r);
        }
    }

    /** Decrypts a record into {@code dst}, and what that has no room for into a buffer of ours. */
    private int unwrap(ByteBuffer dst) throws IOException {
        ByteBuffer r = received;
        if (r == null) {
            needsMore = true;
            return 0;
        }
        ByteBuffer rest = buffers.take();
        int before = dst.position();
        try {
            SSLEngineResult.Status s;
            if (dst.isDirect()) { // of which the ciphers would make an array of their own
                s = unwrapInto(r, rest);
            } else {
                both[0] = dst;
                both[1] = rest;
                s = unwrapInto(r, both);
            }
            if (s == SSLEngineResult.Status.BUFFER_OVERFLOW) {
                throw refusal("a record is larger than TLS allows");
            }
        } finally {
            both[0] = NOTHING;
            both[1] = NOTHING;
            rest.flip();
            if (rest.hasRemaining()) {
                decrypted = rest;
            } else {
                buffers.giveBack(rest);
            }
        }
        int n = dst.position() - before;
        return n + takeDecrypted(dst);
    }

    private int takeDecrypted(ByteBuffer dst) {
        ByteBuffer d = decrypted;
        if (d == null) {
            return 0;
        }
        int n = Math.min(d.remaining(), dst.remaining());
        dst.put(dst.position(), d, d.position(), n);
        dst.position(dst.position() + n);
        d.position(d.position() + n);
        if (!d.hasRemaining()) {
            decrypted = null;
            buffers.giveBack(d);
        }
        return n;
    }

    private SSLEngineResult.Status unwrapInto(ByteBuffer from, ByteBuffer... dst) throws IOException {
        SSLEngineResult r;
        try {
            r = engine.unwrap(from, dst);
            switch (r.getStatus()) {
                case OK -> afterwards(r);
                case BUFFER_UNDERFLOW -> needsMore = true;
                case BUFFER_OVERFLOW -> {
                    // The caller finds a larger one.
                }
                case CLOSED -> ended = true;
            }
        } catch (SSLException e) {
            sayWhy();
            throw e;
        }
        if (!from.hasRemaining()) {
            needsMore = true;
            releaseReceived();
        }
        return r.getStatus();
    }

    /** What the engine wants besides: to answer a change of keys, say. */
    private void afterwards(SSLEngineResult r) throws IOException {
        if (r.bytesProduced() > 0) {
            messages = 0;
        } else if (r.bytesConsumed() > 0 && ++messages > MOST_MESSAGES) {
            throw refusal("more than " + MOST_MESSAGES + " messages of TLS without data");
        }
        HandshakeStatus s = r.getHandshakeStatus();
        while (s != HandshakeStatus.NOT_HANDSHAKING && s != HandshakeStatus.FINISHED && !engine.isOutboundDone()) {
            if (!tls13) {
                throw refusal("renegotiation is refused");
            }
            switch (s) {
                case NEED_TASK -> {
                    for (Runnable t = engine.getDelegatedTask(); t != null; t = engine.getDelegatedTask()) {
                        t.run();
                    }
                }
                case NEED_WRAP -> {
                    if (wrapMessage() == 0) {
                        return;
                    }
                }
                default -> {
                    return;
                }
            }
            s = engine.getHandshakeStatus();
        }
    }

    // =========================================================== writing

    @Override
    public int write(ByteBuffer src) throws IOException {
        if (!flush()) {
            return 0;
        }
        if (owed > 0) {
            int n = Math.min(owed, src.remaining());
            src.position(src.position() + n);
            owed -= n;
            return n;
        }
        int total = 0;
        while (src.hasRemaining()) {
            int start = src.position();
            encrypt(src);
            int n = src.position() - start;
            if (!flush()) {
                src.position(start);
                owed = n;
                return total;
            }
            total += n;
        }
        return total;
    }

    /** Encrypts as much as there is a buffer for. */
    private void encrypt(ByteBuffer src) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        ByteBuffer to = buffers.take();
        encrypted = to;
        int packet = engine.getSession().getPacketBufferSize();
        try {
            do {
                SSLEngineResult r = engine.wrap(src, to);
                if (r.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
                    break;
                }
                if (r.getStatus() == SSLEngineResult.Status.CLOSED) {
                    closed = true;
                    throw new ClosedChannelException();
                }
            } while (src.hasRemaining() && to.remaining() >= packet);
        } finally {
            to.flip();
        }
    }

    @Override
    public boolean flush() throws IOException {
        ByteBuffer e = encrypted;
        if (e == null) {
            return true;
        }
        if (e.hasRemaining()) {
            below.write(e);
        }
        if (e.hasRemaining()) {
            return false;
        }
        encrypted = null;
        buffers.giveBack(e);
        return true;
    }

    /** Appends a message of the engine's own to what is to be sent; the bytes of it. */
    private int wrapMessage() throws SSLException {
        ByteBuffer to = encrypted;
        if (to == null) {
            to = buffers.take();
        } else {
            to.compact();
            if (to.remaining() < engine.getSession().getPacketBufferSize()) {
                if (to.capacity() > Buffers.SIZE) {
                    throw refusal("the other side takes no answers to its messages of TLS");
                }
                ByteBuffer larger = ByteBuffer.allocate(2 * to.capacity()).put(to.flip());
                buffers.giveBack(to);
                to = larger;
            }
        }
        encrypted = to;
        try {
            return engine.wrap(NOTHING, to).bytesProduced();
        } finally {
            to.flip();
        }
    }

    // =========================================================== ending

    @Override
    public boolean canHalfClose() {
        return true;
    }

    @Override
    public void writeEof() throws IOException {
        if (!closed) {
            closed = true;
            engine.closeOutbound();
            while (!engine.isOutboundDone() && wrapMessage() > 0) {
                // One message, as a rule.
            }
        }
    }

    /**
     * We refuse what the engine would go on with: it has no alert to send then, and an end of the session would tell the peer that
     * all is well. So the connection ends without one.
     */
    private SSLException refusal(String why) {
        closed = true;
        return new SSLException(why);
    }

    /** The session is broken: the alert that the engine has made of it, as far as it can be sent at once. */
    private void sayWhy() {
        try {
            writeEof();
            flush();
        } catch (IOException e) {
            // The peer will not hear why; the caller does.
            System.getLogger("io.fastio.tls").log(System.Logger.Level.TRACE, "alert not delivered", e);
        }
    }

    @Override
    public @Nullable ByteBuffer close() {
        try {
            writeEof();
        } catch (IOException e) {
            // A session that cannot even end has nothing more to say.
            System.getLogger("io.fastio.tls").log(System.Logger.Level.TRACE, "end of session not sent", e);
        }
        ByteBuffer r = received;
        received = null;
        if (r != null) {
            buffers.giveBack(r);
        }
        decrypted = null;
        needsMore = true;
        ByteBuffer last = encrypted;
        encrypted = null;
        return last;
    }

    @Override
    public @Nullable Object info(String name) {
        return name.equals("tls") ? info : null;
    }
}
