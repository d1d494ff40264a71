package io.fastio.http;

import io.fastio.Wait;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The server's end of a WebSocket (RFC 6455), in the handler that accepted it:
 *
 * <pre>{@code
 * WebSocket ws = WebSocket.accept(request, response);
 * for (WebSocket.Message m = ws.receive(); m != null; m = ws.receive()) {
 *     ws.send("you said " + m.text());
 * }
 * }</pre>
 *
 * One task receives; any task of the loop may send, and each message stays in one piece. Pings are answered by {@link #receive}. When
 * the handler returns, the WebSocket is closed. Extensions are not spoken. A browser lets every page open a WebSocket to anywhere:
 * whoever goes by cookies has to look at the {@code Origin} first.
 */
public final class WebSocket {
    private static final String MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final int CONTINUATION = 0;
    private static final int TEXT = 1;
    private static final int BINARY = 2;
    private static final int CLOSE = 8;
    private static final int PING = 9;
    private static final int PONG = 10;
    private static final int FINAL = 0x80;
    private static final int LARGEST_CONTROL = 125;
    private static final int MASK = 4;
    private static final int DEFAULT_LIMIT = 1 << 20;
    private static final byte[] NOTHING = {};

    private final Connection connection;
    private final byte[] in = new byte[4096];
    private int position;
    private int limit;
    private int maxMessageBytes = DEFAULT_LIMIT;
    private byte[] message = NOTHING;
    private int messageLength;
    private int messageKind;

    // The frame that is being received: its head, and how much of its payload has come.
    private final byte[] head = new byte[2 + 8 + MASK];
    private int headLength;
    private boolean inPayload;
    private int payloadLength;
    private int payloadDone;
    private byte[] control = NOTHING;

    private boolean closeSent;

    /** What the other side did wrong; it is told so by a close. */
    private @Nullable WebSocketException violation;

    private boolean ended;
    private int closeCode = 1006;
    private String closeReason = "";

    /** A message, whole. */
    public static final class Message {
        private final byte[] bytes;
        private final boolean text;

        private Message(byte[] bytes, boolean text) {
            this.bytes = bytes;
            this.text = text;
        }

        /** Whether it was sent as a text. */
        public boolean isText() {
            return text;
        }

        /** Its bytes: those of the text in UTF-8, if it is one. */
        public byte[] bytes() {
            return bytes;
        }

        /** Its bytes as UTF-8; of a text, they are. */
        public String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return text ? text() : bytes.length + " bytes";
        }
    }

    private WebSocket(Connection connection) {
        this.connection = connection;
    }

    /** Whether the request asks for a WebSocket. */
    public static boolean isWanted(HttpRequest request) {
        return request.method().equals("GET")
                && hasToken(request, "Upgrade", "websocket")
                && hasToken(request, "Connection", "upgrade");
    }

    /** {@link #accept(HttpRequest, HttpResponse, String)} without a subprotocol. */
    public static WebSocket accept(HttpRequest request, HttpResponse response) throws IOException {
        return accept(request, response, null);
    }

    /**
     * Makes a WebSocket of the connection. Call it before anything is sent; waits if the client is slow.
     *
     * @param subprotocol one of those that the client offers by {@code Sec-WebSocket-Protocol}; null: none
     * @throws HttpException 400 or 426, if the request does not ask for a WebSocket as RFC 6455 wants it
     */
    public static WebSocket accept(HttpRequest request, HttpResponse response, @Nullable String subprotocol)
            throws IOException {
        if (!isWanted(request) || !request.isHttp11() || request.hasBody()) {
            throw new HttpException(400, "not a request for a WebSocket");
        }
        if (!"13".equals(request.header("Sec-WebSocket-Version"))) {
            throw new HttpException(426, "only version 13 is spoken here");
        }
        String key = request.header("Sec-WebSocket-Key");
        if (key == null || request.headers("Sec-WebSocket-Key").size() != 1 || !isKey(key)) {
            throw new HttpException(400, "not the key of a WebSocket");
        }
        if (subprotocol != null && !hasExactToken(request, "Sec-WebSocket-Protocol", subprotocol)) {
            throw new IllegalArgumentException("the client does not offer the subprotocol " + subprotocol);
        }
        String fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + answerTo(key) + "\r\n";
        if (subprotocol != null) {
            fields += "Sec-WebSocket-Protocol: " + subprotocol + "\r\n";
        }
        response.switchProtocols(fields);
        WebSocket ws = new WebSocket(request.connection());
        request.connection().beforeTheEnd(ws::closeQuietly);
        return ws;
    }

    private static boolean isKey(String key) {
        try {
            return key.length() == 24 && Base64.getDecoder().decode(key).length == 16;
        } catch (IllegalArgumentException e) {
            return false; // not base64
        }
    }

    private static String answerTo(String key) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-1");
            return Base64.getEncoder().encodeToString(sha.digest((key + MAGIC).getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }

    private static boolean hasToken(HttpRequest request, String field, String token) {
        for (String value : request.headers(field)) {
            for (String t : value.split(",", -1)) {
                if (t.trim().toLowerCase(Locale.ROOT).equals(token)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean hasExactToken(HttpRequest request, String field, String token) {
        for (String value : request.headers(field)) {
            for (String t : value.split(",", -1)) {
                if (t.trim().equals(token)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Largest message that is received, in bytes, 1 or more: else the WebSocket ends with 1009. Default 1 MiB. */
    public WebSocket maxMessageBytes(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("maxMessageBytes must be positive: " + bytes);
        }
        maxMessageBytes = bytes;
        return this;
    }

    // =========================================================== receiving

    /**
     * Waits for the next message, and answers pings and the other side's close meanwhile. A cancel loses
     * nothing, within a message or a frame neither: the next call goes on where this one was.
     *
     * @return the message; null when the other side has closed, see {@link #closeCode()}
     * @throws WebSocketException if the other side broke the rules, and was told so; a handler may let it pass
     * @throws IOException if the connection broke
     */
    public @Nullable Message receive() throws IOException {
        while (!ended) {
            if (violation == null) {
                try {
                    Message m = receiveFrame();
                    if (m != null) {
                        return m;
                    }
                } catch (WebSocketException e) {
                    violation = e;
                }
            }
            WebSocketException v = violation;
            if (v != null) {
                sendClose(v.code(), String.valueOf(v.getMessage()));
                ended = true;
                throw v;
            }
        }
        return null;
    }

    /**
     * A frame, or the rest of it; the message, if it completes one. How far it has come stands in fields: a cancel may end
     * it in any wait for bytes, and the next call goes on there.
     */
    private @Nullable Message receiveFrame() throws IOException {
        if (!inPayload) {
            while (headLength < headSize()) {
                int b = next();
                if (b < 0 && headLength == 0) {
                    ended = true; // without a close: code 1006
                    return null;
                }
                head[headLength++] = (byte) within(b);
            }
            beginPayload();
        }
        receivePayload();
        if (kind() >= CLOSE) {
            Wait.beginAtOnce(); // C3: a pending cancel comes before the frame is taken; the next call then answers it
        }
        inPayload = false;
        headLength = 0;
        boolean last = (head[0] & FINAL) != 0;
        if (kind() >= CLOSE) {
            control(kind());
            return null;
        }
        if (!last) {
            return null;
        }
        byte[] whole = Arrays.copyOf(message, messageLength);
        boolean text = messageKind == TEXT;
        message = NOTHING;
        messageLength = 0;
        messageKind = CONTINUATION;
        if (text) {
            requireUtf8(whole, 0, whole.length);
        }
        return new Message(whole, text);
    }

    private int kind() {
        return head[0] & 15;
    }

    /** How long the head is, as far as one can tell from what has come of it. */
    private int headSize() throws WebSocketException {
        if (headLength < 2) {
            return 2;
        }
        if ((head[0] & 0x70) != 0) {
            throw broken("a reserved bit is set");
        }
        if ((head[1] & 0x80) == 0) {
            throw broken("a client's frame is not masked");
        }
        return 2 + lengthOctets() + MASK;
    }

    /** Bytes of the length, behind the first seven bits of it. */
    private int lengthOctets() {
        return switch (head[1] & 0x7f) {
            case 126 -> 2;
            case 127 -> 8;
            default -> 0;
        };
    }

    /** The head is complete: may it be so? */
    private void beginPayload() throws WebSocketException {
        int octets = lengthOctets();
        long length = octets == 0 ? head[1] & 0x7f : 0;
        for (int i = 0; i < octets; i++) {
            length = length << 8 | head[2 + i] & 0xff;
        }
        if (octets > 0 && (length < 0 || length <= (octets == 2 ? 125 : 0xffff))) {
            throw broken("a length is not in its shortest form");
        }
        int kind = kind();
        if (kind >= CLOSE) {
            if ((head[0] & FINAL) == 0 || length > LARGEST_CONTROL || kind > PONG) {
                throw broken("not a control frame");
            }
            control = new byte[(int) length];
        } else {
            boolean begins = kind != CONTINUATION;
            if (kind > BINARY) {
                throw broken("an unknown kind of frame: " + kind);
            }
            if (begins == (messageKind != CONTINUATION)) {
                throw broken(begins ? "a message begins within another" : "a continuation of nothing");
            }
            if (length > maxMessageBytes - messageLength) {
                throw new WebSocketException(1009, "a message is larger than " + maxMessageBytes + " bytes");
            }
            if (begins) {
                messageKind = kind;
            }
        }
        payloadLength = (int) length;
        payloadDone = 0;
        inPayload = true;
    }

    private void receivePayload() throws IOException {
        boolean ofMessage = kind() < CLOSE;
        while (payloadDone < payloadLength) {
            fill();
            int k = Math.min(payloadLength - payloadDone, limit - position);
            if (ofMessage) {
                // What is announced is not reserved: memory grows with what has come.
                if (message.length - messageLength < k) {
                    message = Arrays.copyOf(
                            message, Math.max(messageLength + k, Math.min(2 * message.length, maxMessageBytes)));
                }
                unmask(message, messageLength, k);
                messageLength += k;
            } else {
                unmask(control, payloadDone, k);
            }
            payloadDone += k;
        }
    }

    private void control(int kind) throws IOException {
        switch (kind) {
            case PING -> {
                if (!closeSent) { // behind a close nothing is sent, not even this
                    sendFrame(PONG, control, 0, control.length);
                }
            }
            case CLOSE -> closed(control);
            default -> {
                // A pong needs no answer.
            }
        }
    }

    private void closed(byte[] payload) throws IOException {
        if (payload.length == 1) {
            throw broken("a close with half a code");
        }
        int code = 1005;
        if (payload.length >= 2) {
            code = (payload[0] & 0xff) << 8 | payload[1] & 0xff;
            if (!isSent(code)) {
                throw broken("not a code to close with: " + code);
            }
            requireUtf8(payload, 2, payload.length - 2);
            closeReason = new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
        }
        closeCode = code;
        ended = true;
        sendClose(code == 1005 ? 1000 : code, "");
    }

    /** Whether a close with that code may be on the wire: RFC 6455, 7.4, and what was registered since. */
    private static boolean isSent(int code) {
        return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006
                || code >= 3000 && code <= 4999;
    }

    private static WebSocketException broken(String why) {
        return new WebSocketException(1002, why);
    }

    private static void requireUtf8(byte[] b, int from, int n) throws WebSocketException {
        try {
            StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(b, from, n));
        } catch (CharacterCodingException e) {
            WebSocketException notUtf8 = new WebSocketException(1007, "a text is not UTF-8");
            notUtf8.initCause(e);
            throw notUtf8;
        }
    }

    private void unmask(byte[] to, int offset, int n) {
        int mask = 2 + lengthOctets();
        for (int i = 0; i < n; i++) {
            to[offset + i] = (byte) (in[position + i] ^ head[mask + (payloadDone + i & 3)]);
        }
        position += n;
    }

    private int next() throws IOException {
        if (position == limit) {
            int n = connection.readRaw(in, 0, in.length);
            if (n < 0) {
                return -1;
            }
            position = 0;
            limit = n;
        }
        return in[position++] & 0xff;
    }

    private int within(int b) throws IOException {
        if (b < 0) {
            throw connection.endedWithin("a frame");
        }
        return b;
    }

    private void fill() throws IOException {
        if (position == limit) {
            within(next());
            position--;
        }
    }

    // =========================================================== sending

    /**
     * Sends a text. Waits if the other side is slow; a cancel then ends the wait only: the message is sent (C6).
     *
     * @throws WebSocketException if the other side has closed
     * @throws IOException if the connection has ended, or was cut off because the other side took less than {@link
     *     HttpServer.Builder#transfer} asks for while somebody waited to send
     */
    public void send(String text) throws IOException {
        byte[] b = text.getBytes(StandardCharsets.UTF_8);
        send(TEXT, b, 0, b.length);
    }

    /** Sends bytes, which are copied. Waits and ends as {@link #send(String)} does. */
    public void send(byte[] bytes) throws IOException {
        send(BINARY, bytes, 0, bytes.length);
    }

    /** Sends a ping, whose answer {@link #receive} takes in; to keep a quiet connection open, or to find out that it is dead. */
    public void ping() throws IOException {
        send(PING, NOTHING, 0, 0);
    }

    private void send(int kind, byte[] b, int offset, int n) throws IOException {
        if (closeSent) {
            if (ended) {
                throw new WebSocketException(closeCode, "the other side has closed the WebSocket");
            }
            throw new IOException("the WebSocket is closed");
        }
        sendFrame(kind, b, offset, n);
    }

    private void sendFrame(int kind, byte[] b, int offset, int n) throws IOException {
        int headLength = n < 126 ? 2 : n <= 0xffff ? 4 : 10;
        byte[] frame = new byte[headLength + n];
        frame[0] = (byte) (FINAL | kind);
        frame[1] = (byte) (n < 126 ? n : n <= 0xffff ? 126 : 127);
        for (int i = headLength - 1, v = n; i >= 2; i--, v >>>= 8) {
            frame[i] = (byte) v;
        }
        System.arraycopy(b, offset, frame, headLength, n);
        connection.writeRaw(frame);
    }

    /** {@link #close(int, String)} with 1000, which is that all is done. */
    public void close() throws IOException {
        close(1000, "");
    }

    /**
     * Tells the other side that nothing more will be sent, and why; it answers by a close of its own, for which {@link #receive} waits.
     * Idempotent.
     *
     * @param code 1000 to 1003, 1007 to 1014 or 3000 to 4999: the others must not be sent
     * @param reason at most 123 bytes in UTF-8
     */
    public void close(int code, String reason) throws IOException {
        if (!isSent(code)) {
            throw new IllegalArgumentException("not a code to close with: " + code);
        }
        sendClose(code, reason);
    }

    private void sendClose(int code, String reason) throws IOException {
        if (closeSent) {
            return;
        }
        byte[] why = reason.getBytes(StandardCharsets.UTF_8);
        if (why.length > LARGEST_CONTROL - 2) {
            throw new IllegalArgumentException("the reason is longer than 123 bytes");
        }
        byte[] payload = new byte[2 + why.length];
        payload[0] = (byte) (code >> 8);
        payload[1] = (byte) code;
        System.arraycopy(why, 0, payload, 2, why.length);
        Wait.beginAtOnce(); // C3: behind a pending cancel nothing has been sent
        closeSent = true; // first: others may send while this one waits
        sendFrame(CLOSE, payload, 0, payload.length);
    }

    /** The handler has returned. */
    private void closeQuietly() throws IOException {
        WebSocketException v = violation;
        if (v != null) {
            sendClose(v.code(), String.valueOf(v.getMessage())); // unless that was done
        } else {
            sendClose(1000, "");
        }
    }

    /** Why the other side closed: its code, 1005 if it gave none, 1006 if it did not close (yet). */
    public int closeCode() {
        return closeCode;
    }

    /** What the other side said when it closed; may be empty. */
    public String closeReason() {
        return closeReason;
    }
}
