package io.fastio.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The head of a request, parsed where it lies: field names and values are pairs of indices into the connection's buffer, and
 * become strings only when somebody asks for them. Parses line by line as bytes come, each byte once, so a client that
 * sends them one at a time costs no more than another.
 *
 * <p>Strict where RFC 9112 lets a recipient be lenient, since every leniency is one half of a smuggling attack: lines end
 * by CR LF and nothing else; no white space before the colon; no folded lines; one Host; one Content-Length, of digits;
 * Transfer-Encoding is {@code chunked}, alone, and never beside a Content-Length. Loop only.
 */
final class RequestHead {
    private static final byte[] HOST = bytes("host");
    private static final byte[] EXPECT = bytes("expect");
    private static final byte[] UPGRADE = bytes("upgrade");
    private static final byte[] CONNECTION = bytes("connection");
    private static final byte[] CONTENT_LENGTH = bytes("content-length");
    private static final byte[] TRANSFER_ENCODING = bytes("transfer-encoding");
    private static final byte[] CLOSE = bytes("close");
    private static final byte[] KEEP_ALIVE = bytes("keep-alive");
    private static final byte[] CHUNKED = bytes("chunked");
    private static final byte[] CONTINUE = bytes("100-continue");
    private static final byte[] VERSION = "HTTP/1.".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION_LENGTH = VERSION.length + 1;
    private static final int LONGEST_METHOD = 32;
    private static final int MOST_DIGITS = 18;

    /** Indices for each field: begin and end of its name, begin and end of its value. */
    private static final int STRIDE = 4;

    private final int maxBytes;
    private final int maxFields;
    private final int maxTarget;

    private byte[] octets = {};
    private int start;
    private int line;
    private int scanned;
    private boolean inFields;
    private boolean skippedEmptyLine;

    int methodStart;
    int methodEnd;
    int targetStart;
    int targetEnd;
    boolean http11;
    private int[] fields = new int[STRIDE * 16];
    int fieldCount;

    /** Behind the empty line that ends the head. */
    int end;

    /** Length of the body in bytes; -1: none was given. */
    long contentLength;

    boolean chunked;
    boolean keepAlive;
    boolean expectsContinue;
    boolean upgrades;
    private boolean closes;
    private boolean asksKeepAlive;
    private int hosts;

