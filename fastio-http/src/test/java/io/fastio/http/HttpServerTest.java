package io.fastio.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.EventLoop;
import io.fastio.stream.ServerOptions;
import io.fastio.stream.Stream;
import io.fastio.stream.Streams;
import io.fastio.sync.Event;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class HttpServerTest {
    private static final HttpHandler HELLO = (request, response) -> response.send("hello\n");

    /** What came is what goes. */
    private static final HttpHandler ECHO = (request, response) -> response.send(request.body());

    @Test
    void answersWithLengthTypeAndDate() throws Exception {
        try (Served s = new Served(HELLO);
                RawClient c = s.client()) {
            RawClient.Answer a = c.get("/").answer();

            assertThat(a.status()).isEqualTo(200);
            assertThat(a.text()).isEqualTo("hello\n");
            assertThat(a.header())
                    .containsEntry("content-length", "6")
                    .containsEntry("content-type", "text/plain; charset=utf-8")
                    .doesNotContainKeys("connection", "transfer-encoding");
            assertThat(a.header().get("date"))
                    .matches("[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT");
        }
    }

    /** As any server is; OwnershipTest has the others. */
    @Test
    void S13_isForItsOwnLoop() throws Exception {
        try (Served s = new Served(HELLO);
                RawClient c = s.client();
                EventLoop other = EventLoop.builder().name("other").build()) {
            List<Action> uses = List.of(
                    () -> s.server.listen("127.0.0.1", 0),
                    s.server::waitClosed,
                    s.server::serveForever,
                    s.server::close);
            for (Action use : uses) {
                assertThatThrownBy(use::run).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> other.run(use))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("belongs to")
                        .hasMessageContaining("other");
            }
            assertThat(c.get("/").answer().text()).isEqualTo("hello\n");
        }
    }

    @Test
    void keepsTheConnectionAsTheClientWants() throws Exception {
        try (Served s = new Served(HELLO)) {
            try (RawClient c = s.client()) {
                for (int i = 0; i < 3; i++) {
                    assertThat(c.get("/").answer().text()).isEqualTo("hello\n");
                }
                c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n");
                assertThat(c.answer().header()).containsEntry("connection", "close");
                c.expectEnd();
            }
            try (RawClient c = s.client()) {
                c.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
                assertThat(c.answer().header()).containsEntry("connection", "keep-alive");
                c.send("GET / HTTP/1.0\r\n\r\n");
                assertThat(c.answer().header()).containsEntry("connection", "close");
                c.expectEnd();
            }
            assertThat(s.server.requests()).isEqualTo(6);
        }
    }

    @Test
    void answersPipelinedRequestsInOrder() throws Exception {
        try (Served s = new Served((q, r) -> r.send(q.target()));
                RawClient c = s.client()) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 1000; i++) {
                all.append("GET /").append(i).append(" HTTP/1.1\r\nHost: x\r\n\r\n");
            }
            c.send(all.toString());
            for (int i = 0; i < 1000; i++) {
                assertThat(c.answer().text()).isEqualTo("/" + i);
            }
        }
    }

    @Test
    void aSlowHandlerDoesNotHoldBackTheAnswerBeforeIt() throws Exception {
        Event go = new Event();
        try (Served s = new Served((q, r) -> {
                    if (q.target().equals("/slow")) {
                        go.await();
                    }
                    r.send(q.target());
                });
                RawClient c = s.client()) {
            c.send("GET /fast HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(c.answer().text()).isEqualTo("/fast");
            go.set();
            assertThat(c.answer().text()).isEqualTo("/slow");
        }
    }

    @Test
    void readsARequestThatComesByteByByte() throws Exception {
        try (Served s = new Served(ECHO);
                RawClient c = s.client()) {
            String post = String.join(
                    "\r\n",
                    "POST /x HTTP/1.1",
                    "Host: x",
                    "Transfer-Encoding: chunked",
                    "",
                    "3;ext=1",
                    "abc",
                    "00A",
                    "0123456789",
                    "0",
                    "Trailer: v",
                    "",
                    "");
            for (byte b : post.getBytes(UTF_8)) {
                c.send(new byte[] {b});
            }
            assertThat(c.answer().text()).isEqualTo("abc0123456789");
            assertThat(c.get("/").answer().status()).isEqualTo(200);
        }
    }

    @Test
    void readsBodiesWithLengthAndChunked() throws Exception {
        byte[] large = new byte[3_000_000];
        for (int i = 0; i < large.length; i++) {
            large[i] = (byte) (i * 31 >> 3);
        }
        try (Served s = new Served(ECHO);
                RawClient c = s.client()) {
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + large.length + "\r\n\r\n")
                    .send(large);
            assertThat(c.answer().body()).isEqualTo(large);
            c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n");
            for (int at = 0; at < large.length; ) {
                int n = Math.min(large.length - at, 1 + at % 70_000);
                c.send(Integer.toHexString(n) + "\r\n")
                        .send(Arrays.copyOfRange(large, at, at + n))
                        .send("\r\n");
                at += n;
            }
            c.send("0\r\n\r\n");
            assertThat(c.answer().body()).isEqualTo(large);
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            assertThat(c.answer().body()).isEmpty();
        }
    }

    @Test
    void streamsChunkedAndByLengthAndToTheEnd() throws Exception {
        try (Served s = new Served((q, r) -> {
            switch (q.path()) {
                case "/length" -> r.contentLength(10);
                case "/stream" -> {
                    try (OutputStream out = r.outputStream()) {
                        out.write(new byte[100_000]);
                        out.write('x');
                    }
                    return;
                }
                case "/direct" -> r.contentType("a/b").write(ByteBuffer.allocateDirect(5));
                default -> {
                    // Chunked.
                }
            }
            r.write("01234");
            r.flush();
            r.write("56789".getBytes(UTF_8));
        })) {
            try (RawClient c = s.client()) {
                RawClient.Answer a = c.get("/").answer();
                assertThat(a.header()).containsEntry("transfer-encoding", "chunked");
                assertThat(a.text()).isEqualTo("0123456789");
                a = c.get("/length").answer();
                assertThat(a.header()).containsEntry("content-length", "10").doesNotContainKey("transfer-encoding");
                assertThat(a.text()).isEqualTo("0123456789");
                assertThat(c.get("/stream").answer().body()).hasSize(100_001);
                assertThat(c.get("/direct").answer().text()).isEqualTo("\0\0\0\0\0" + "0123456789");
            }
            try (RawClient c = s.client()) {
                c.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
                RawClient.Answer a = c.answer();
                assertThat(a.header())
                        .containsEntry("connection", "close")
                        .doesNotContainKeys("transfer-encoding", "content-length");
                assertThat(a.text()).isEqualTo("0123456789");
            }
        }
    }

    @Test
    void headGetsTheHeadOnly() throws Exception {
        try (Served s = new Served((q, r) -> {
                    if (q.path().equals("/chunked")) {
                        r.write("abc");
                    } else {
                        r.send("hello\n");
                    }
                });
                RawClient c = s.client()) {
            RawClient.Answer a = c.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").answer(false);
            assertThat(a.header()).containsEntry("content-length", "6");
            a = c.send("HEAD /chunked HTTP/1.1\r\nHost: x\r\n\r\n").answer(false);
            assertThat(a.header()).containsEntry("transfer-encoding", "chunked");
            assertThat(c.get("/").answer().text()).isEqualTo("hello\n");
        }
    }

    @Test
    void someAnswersHaveNoBody() throws Exception {
        try (Served s = new Served((q, r) -> {
                    r.status(Integer.parseInt(q.path().substring(1)));
                    if (q.query().equals("body")) {
                        r.send("x");
                    }
                });
                RawClient c = s.client()) {
            assertThat(c.get("/204").answer(false).header()).doesNotContainKeys("content-length", "transfer-encoding");
            assertThat(c.get("/304?body").answer(false).header()).doesNotContainKey("content-length");
            assertThat(c.get("/205?body").answer().header()).containsEntry("content-length", "0");
            assertThat(c.get("/404").answer().header()).containsEntry("content-length", "0");
        }
    }

    @Test
    void asksForABodyThatWaitsToBeAskedFor() throws Exception {
        try (Served s = new Served((q, r) -> {
            if (q.path().equals("/no")) {
                throw new HttpException(403, "no");
            }
            r.send(q.body());
        })) {
            try (RawClient c = s.client()) {
                c.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
                assertThat(c.answer().status()).isEqualTo(100);
                assertThat(c.send("abc").answer().text()).isEqualTo("abc");
                c.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
                assertThat(c.answer().text())
                        .as("not asked for what is there already")
                        .isEqualTo("abc");
                c.send("POST /no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
                RawClient.Answer refused = c.answer();
                assertThat(refused.status()).isEqualTo(403);
                assertThat(refused.header()).containsEntry("connection", "close");
                c.expectEnd();
            }
            try (RawClient c = s.client()) {
                c.send("GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n");
                assertThat(c.answer().status()).isEqualTo(417);
                c.expectEnd();
            }
        }
    }

    @Test
    void anUnreadBodyDoesNotBecomeARequest() throws Exception {
        try (Served s = new Served(HELLO);
                RawClient c = s.client()) {
            String inner = "GET /inner HTTP/1.1\r\nHost: x\r\n\r\n";
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + inner.length() + "\r\n\r\n" + inner);
            c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + Integer.toHexString(inner.length()) + "\r\n" + inner + "\r\n0\r\n\r\n");
            c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            for (int i = 0; i < 3; i++) {
                assertThat(c.answer().text()).isEqualTo("hello\n");
            }
            c.expectEnd();
            assertThat(s.server.requests()).isEqualTo(3);
        }
    }

    @Test
    void aLargeUnreadBodyEndsTheConnectionBehindTheAnswer() throws Exception {
        try (Served s = new Served(HELLO);
                RawClient c = s.client()) {
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
            RawClient.Answer a = c.answer();
            assertThat(a.text()).isEqualTo("hello\n");
            assertThat(a.header()).containsEntry("connection", "close");
            c.expectEnd();
        }
    }

    @Test
    void decodesPathAndQuery() throws Exception {
        try (Served s = new Served((q, r) -> r.send(q.path()
                        + '|'
                        + q.query()
                        + '|'
                        + q.queryParameter("a b")
                        + '|'
                        + q.queryParameter("none")
                        + '|'
                        + q.queryParameter("flag")));
                RawClient c = s.client()) {
            assertThat(c.get("/x%20y/%C3%A9?flag&a+b=1%2B1&c").answer().text())
                    .isEqualTo("/x y/é|flag&a+b=1%2B1&c|1+1|null|");
            assertThat(c.get("http://h:80/p?q").answer().text()).isEqualTo("/p|q|null|null|null");
            assertThat(c.get("http://h?a=/b").answer().text()).isEqualTo("/|a=/b|null|null|null");
            assertThat(c.get("/x?u=http://h/b").answer().text()).startsWith("/x|u=http://h/b|");
            assertThat(c.get("http://h").answer().text()).isEqualTo("/||null|null|null");
            for (String bad : List.of("/%", "/%4", "/%zz", "/%ff", "/%41%")) {
                assertThat(c.get(bad).answer().status()).as(bad).isEqualTo(400);
            }
            assertThat(c.get("/%41").answer().text()).startsWith("/A|");
        }
    }

    @Test
    void findsHeaderFieldsWhateverTheirCase() throws Exception {
        try (Served s = new Served((q, r) -> {
                    r.header("X-One", q.header("x-ONE") + "")
                            .header("X-Many", q.headers("many").toString())
                            .header("X-None", q.header("none") + "")
                            .send(q.headers().toString());
                });
                RawClient c = s.client()) {
            RawClient.Answer a = c.send(
                            "GET / HTTP/1.1\r\nHost:x\r\nX-One: \t a b \t\r\nMany: 1\r\nmany:2\r\nEmpty:\r\n\r\n")
                    .answer();
            assertThat(a.header())
                    .containsEntry("x-one", "a b")
                    .containsEntry("x-many", "[1, 2]")
                    .containsEntry("x-none", "null");
            assertThat(a.text()).isEqualTo("{Host=[x], X-One=[a b], Many=[1, 2], Empty=[]}");
        }
    }

    private static int depth(int n) {
        return n < 0 ? 0 : depth(n + 1) + 1;
    }

    @Test
    void aHandlerThatFailsHurtsItsRequestOnly() throws Exception {
        try (Served s = new Served((q, r) -> {
            switch (q.path()) {
                case "/throws" -> throw new IllegalStateException("boom");
                case "/error" -> throw new AssertionError("an Error");
                case "/deep" -> r.send("depth " + depth(1));
                case "/late" -> {
                    r.contentLength(10).write("12345");
                    throw new IllegalStateException("late");
                }
                case "/short" -> r.contentLength(10).write("12345");
                case "/teapot" -> throw new HttpException(418, "a teapot");
                default -> r.send("fine");
            }
        })) {
            try (RawClient c = s.client();
                    RawClient other = s.client()) {
                assertThat(other.get("/").answer().text()).isEqualTo("fine");
                RawClient.Answer a = c.get("/throws").answer();
                assertThat(a.status()).isEqualTo(500);
                assertThat(a.text()).doesNotContain("boom");
                assertThat(s.reports(1)).hasSize(1);
                assertThat(s.reported.getFirst().message()).contains("GET /throws", "boom");
                for (String path : List.of("/error", "/deep")) {
                    assertThat(c.get(path).answer().status()).as(path).isEqualTo(500);
                }
                assertThat(s.reports(3)).hasSize(3);
                a = c.get("/teapot").answer();
                assertThat(a.status()).isEqualTo(418);
                assertThat(a.text()).isEqualTo("a teapot\n");
                assertThat(c.get("/").answer().text()).as("same connection").isEqualTo("fine");
                assertThat(other.get("/").answer().text()).isEqualTo("fine");
                assertThat(s.reported).hasSize(3);
            }
            for (String path : List.of("/late", "/short")) {
                try (RawClient c = s.client()) {
                    c.get(path);
                    assertThatThrownBy(c::answer).as(path).isInstanceOfAny(IOException.class, AssertionError.class);
                }
            }
        }
    }

    @Test
    void refusesHeaderFieldsThatWouldSplitTheAnswer() throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        try (Served s = new Served((q, r) -> {
                    for (Runnable bad : List.<Runnable>of(
                            () -> r.header("A", "b\r\nC: d"),
                            () -> r.header("A", "b\nC: d"),
                            () -> r.header("A\r\n", "b"),
                            () -> r.header("", "b"),
                            () -> r.header("A b", "c"),
                            () -> r.header("A", "\u20ac"),
                            () -> r.header("Content-length", "3"),
                            () -> r.header("transfer-encoding", "chunked"),
                            () -> r.header("CONNECTION", "close"))) {
                        try {
                            bad.run();
                            thrown.set(new AssertionError("accepted"));
                        } catch (IllegalArgumentException e) {
                            assertThat(e.getMessage()).isNotEmpty();
                        }
                    }
                    r.send("ok");
                });
                RawClient c = s.client()) {
            RawClient.Answer a = c.get("/").answer();
            assertThat(a.text()).isEqualTo("ok");
            assertThat(a.header()).containsOnlyKeys("date", "content-type", "content-length");
            assertThat(thrown.get()).isNull();
        }
    }

    @Test
    void theRequestIsGoneWhenItsHandlerHasReturned() throws Exception {
        AtomicReference<HttpRequest> kept = new AtomicReference<>();
        try (Served s = new Served((q, r) -> {
                    kept.set(q);
                    r.send("x");
                });
                RawClient c = s.client()) {
            c.get("/").answer();
            assertThatThrownBy(() -> kept.get().header("Host")).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> kept.get().body()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void closeFinishesWhatIsInService() throws Exception {
        CountDownLatch inService = new CountDownLatch(1);
        Event go = new Event();
        try (Served s = new Served((q, r) -> {
                    if (q.path().equals("/slow")) {
                        inService.countDown();
                        go.await();
                    }
                    r.send("done");
                });
                RawClient idle = s.client();
                RawClient busy = s.client()) {
            assertThat(idle.get("/").answer().text()).isEqualTo("done");
            busy.get("/slow");
            assertThat(inService.await(10, TimeUnit.SECONDS)).isTrue();
            s.call(Executors.callable(s.server::close));
            idle.expectEnd();
            assertThatThrownBy(s::client).isInstanceOf(ConnectException.class);
            go.set();
            RawClient.Answer a = busy.answer();
            assertThat(a.text()).isEqualTo("done");
            assertThat(a.header()).containsEntry("connection", "close");
            busy.expectEnd();
            assertThat(s.stop(Duration.ofSeconds(5))).isTrue();
        }
    }

    /** What is pipelined behind the request in service is not begun any more, and its client can tell. */
    @Test
    void closeBeginsNothingThatWaitsBehindWhatIsInService() throws Exception {
        CountDownLatch inService = new CountDownLatch(1);
        Event go = new Event();
        try (Served s = new Served((q, r) -> {
                    inService.countDown();
                    go.await();
                    r.send(q.target());
                });
                RawClient c = s.client()) {
            c.get("/first").get("/second").get("/third");
            assertThat(inService.await(10, TimeUnit.SECONDS)).isTrue();
            s.call(Executors.callable(s.server::close));
            go.set();
            RawClient.Answer a = c.answer();
            assertThat(a.text()).isEqualTo("/first");
            assertThat(a.header()).containsEntry("connection", "close");
            c.expectEnd();
            assertThat(s.server.requests()).isEqualTo(1);
            assertThat(s.stop(Duration.ofSeconds(5))).isTrue();
        }
    }

    /** A request that is under way when the server closes is waited for, and answered: its body, or its head already. */
    @Test
    void closeWaitsForARequestThatIsUnderWay() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        try (Served s = new Served((q, r) -> {
                    reading.countDown();
                    r.send(q.target() + new String(q.body(), UTF_8));
                });
                RawClient body = s.client();
                RawClient head = s.client()) {
            head.send("GET /head HTTP/1.1\r\nHost:");
            body.send("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc");
            assertThat(reading.await(10, TimeUnit.SECONDS)).isTrue();
            Thread.sleep(50); // the piece of a head has been read
            s.call(Executors.callable(s.server::close));
            Thread.sleep(50);
            assertThat(body.send("def").answer().text()).isEqualTo("/bodyabcdef");
            body.expectEnd();
            RawClient.Answer a = head.send("x\r\n\r\n").answer();
            assertThat(a.text()).isEqualTo("/head");
            assertThat(a.header()).containsEntry("connection", "close");
            head.expectEnd();
            assertThat(s.stop(Duration.ofSeconds(5))).isTrue();
            assertThat(s.server.connections()).isZero();
        }
    }

    /** As any server: more wait in the backlog, and come in when others have ended. */
    @Test
    void servesNoMoreConnectionsAtATimeThanItMay() throws Exception {
        try (Served s = new Served(
                        HELLO, b -> b.options(ServerOptions.defaults().maxConnections(2)));
                RawClient a = s.client();
                RawClient b = s.client();
                RawClient waits = s.client()) {
            assertThat(a.get("/").answer().status()).isEqualTo(200);
            assertThat(b.get("/").answer().status()).isEqualTo(200);
            waits.get("/");
            Thread.sleep(100);
            assertThat(waits.socket.getInputStream().available()).isZero();
            assertThat(s.call(s.server::connections)).isEqualTo(2);
            a.close();
            assertThat(waits.answer().text()).isEqualTo("hello\n");
        }
    }

    @Test
    void closeIsBounded() throws Exception {
        CountDownLatch inService = new CountDownLatch(1);
        AtomicReference<Throwable> end = new AtomicReference<>();
        try (Served s = new Served((q, r) -> {
                    inService.countDown();
                    try {
                        Asyncio.sleep(Duration.ofHours(1));
                    } catch (CancelledError e) {
                        end.set(e);
                        throw e;
                    }
                });
                RawClient c = s.client()) {
            c.get("/");
            assertThat(inService.await(10, TimeUnit.SECONDS)).isTrue();
            long start = System.nanoTime();
            assertThat(s.stop(Duration.ofMillis(100))).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            assertThat(end.get()).isInstanceOf(CancelledError.class);
            assertThat(s.server.connections()).isZero();
        }
    }

    /** Who has not got as far as HTTP: one waits for its client, as for a handshake, the other for something else. */
    @Test
    void closeEndsWhatTheLayerIsStillBusyWith() throws Exception {
        AtomicInteger arriving = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        HttpServer.Layer layer = s -> {
            try {
                if (arriving.incrementAndGet() == 1) {
                    s.read(1);
                } else {
                    Asyncio.sleep(Duration.ofHours(1));
                }
                return s;
            } finally {
                ended.incrementAndGet();
            }
        };
        for (int clients = 1; clients <= 2; clients++) {
            arriving.set(0);
            ended.set(0);
            try (Served s = new Served(HELLO, b -> b.over(layer))) {
                List<RawClient> opened = new ArrayList<>();
                for (int i = 0; i < clients; i++) {
                    opened.add(s.client());
                }
                while (arriving.get() < clients) {
                    Thread.sleep(5);
                }
                assertThat(s.stop(Duration.ofMillis(300))).isEqualTo(clients == 1);
                assertThat(ended.get()).isEqualTo(clients);
                assertThat(s.reported).isEmpty();
                for (RawClient c : opened) {
                    c.close();
                }
            }
        }
    }

    @Test
    void listensAtAUnixSocketToo(@TempDir Path dir) throws Exception {
        Path path = dir.resolve("http.sock");
        try (Served s = new Served(HELLO)) {
            s.call(() -> s.server.listen(path));
            byte[] answer = s.call(() -> {
                Stream stream = Streams.openUnixConnection(path);
                stream.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                byte[] all = stream.read(-1);
                stream.close();
                return all;
            });
            assertThat(new String(answer, UTF_8))
                    .startsWith("HTTP/1.1 200 OK\r\n")
                    .endsWith("hello\n");
            assertThat(Files.exists(path)).isTrue();
        }
        assertThat(Files.exists(path)).isFalse();
    }

    @Test
    void aClientThatGoesAwayIsNoEvent() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        try (Served s = new Served((q, r) -> {
            reading.countDown();
            r.send(q.body());
        })) {
            try (RawClient c = s.client()) {
                c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
                assertThat(reading.await(10, TimeUnit.SECONDS)).isTrue();
            }
            try (RawClient c = s.client()) {
                c.send("GET / HT");
                c.socket.setSoLinger(true, 0);
            }
            try (RawClient c = s.client()) {
                assertThat(c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab")
                                .answer()
                                .text())
                        .isEqualTo("ab");
            }
            assertThat(s.stop(Duration.ofSeconds(5))).isTrue();
            assertThat(s.reported).isEmpty();
        }
    }
}
