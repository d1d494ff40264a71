package io.fastio.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request. Valid until its handler returns, for the task that the handler runs in; afterwards its head and body throw
 * {@link IllegalStateException}. Only the methods that read the body wait. Header values are given as they came, each octet
 * a character.
 */
public final class HttpRequest {
    private static final int FIRST_ROOM = 16 * 1024;
    private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

    private final Connection connection;
    private final RequestHead head;
    private final String target;
    private Map<String, String> pathParameters = Map.of();
    private boolean answered;

    HttpRequest(Connection connection, RequestHead head, String target) {
        this.connection = connection;
        this.head = head;
        this.target = target;
    }

    private RequestHead head() {
        if (!connection.isServing(this)) {
            throw new IllegalStateException("the request is valid only until its handler returns");
        }
        return head;
    }

    Connection connection() {
        head();
        return connection;
    }

    boolean isAnswered() {
        return answered;
    }

    void answered() {
        answered = true;
    }

    // ---- the request line

    /** The method, as {@code GET}; case matters. */
    public String method() {
        return head().method();
    }

    /** The target as the client sent it, as {@code /a%20b?c=d}. */
    public String target() {
        return target;
    }

    /**
     * The path of the target, decoded: {@code /a b}. Dot segments are left as they are, and a decoded slash cannot be told
     * from another: whoever maps paths to files has to look.
     *
     * @throws HttpException 400, if it is no UTF-8 or has a percent sign without two digits
     */
    public String path() throws HttpException {
        String t = target;
        int query = t.indexOf('?');
        String path = query < 0 ? t : t.substring(0, query);
        int scheme = path.startsWith("/") ? -1 : path.indexOf("://");
        if (scheme >= 0) {
            int slash = path.indexOf('/', scheme + 3);
            path = slash < 0 ? "/" : path.substring(slash);
        }
        return decode(path, false);
    }

    /** The target behind the question mark, as it was sent; empty if there is none. */
    public String query() {
        int query = target.indexOf('?');
        return query < 0 ? "" : target.substring(query + 1);
    }

    /**
     * The first value of that name in the query, decoded as a form's; null if there is none.
     *
     * @throws HttpException 400, if it cannot be decoded
     */
    public @Nullable String queryParameter(String name) throws HttpException {
        Objects.requireNonNull(name, "name");
        String q = query();
        for (int at = 0; at < q.length(); ) {
            int amp = q.indexOf('&', at);
            int stop = amp < 0 ? q.length() : amp;
            int eq = q.indexOf('=', at);
            int nameEnd = eq < 0 || eq > stop ? stop : eq;
            if (decode(q.substring(at, nameEnd), true).equals(name)) {
                return nameEnd == stop ? "" : decode(q.substring(nameEnd + 1, stop), true);
            }
            at = stop + 1;
        }
        return null;
    }

    private static String decode(String s, boolean form) throws HttpException {
        if (s.indexOf('%') < 0 && !(form && s.indexOf('+') >= 0)) {
            return s;
        }
        byte[] bytes = new byte[s.length()];
        int n = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '%') {
                boolean whole = i + 2 < s.length();
                int high = whole ? Octets.hex(s.charAt(i + 1)) : -1;
                int low = whole ? Octets.hex(s.charAt(i + 2)) : -1;
                if (high < 0 || low < 0) {
                    throw new HttpException(400, "a percent sign without two digits in the target");
                }
                bytes[n++] = (byte) (high << 4 | low);
                i += 2;
            } else {
                bytes[n++] = (byte) (form && c == '+' ? ' ' : c);
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, n))
                    .toString();
        } catch (CharacterCodingException e) {
            HttpException bad = new HttpException(400, "the target is not UTF-8");
            bad.initCause(e);
            throw bad;
        }
    }

    /** Whether the client speaks HTTP/1.1, and not 1.0. */
    public boolean isHttp11() {
        return head().http11;
    }

    // ---- the header

    /** The first value of that header field, whatever the case of its name; null if there is none. */
    public @Nullable String header(String name) {
        RequestHead h = head();
        int field = h.find(name, 0);
        return field < 0 ? null : h.value(field);
    }

    /** All values of that header field, in the order they came in. */
    public List<String> headers(String name) {
        RequestHead h = head();
        List<String> values = new ArrayList<>(2);
        for (int field = h.find(name, 0); field >= 0; field = h.find(name, field + 1)) {
            values.add(h.value(field));
        }
        return values;
    }

    /** All header fields: for each name, as it came first, its values. */
    public Map<String, List<String>> headers() {
        RequestHead h = head();
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (int i = 0; i < h.fieldCount; i++) {
            String name = h.name(i);
            if (h.find(name, 0) == i) {
                all.put(name, headers(name));
            }
        }
        return all;
    }

    // ---- the body

    /** Length of the body in bytes; 0 without one, -1 if it is chunked. */
    public long contentLength() {
        return head().chunked ? -1 : Math.max(0, head().contentLength);
    }

    /** Whether there is a body, or one may come. */
    public boolean hasBody() {
        return head().chunked || head().contentLength > 0;
    }

    /**
     * Reads 1 to {@code n} bytes of the body, whether or not it is chunked. The first read tells a client that expects it
     * to go on ({@code 100-continue}). Waits; a cancel loses no byte.
     *
     * @return the number of bytes, -1 at the end
     * @throws HttpException 400 or 413 if the body breaks the rules; the connection then ends behind the answer
     * @throws IOException if the connection broke
     */
    public int read(byte[] dst, int offset, int n) throws IOException {
        Objects.checkFromIndexSize(offset, n, dst.length);
        return connection().readBody(dst, offset, n);
    }

    /** Reads all of the body; see {@link #read}. The server's limit keeps it from growing without end. */
    public byte[] body() throws IOException {
        long length = contentLength();
        long most = length < 0 ? LARGEST_ARRAY : length;
        byte[] all = new byte[(int) Math.min(most, FIRST_ROOM)];
        int have = 0;
        while (true) {
            if (have == all.length) {
                if (have == length) {
                    return all;
                }
                if (have == LARGEST_ARRAY) {
                    throw new HttpException(413, "the body is too large to be held");
                }
                // What is announced is not reserved: memory grows with what has come.
                all = Arrays.copyOf(all, (int) Math.min(2L * have, Math.min(most, LARGEST_ARRAY)));
            }
            int n = read(all, have, all.length - have);
            if (n < 0) {
                return Arrays.copyOf(all, have);
            }
            have += n;
        }
    }

    /** Reads all of the body as UTF-8; what is none becomes U+FFFD. */
    public String text() throws IOException {
        return new String(body(), StandardCharsets.UTF_8);
    }

    /** The body as a stream of {@code java.io}, for libraries that read one: in this task, where it waits as others do. */
    public InputStream inputStream() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] dst, int offset, int n) throws IOException {
                return HttpRequest.this.read(dst, offset, n);
            }
        };
    }

    // ---- the rest

    /** What the {@link Routes} found in place of {@code {name}}, decoded; null if the pattern has no such name. */
    public @Nullable String pathParameter(String name) {
        return pathParameters.get(name);
    }

    void pathParameters(Map<String, String> parameters) {
        pathParameters = parameters;
    }

    /** What is known about the connection: see {@link io.fastio.stream.StreamWriter#getExtraInfo}. */
    public @Nullable Object getExtraInfo(String what) {
        return connection.stream.getExtraInfo(what);
    }

    @Override
    public String toString() {
        return "HttpRequest[" + target + " from " + connection.stream.name() + "]";
    }
}
