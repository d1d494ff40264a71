package io.fastio.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What breaks the rules, above all in the shapes of request smuggling: a clear answer and the end of that connection; what
 * is hidden behind it never becomes a request; the other connections never notice.
 */
@Timeout(60)
final class BadRequestTest {
    private static final String HIDDEN = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";

    private final AtomicInteger hidden = new AtomicInteger();
    private Served server;

    @BeforeEach
    void serve() throws Exception {
        server = new Served((request, response) -> {
            if (request.target().contains("hidden")) {
                hidden.incrementAndGet();
            }
            response.send(request.body());
        });
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    static List<Arguments> badRequests() {
        return List.of(
                // Lines.
                bad(400, "bare LF behind the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n"),
                bad(400, "bare LF behind a field", "GET / HTTP/1.1\r\nHost: x\n\r\n"),
                bad(400, "bare LF ends the head", "GET / HTTP/1.1\r\nHost: x\r\n\n"),
                bad(400, "bare CR in a field", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n"),
                bad(400, "bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "NUL in a field", "GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n"),
                bad(400, "control character in a field", "GET / HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n"),
                bad(400, "DEL in a field", "GET / HTTP/1.1\r\nHost: x\r\nA: \u007f\r\n\r\n"),
                bad(400, "two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                // The request line.
                bad(400, "no version", "GET /\r\nHost: x\r\n\r\n"),
                bad(400, "two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "a tab", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "space behind the version", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n"),
                bad(400, "space first", " GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "fragment", "GET /#a HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "UTF-8 in the target", "GET /\u00c3\u00a9 HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "no slash", "GET a HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "no host in the target", "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "a query for a host", "GET http://?a HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(501, "CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n" + HIDDEN),
                bad(501, "CONNECT with a path", "CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n" + HIDDEN),
                bad(400, "asterisk", "GET * HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "method is no token", "GE(T / HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "version in lower case", "GET / http/1.1\r\nHost: x\r\n\r\n"),
                bad(400, "version without a dot", "GET / HTTP/11\r\nHost: x\r\n\r\n"),
                bad(400, "version with two digits", "GET / HTTP/1.10\r\nHost: x\r\n\r\n"),
                bad(505, "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                bad(505, "HTTP/0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n"),
                bad(501, "endless method", "A".repeat(40) + " / HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(414, "long target", "GET /" + "a".repeat(9000) + " HTTP/1.1\r\nHost: x\r\n\r\n"),
                bad(414, "endless request line", "GET /" + "a".repeat(20_000)),
                bad(400, "TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000"),
                // Fields.
                bad(400, "obs-fold", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"),
                bad(400, "obs-fold with a tab", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n"),
                bad(400, "fold behind the request line", "GET / HTTP/1.1\r\n Host: x\r\n\r\n"),
                bad(400, "space before the colon", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n" + HIDDEN),
                bad(400, "no colon", "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n"),
                bad(400, "no name", "GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n"),
                bad(400, "name is no token", "GET / HTTP/1.1\r\nHost: x\r\nA[]: b\r\n\r\n"),
                bad(400, "NUL in a name", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding\0: chunked\r\n\r\n"),
                bad(431, "huge field", "GET / HTTP/1.1\r\nHost: x\r\nA: " + "b".repeat(17_000) + "\r\n\r\n"),
                bad(431, "endless field", "GET / HTTP/1.1\r\nHost: x\r\nA: " + "b".repeat(17_000)),
                bad(431, "many fields", "GET / HTTP/1.1\r\nHost: x\r\n" + "A: b\r\n".repeat(100) + "\r\n"),
                bad(431, "many bytes", "GET / HTTP/1.1\r\nHost: x\r\n" + ("A: " + "b".repeat(300) + "\r\n").repeat(60)),
                // Host.
                bad(400, "no Host", "GET / HTTP/1.1\r\n\r\n"),
                bad(400, "two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"),
                bad(400, "Host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n"),
                bad(400, "Host with user", "GET / HTTP/1.1\r\nHost: x@y\r\n\r\n"),
                bad(400, "Host with a space", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n"),
                // Two lengths.
                bad(400, "two lengths", post("Content-Length: 5\r\nContent-Length: 6", "hello" + HIDDEN)),
                bad(400, "the same length twice", post("Content-Length: 5\r\nContent-Length: 5", "hello" + HIDDEN)),
                bad(400, "a list of lengths", post("Content-Length: 5, 5", "hello" + HIDDEN)),
                bad(400, "CL.TE", post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n" + HIDDEN)),
                bad(400, "TE.CL", post("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n" + HIDDEN)),
                bad(400, "TE twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
                bad(501, "TE, hidden", post("Transfer-Encoding: xchunked", "0\r\n\r\n" + HIDDEN)),
                bad(501, "TE, quoted", post("Transfer-Encoding: \"chunked\"", "0\r\n\r\n" + HIDDEN)),
                bad(501, "TE, identity", post("Transfer-Encoding: identity", "0\r\n\r\n" + HIDDEN)),
                bad(501, "TE, list", post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n" + HIDDEN)),
                bad(501, "TE, twice in one", post("Transfer-Encoding: chunked, chunked", "0\r\n\r\n" + HIDDEN)),
                bad(501, "TE, empty", post("Transfer-Encoding:", "0\r\n\r\n" + HIDDEN)),
                bad(400, "TE, vertical tab", post("Transfer-Encoding: \u000bchunked", "0\r\n\r\n" + HIDDEN)),
                bad(400, "TE in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN),
                bad(400, "length with a sign", post("Content-Length: +5", "hello")),
                bad(400, "negative length", post("Content-Length: -5", "hello")),
                bad(400, "hexadecimal length", post("Content-Length: 0x5", "hello")),
                bad(400, "length with a space", post("Content-Length: 5 5", "hello")),
                bad(400, "empty length", post("Content-Length:", "hello")),
                bad(400, "length in another script", post("Content-Length: \u00b2", "hello")),
                bad(413, "length beyond 64 bits", post("Content-Length: 18446744073709551621", "hello" + HIDDEN)),
                bad(413, "length beyond the limit", post("Content-Length: 99999999999", "hello" + HIDDEN)),
                // Chunks.
                bad(400, "chunk without a size", chunked("\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "chunk size with 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "negative chunk", chunked("-5\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "chunk size with a sign", chunked("+5\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "space before the size", chunked(" 5\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "space behind the size", chunked("5 \r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "chunk size of no digits", chunked("zz\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "chunk size beyond 64 bits", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(413, "chunk beyond the limit", chunked("fffffffffffffff\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "bare LF behind the size", chunked("5\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "bare LF behind the chunk", chunked("5\r\nhello\n0\r\n\r\n" + HIDDEN)),
                bad(400, "chunk longer than it says", chunked("5\r\nhello!\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "chunk shorter than it says", chunked("7\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "bare CR in an extension", chunked("5;a\rb\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "bare LF in an extension", chunked("5;a\nb\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(400, "endless extension", chunked("5;" + "a".repeat(300) + "\r\nhello\r\n0\r\n\r\n" + HIDDEN)),
                bad(
                        400,
                        "many extensions",
                        chunked(("1;" + "a".repeat(200) + "\r\nx\r\n").repeat(90) + "0\r\n\r\n" + HIDDEN)),
                bad(400, "trailer is no field", chunked("0\r\nabc\r\n\r\n" + HIDDEN)),
                bad(400, "folded trailer", chunked("0\r\nA: b\r\n c\r\n\r\n" + HIDDEN)),
                bad(400, "bare LF in the trailer", chunked("0\r\nA: b\n\r\n\r\n" + HIDDEN)),
                bad(431, "huge trailer", chunked("0\r\nA: " + "b".repeat(17_000) + "\r\n\r\n" + HIDDEN)));
    }

    private static String post(String fields, String body) {
        return "POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n\r\n" + body;
    }

    private static String chunked(String body) {
        return post("Transfer-Encoding: chunked", body);
    }

    private static Arguments bad(int status, String name, String request) {
        return Arguments.argumentSet(name, status, request);
    }

    @ParameterizedTest
    @MethodSource("badRequests")
    void isRefusedAndHurtsNobodyElse(int status, String request) throws Exception {
        try (RawClient other = server.client();
                RawClient c = server.client()) {
            assertThat(other.get("/").answer().status()).isEqualTo(200);
            RawClient.Answer a = c.send(request).answer();
            assertThat(a.status()).isEqualTo(status);
            assertThat(a.header()).containsEntry("connection", "close");
            assertThat(a.text()).isNotEmpty();
            c.expectEnd();
            assertThat(other.get("/").answer().status()).isEqualTo(200);
        }
        assertThat(hidden.get()).isZero();
        assertThat(server.reported).isEmpty();
        assertThat(server.stop(Duration.ofSeconds(10))).isTrue();
    }

    /** The broken twin: what is hidden in those shapes is a request where the shape is right. */
    @Test
    void whatIsBehindARightBodyIsARequest() throws Exception {
        try (RawClient c = server.client()) {
            c.send(chunked("5\r\nhello\r\n0\r\n\r\n" + HIDDEN));
            assertThat(c.answer().text()).isEqualTo("hello");
            assertThat(c.answer().status()).isEqualTo(200);
        }
        assertThat(hidden.get()).isEqualTo(1);
    }

    static List<Arguments> goodRequests() {
        return List.of(
                Arguments.of("one empty line first", "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                Arguments.of("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"),
                Arguments.of("absolute", "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
                Arguments.of("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
                Arguments.of("IPv6 Host", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"),
                Arguments.of("HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n"),
                Arguments.of("UTF-8 in a field", "GET / HTTP/1.1\r\nHost: x\r\nA: \u00c3\u00a9\r\n\r\n"),
                Arguments.of("99 fields", "GET / HTTP/1.1\r\nHost: x\r\n" + "A: b\r\n".repeat(99) + "\r\n"),
                Arguments.of("large field", "GET / HTTP/1.1\r\nHost: x\r\nA: " + "b".repeat(16_000) + "\r\n\r\n"),
                Arguments.of("leading zeros", post("Content-Length: 0005", "hello")));
    }

    @ParameterizedTest
    @MethodSource("goodRequests")
    void isUnusualAndServed(String name, String request) throws Exception {
        try (RawClient c = server.client()) {
            assertThat(c.send(request).answer().status()).as(name).isEqualTo(200);
        }
    }

    /** What a client announces costs a few bytes, so it must not cost the server memory: forty gigabytes, here. */
    @Test
    void anAnnouncedBodyIsNotReserved() throws Exception {
        try (Served s = new Served((q, r) -> r.send(q.body()), b -> b.maxBodyBytes(4_000_000_000L))) {
            List<RawClient> announcers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                announcers.add(s.client().send(post("Content-Length: 2000000000", "abc")));
            }
            try (RawClient c = s.client()) {
                assertThat(c.get("/").answer().status()).isEqualTo(200);
            }
            for (RawClient c : announcers) {
                c.close();
            }
            assertThat(s.stop(Duration.ofSeconds(10))).isTrue();
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void aBodyBeyondTheLimitIsRefused() throws Exception {
        try (Served small = new Served((q, r) -> r.send(q.body()), b -> b.maxBodyBytes(10))) {
            Map<String, Integer> cases = Map.of(
                    post("Content-Length: 10", "0123456789"), 200,
                    post("Content-Length: 11", "0123456789a"), 413,
                    chunked("a\r\n0123456789\r\n0\r\n\r\n"), 200,
                    chunked("5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n"), 413);
            for (Map.Entry<String, Integer> e : cases.entrySet()) {
                try (RawClient c = small.client()) {
                    assertThat(c.send(e.getKey()).answer().status())
                            .as(e.getKey())
                            .isEqualTo(e.getValue());
                }
            }
        }
    }
}
