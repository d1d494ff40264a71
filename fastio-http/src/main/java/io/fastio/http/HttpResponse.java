package io.fastio.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * The answer to a request: either one {@link #send}, or any number of {@link #write}. For the task that the handler runs in, until
 * that returns. What is sent goes out by itself, together with the answers to requests that came in the same batch.
 *
 * <p>Date, Content-Length, Transfer-Encoding and Connection are the server's business. Once the connection is broken,
 * everything that sends throws {@link IOException}; a handler need not catch it.
 */
public final class HttpResponse {
    private static final byte[] CONTENT_LENGTH = bytes("Content-Length: ");
    private static final byte[] CHUNKED = bytes("Transfer-Encoding: chunked\r\n");
    private static final byte[] CLOSE = bytes("Connection: close\r\n");
    private static final byte[] KEEP_ALIVE = bytes("Connection: keep-alive\r\n");
    private static final byte[] PLAIN_TEXT = bytes("Content-Type: text/plain; charset=utf-8\r\n");
    private static final byte[] CRLF = bytes("\r\n");
    private static final byte[] LAST_CHUNK = bytes("0\r\n\r\n");
    private static final byte[] NOTHING = {};

    private final Connection connection;
    private final HttpRequest request;
    private int status = 200;
    private byte[] fields = NOTHING;
    private int fieldsLength;
    private boolean typed;
    private long length = -1;

    private boolean committed;
    private boolean ended;
    private boolean chunked;
    private boolean bodiless;
    private long left;

    HttpResponse(Connection connection, HttpRequest request) {
        this.connection = connection;
        this.request = request;
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.US_ASCII);
    }

    Connection connection() {
        return connection;
    }

    /** Whether the head is on its way: status and header can be changed no more. */
    public boolean isCommitted() {
        return committed;
    }

    private void requireUncommitted() {
        if (committed) {
            throw new IllegalStateException("the head of the answer is on its way");
        }
    }

    /**
     * Sets the status; 200 without this.
     *
     * @param code 200 to 599
     */
    public HttpResponse status(int code) {
        if (code < 200 || code > 599) {
            throw new IllegalArgumentException("no final status: " + code);
        }
        requireUncommitted();
        status = code;
        return this;
    }

    /** The status. */
    public int status() {
        return status;
    }

    /**
     * Adds a header field. Fields of the same name add up.
     *
     * @param name a token
     * @param value printable characters up to U+00FF, spaces and tabs
     * @throws IllegalArgumentException for other names and values: a line break in one would be a field, or an answer, of
     *     somebody else's making
     */
    public HttpResponse header(String name, String value) {
        requireUncommitted();
        checkName(name);
        checkValue(value);
        if (name.equalsIgnoreCase("Content-Type")) {
            typed = true;
        }
        int n = name.length() + value.length() + 4;
        if (fields.length - fieldsLength < n) {
            fields = Arrays.copyOf(fields, Math.max(2 * fields.length, fieldsLength + Math.max(n, 128)));
        }
        put(name);
        fields[fieldsLength++] = ':';
        fields[fieldsLength++] = ' ';
        put(value);
        fields[fieldsLength++] = '\r';
        fields[fieldsLength++] = '\n';
        return this;
    }

    private void put(String s) {
        for (int i = 0; i < s.length(); i++) {
            fields[fieldsLength++] = (byte) s.charAt(i);
        }
    }

    private static void checkName(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) > 127 || !Octets.isToken(name.charAt(i))) {
                throw new IllegalArgumentException("not the name of a header field: " + name);
            }
        }
        boolean reserved = switch (name.length()) {
            case 0 -> throw new IllegalArgumentException("the name of a header field is empty");
            case 10 -> name.equalsIgnoreCase("Connection");
            case 14 -> name.equalsIgnoreCase("Content-Length");
            case 17 -> name.equalsIgnoreCase("Transfer-Encoding");
            default -> false;
        };
        if (reserved) {
            throw new IllegalArgumentException(name + " is set by the server; see contentLength() and close()");
        }
    }

    private static void checkValue(String value) {
        for (int i = 0; i < value.length(); i++) {
            if (value.charAt(i) > 255 || !Octets.isValue(value.charAt(i))) {
                throw new IllegalArgumentException(
                        "a header field cannot hold U+" + Integer.toHexString(value.charAt(i)) + " at index " + i);
            }
        }
    }

    /** {@code header("Content-Type", type)}. Without one, a text that is sent is {@code text/plain; charset=utf-8}. */
    public HttpResponse contentType(String type) {
        return header("Content-Type", type);
    }

    /**
     * Says how long the body is that {@link #write} will send; exactly that many bytes have to follow. Without it, such a
     * body is chunked.
     */
    public HttpResponse contentLength(long bytes) {
        requireUncommitted();
        if (bytes < 0) {
            throw new IllegalArgumentException("negative length: " + bytes);
        }
        length = bytes;
        return this;
    }

    /** Ends the connection behind this answer. */
    public HttpResponse close() {
        requireUncommitted();
        connection.closeBehind();
        return this;
    }

    // ---- all at once

    /** Sends a text in UTF-8 as the whole body. */
    public void send(String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        send(body, 0, body.length, !typed);
    }

    /** Sends the whole body; see {@link #send(byte[], int, int)}. */
    public void send(byte[] body) throws IOException {
        send(body, 0, body.length, false);
    }

    /**
     * Sends the whole body, which is copied. Waits only if the client is slow to take what it asked for.
     */
    public void send(byte[] body, int offset, int n) throws IOException {
        Objects.checkFromIndexSize(offset, n, body.length);
        send(body, offset, n, false);
    }

    private void send(byte[] body, int offset, int n, boolean asText) throws IOException {
        requireUncommitted();
        length = n;
        commit(asText);
        if (!bodiless) {
            connection.send(body, offset, n);
        }
        left = 0;
        end();
    }

    // ---- piece by piece

    /** Sends a part of the body; see {@link #write(byte[], int, int)}. */
    public void write(byte[] part) throws IOException {
        write(part, 0, part.length);
    }

    /** Sends a part of the body in UTF-8; see {@link #write(byte[], int, int)}. */
    public void write(String part) throws IOException {
        if (!committed && !typed) {
            commit(true);
        }
        write(part.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Sends a part of the body, which is copied: chunked, unless {@link #contentLength} was set or the client speaks HTTP/1.0. Small
     * parts are gathered up to 16 KiB; {@link #flush} sends them. Waits if the client is slow; a cancel then ends the wait only:
     * the part is sent (C6).
     *
     * @throws IllegalStateException behind the end, or behind the length that was set
     */
    public void write(byte[] part, int offset, int n) throws IOException {
        Objects.checkFromIndexSize(offset, n, part.length);
        beginPart(n);
        if (n > 0 && !bodiless) {
            if (chunked) {
                chunkSize(n);
                connection.send(part, offset, n);
                connection.send(CRLF, 0, 2);
            } else {
                connection.send(part, offset, n);
            }
        }
        connection.settle();
    }

    /** {@link #write(byte[], int, int)} of what remains in {@code part}, which is used up. */
    public void write(ByteBuffer part) throws IOException {
        int n = part.remaining();
        if (part.hasArray()) {
            write(part.array(), part.arrayOffset() + part.position(), n);
            part.position(part.limit());
            return;
        }
        beginPart(n);
        if (n > 0 && !bodiless) {
            if (chunked) {
                chunkSize(n);
            }
            connection.send(part);
            if (chunked) {
                connection.send(CRLF, 0, 2);
            }
        }
        connection.settle();
    }

    private void beginPart(int n) throws IOException {
        if (ended) {
            throw new IllegalStateException("the answer has ended");
        }
        if (!committed) {
            commit(false);
        }
        if (!chunked && length >= 0 && status != Status.RESET_CONTENT) {
            if (n > left) {
                throw new IllegalStateException("more than the " + length + " bytes that were announced");
            }
            left -= n;
        }
    }

    private void chunkSize(int n) throws IOException {
        byte[] line = new byte[10];
        int at = line.length;
        line[--at] = '\n';
        line[--at] = '\r';
        for (int v = n; v != 0; v >>>= 4) {
            line[--at] = (byte) Character.forDigit(v & 15, 16);
        }
        connection.send(line, at, line.length - at);
    }

    /** Sends what was gathered, now. Waits if the client is slow. */
    public void flush() throws IOException {
        if (!committed) {
            commit(false);
        }
        connection.flushOut();
    }

    /** The body as a stream of {@code java.io}, for libraries that write one: in this task. Its close ends the answer. */
    public OutputStream outputStream() {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                HttpResponse.this.write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] src, int offset, int n) throws IOException {
                HttpResponse.this.write(src, offset, n);
            }

            @Override
            public void flush() throws IOException {
                HttpResponse.this.flush();
            }

            @Override
            public void close() throws IOException {
                end();
            }
        };
    }

    /**
     * Ends the answer; the server does so when the handler returns. Idempotent.
     *
     * @throws IllegalStateException if less was written than {@link #contentLength} said
     */
    public void end() throws IOException {
        if (ended) {
            return;
        }
        if (!committed) {
            if (length > 0 && !request.method().equals("HEAD")) {
                throw new IllegalStateException("nothing of the " + length + " bytes that were announced");
            }
            length = Math.max(0, length);
            commit(false);
        }
        ended = true;
        if (chunked && !bodiless) {
            connection.send(LAST_CHUNK, 0, LAST_CHUNK.length);
        } else if (length >= 0 && left > 0 && !bodiless) {
            throw new IllegalStateException(left + " of the " + length + " bytes that were announced are missing");
        }
        connection.settle();
    }

    // ---- the head

    private void commit(boolean asText) throws IOException {
        if (ended) {
            throw new IllegalStateException("the answer has ended");
        }
        committed = true;
        request.answered();
        Connection c = connection;
        boolean http11 = request.isHttp11();
        boolean never = Status.isBodiless(status);
        if (status == Status.RESET_CONTENT) {
            length = 0;
        }
        bodiless = never || status == Status.RESET_CONTENT || request.method().equals("HEAD");
        left = Math.max(0, length);
        chunked = length < 0 && http11 && !never;
        if (length < 0 && !http11 && !bodiless) {
            c.closeBehind(); // the end of the connection is the end of the body
        }
        boolean open = c.staysOpen();
        emit(Status.line(status));
        emit(c.date());
        if (!typed && asText) {
            emit(PLAIN_TEXT);
        }
        if (fieldsLength > 0) {
            c.send(fields, 0, fieldsLength);
        }
        if (chunked) {
            emit(CHUNKED);
        } else if (length >= 0 && !never) {
            contentLength(c);
        }
        if (!open) {
            emit(CLOSE);
        } else if (!http11) {
            emit(KEEP_ALIVE);
        }
        emit(CRLF);
    }

    private void emit(byte[] b) throws IOException {
        connection.send(b, 0, b.length);
    }

    private void contentLength(Connection c) throws IOException {
        emit(CONTENT_LENGTH);
        byte[] digits = new byte[21];
        int at = digits.length;
        digits[--at] = '\n';
        digits[--at] = '\r';
        long v = length;
        do {
            digits[--at] = (byte) ('0' + v % 10);
            v /= 10;
        } while (v != 0);
        c.send(digits, at, digits.length - at);
    }

    /** Sends an error in place of what the handler had in mind. Uncommitted. */
    void sendError(int code, String message) throws IOException {
        fieldsLength = 0;
        typed = false;
        status = code;
        if (code == 426) { // which has to name what is wanted (RFC 9110, 15.5.22; RFC 6455, 4.4)
            header("Upgrade", "websocket").header("Sec-WebSocket-Version", "13");
        }
        send(message + "\n");
    }

    /** Answers what did not become a request. */
    static void refuse(Connection c, int code, String message) throws IOException {
        byte[] all = refusal(c.date(), code, message);
        c.send(all, 0, all.length);
    }

    static byte[] refusal(byte[] date, int code, String message) {
        byte[] body = (message + "\n").getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(Status.line(code));
        all.writeBytes(date);
        all.writeBytes(PLAIN_TEXT);
        all.writeBytes(CLOSE);
        all.writeBytes(CONTENT_LENGTH);
        all.writeBytes(bytes(Integer.toString(body.length)));
        all.writeBytes(CRLF);
        all.writeBytes(CRLF);
        all.writeBytes(body);
        return all.toByteArray();
    }

    /** The head of an upgrade; nothing else will be sent by this. */
    void switchProtocols(String moreFields) throws IOException {
        requireUncommitted();
        committed = true;
        ended = true;
        request.answered();
        connection.staysOpen();
        emit(Status.line(101));
        emit(bytes(moreFields));
        emit(CRLF);
        connection.upgrade();
        connection.flushOut();
    }

    @Override
    public String toString() {
        return "HttpResponse[" + status + (ended ? ", ended]" : committed ? ", committed]" : "]");
    }
}