    RequestHead(int maxBytes, int maxFields, int maxTarget) {
        this.maxBytes = maxBytes;
        this.maxFields = maxFields;
        this.maxTarget = maxTarget;
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.US_ASCII);
    }

    /** A new head begins at that index. */
    void begin(byte[] buffer, int from) {
        octets = buffer;
        start = from;
        line = from;
        scanned = from;
        inFields = false;
        skippedEmptyLine = false;
        fieldCount = 0;
        contentLength = -1;
        chunked = false;
        keepAlive = false;
        expectsContinue = false;
        upgrades = false;
        closes = false;
        asksKeepAlive = false;
        hosts = 0;
    }

    /** What was parsed has moved: by {@code by} bytes, and maybe to another buffer. */
    void moved(byte[] to, int by) {
        octets = to;
        start += by;
        line += by;
        scanned += by;
        end += by;
        methodStart += by;
        methodEnd += by;
        targetStart += by;
        targetEnd += by;
        for (int i = 0; i < fieldCount * STRIDE; i++) {
            fields[i] += by;
        }
    }

    /**
     * Goes on with what has come.
     *
     * @param limit behind the last byte
     * @return whether the head is complete
     */
    boolean parse(int limit) throws HttpException {
        byte[] b = octets;
        while (true) {
            int i = scanned;
            while (i < limit && b[i] != '\n') {
                i++;
            }
            if (i - start >= maxBytes) {
                throw tooLarge();
            }
            if (i == limit) {
                scanned = i;
                rejectEarly(limit);
                return false;
            }
            if (i == line || b[i - 1] != '\r') {
                throw bad("a line must end by CR LF");
            }
            int eol = i - 1;
            if (inFields) {
                if (eol == line) {
                    end = i + 1;
                    complete();
                    return true;
                }
                field(line, eol);
            } else if (eol == line && !skippedEmptyLine) {
                skippedEmptyLine = true; // what some clients send behind a body (RFC 9112, 2.2)
                start = i + 1;
            } else {
                requestLine(line, eol);
                inFields = true;
            }
            line = i + 1;
            scanned = line;
        }
    }

    private HttpException tooLarge() {
        return inFields
                ? new HttpException(431, "the header fields are larger than " + maxBytes + " bytes")
                : new HttpException(414, "the request line is too long");
    }

    /** What cannot become a request is refused at once: a TLS handshake, say, has no line end to wait for. */
    private void rejectEarly(int limit) throws HttpException {
        if (inFields || line == limit) {
            return;
        }
        int first = octets[line];
        if (!Octets.isToken(first) && !(first == '\r' && !skippedEmptyLine && limit - line == 1)) {
            throw bad("not a request line");
        }
    }

    private void requestLine(int from, int eol) throws HttpException {
        byte[] b = octets;
        int i = from;
        while (i < eol && Octets.isToken(b[i])) {
            i++;
        }
        if (i == from || i == eol || b[i] != ' ') {
            throw bad("not a request line");
        }
        if (i - from > LONGEST_METHOD) {
            throw new HttpException(501, "unknown method");
        }
        methodStart = from;
        methodEnd = i++;
        targetStart = i;
        while (i < eol && Octets.isTarget(b[i])) {
            i++;
        }
        targetEnd = i;
        if (targetEnd - targetStart > maxTarget) {
            throw new HttpException(414, "the request target is longer than " + maxTarget + " bytes");
        }
        if (targetEnd == targetStart || i == eol || b[i] != ' ') {
            throw bad("not a request target");
        }
        version(i + 1, eol);
        target();
    }

    private void version(int from, int eol) throws HttpException {
        byte[] b = octets;
        boolean http = eol - from == VERSION_LENGTH
                && Arrays.equals(b, from, from + 5, VERSION, 0, 5)
                && b[from + 6] == '.'
                && isDigit(b[from + 5])
                && isDigit(b[from + 7]);
        if (!http) {
            throw bad("not an HTTP version");
        }
        if (b[from + 5] != '1') {
            throw new HttpException(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
        }
        http11 = b[from + 7] != '0';
    }

    private static boolean isDigit(int octet) {
        return octet >= '0' && octet <= '9';
    }

    /** The forms of a target (RFC 9112, 3.2). */
    private void target() throws HttpException {
        if (methodEnd - methodStart == 7 && is("CONNECT")) {
            // A good answer would make whoever is in between take what follows for a tunnel.
            throw new HttpException(501, "there are no tunnels here");
        }
        if (octets[targetStart] == '/') {
            return;
        }
        String target = target(targetStart, targetEnd);
        if (!isAbsolute(target) && !(target.equals("*") && method().equals("OPTIONS"))) {
            throw bad("not a request target");
        }
    }

    private static boolean isAbsolute(String target) {
        int host = target.regionMatches(true, 0, "http://", 0, 7)
                ? 7
                : target.regionMatches(true, 0, "https://", 0, 8) ? 8 : target.length();
        return host < target.length() && target.charAt(host) != '/' && target.charAt(host) != '?';
    }

    private String target(int from, int to) {
        return new String(octets, from, to - from, StandardCharsets.ISO_8859_1);
    }

    private void field(int from, int eol) throws HttpException {
        byte[] b = octets;
        int i = from;
        while (i < eol && Octets.isToken(b[i])) {
            i++;
        }
        if (i == from && (b[i] == ' ' || b[i] == '\t')) {
            throw bad("folded header lines are not accepted");
        }
        if (i == from || i == eol || b[i] != ':') {
            throw bad("not a header field");
        }
        int nameEnd = i++;
        while (i < eol && (b[i] == ' ' || b[i] == '\t')) {
            i++;
        }
        int valueEnd = eol;
        while (valueEnd > i && (b[valueEnd - 1] == ' ' || b[valueEnd - 1] == '\t')) {
            valueEnd--;
        }
        for (int k = i; k < valueEnd; k++) {
            if (!Octets.isValue(b[k])) {
                throw bad("a header field holds a control character");
            }
        }
        if (fieldCount == maxFields) {
            throw new HttpException(431, "more than " + maxFields + " header fields");
        }
        int at = fieldCount++ * STRIDE;
        if (at == fields.length) {
            fields = Arrays.copyOf(fields, 2 * at);
        }
        fields[at] = from;
        fields[at + 1] = nameEnd;
        fields[at + 2] = i;
        fields[at + 3] = valueEnd;
        known(from, nameEnd, i, valueEnd);
    }

    /** What decides about the connection and the body. */
    private void known(int from, int nameEnd, int value, int valueEnd) throws HttpException {
        byte[] b = octets;
        switch (nameEnd - from) {
            case 4 -> {
                if (Octets.same(b, from, nameEnd, HOST)) {
                    host(value, valueEnd);
                }
            }
            case 6 -> {
                if (Octets.same(b, from, nameEnd, EXPECT)) {
                    if (!Octets.same(b, value, valueEnd, CONTINUE)) {
                        throw new HttpException(417, "the only expectation known is 100-continue");
                    }
                    expectsContinue = true;
                }
            }
            case 7 -> upgrades |= Octets.same(b, from, nameEnd, UPGRADE);
            case 10 -> {
                if (Octets.same(b, from, nameEnd, CONNECTION)) {
                    closes |= hasToken(value, valueEnd, CLOSE);
                    asksKeepAlive |= hasToken(value, valueEnd, KEEP_ALIVE);
                }
            }
            case 14 -> {
                if (Octets.same(b, from, nameEnd, CONTENT_LENGTH)) {
                    contentLength(value, valueEnd);
                }
            }
            case 17 -> {
                if (Octets.same(b, from, nameEnd, TRANSFER_ENCODING)) {
                    transferEncoding(value, valueEnd);
                }
            }
            default -> {
                // Of no concern here.
            }
        }
    }

    private void host(int from, int to) throws HttpException {
        if (++hosts > 1) {
            throw bad("more than one Host");
        }
        for (int i = from; i < to; i++) {
            byte b = octets[i];
            if (!Octets.isTarget(b) || b == '/' || b == '?' || b == '@' || b == ',') {
                throw bad("not a Host");
            }
        }
    }

    private void contentLength(int from, int to) throws HttpException {
        if (contentLength >= 0) {
            throw bad("more than one Content-Length");
        }
        if (to == from) {
            throw bad("not a Content-Length");
        }
        long n = 0;
        for (int i = from; i < to; i++) {
            if (!isDigit(octets[i])) {
                throw bad("not a Content-Length");
            }
            if (i - from >= MOST_DIGITS) {
                throw new HttpException(413, "the body is too large");
            }
            n = n * 10 + octets[i] - '0';
        }
        contentLength = n;
    }

    private void transferEncoding(int from, int to) throws HttpException {
        if (chunked) {
            throw bad("more than one Transfer-Encoding");
        }
        if (!Octets.same(octets, from, to, CHUNKED)) {
            throw new HttpException(501, "the only Transfer-Encoding known is chunked");
        }
        chunked = true;
    }

    private void complete() throws HttpException {
        if (http11 && hosts == 0) {
            throw bad("no Host");
        }
        if (chunked && contentLength >= 0) {
            throw bad("both Content-Length and Transfer-Encoding");
        }
        if (chunked && !http11) {
            throw bad("Transfer-Encoding in HTTP/1.0");
        }
        expectsContinue &= http11;
        keepAlive = http11 ? !closes : asksKeepAlive && !closes;
    }

    private boolean hasToken(int from, int to, byte[] lower) {
        byte[] b = octets;
        int i = from;
        while (i < to) {
            while (i < to && (b[i] == ' ' || b[i] == '\t' || b[i] == ',')) {
                i++;
            }
            int begin = i;
            while (i < to && b[i] != ',') {
                i++;
            }
            int tokenEnd = i;
            while (tokenEnd > begin && (b[tokenEnd - 1] == ' ' || b[tokenEnd - 1] == '\t')) {
                tokenEnd--;
            }
            if (Octets.same(b, begin, tokenEnd, lower)) {
                return true;
            }
        }
        return false;
    }

    /** Checks a line behind the last chunk by the rules for header fields, and forgets it. */
    void trailer(byte[] b, int from, int eol) throws HttpException {
        int i = from;
        while (i < eol && Octets.isToken(b[i])) {
            i++;
        }
        if (i == from || i == eol || b[i] != ':') {
            throw bad("not a trailer field");
        }
        for (int k = i; k < eol; k++) {
            if (!Octets.isValue(b[k])) {
                throw bad("a trailer field holds a control character");
            }
        }
    }

    static HttpException bad(String why) {
        return new HttpException(400, why);
    }

    // =========================================================== what it says

    String method() {
        int n = methodEnd - methodStart;
        byte[] b = octets;
        return switch (n) {
            case 3 -> is("GET") ? "GET" : is("PUT") ? "PUT" : other();
            case 4 -> is("POST") ? "POST" : is("HEAD") ? "HEAD" : other();
            case 5 -> is("PATCH") ? "PATCH" : other();
            case 6 -> is("DELETE") ? "DELETE" : other();
            case 7 -> is("OPTIONS") ? "OPTIONS" : other();
            default -> new String(b, methodStart, n, StandardCharsets.ISO_8859_1);
        };
    }

    private boolean is(String method) {
        for (int i = 0; i < method.length(); i++) {
            if (octets[methodStart + i] != method.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private String other() {
        return new String(octets, methodStart, methodEnd - methodStart, StandardCharsets.ISO_8859_1);
    }

    /** The target; the same string as before if it is the same one. */
    String target(String before) {
        int n = targetEnd - targetStart;
        if (n == before.length()) {
            int i = 0;
            while (i < n && before.charAt(i) == octets[targetStart + i]) {
                i++;
            }
            if (i == n) {
                return before;
            }
        }
        return target(targetStart, targetEnd);
    }

    /** Index of the next field of that name, from field {@code from} on; -1 if there is none. */
    int find(String name, int from) {
        for (int f = from; f < fieldCount; f++) {
            int at = f * STRIDE;
            if (fields[at + 1] - fields[at] == name.length() && sameName(fields[at], name)) {
                return f;
            }
        }
        return -1;
    }

    private boolean sameName(int from, String name) {
        for (int i = 0; i < name.length(); i++) {
            int a = octets[from + i];
            int c = name.charAt(i);
            if (a != c && !((a | 0x20) == (c | 0x20) && (a | 0x20) >= 'a' && (a | 0x20) <= 'z')) {
                return false;
            }
        }
        return true;
    }

    String name(int field) {
        return text(fields[field * STRIDE], fields[field * STRIDE + 1]);
    }

    String value(int field) {
        return text(fields[field * STRIDE + 2], fields[field * STRIDE + 3]);
    }

    private String text(int from, int to) {
        return new String(octets, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
