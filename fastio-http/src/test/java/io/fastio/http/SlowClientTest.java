package io.fastio.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Clients that take their time, by accident or to keep others out. */
@Timeout(60)
final class SlowClientTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final HttpHandler ECHO = (request, response) -> response.send(request.body());

    private static HttpServer.Builder impatient(HttpServer.Builder b) {
        return b.headTime(SHORT).idleTime(SHORT).transfer(SHORT, 1000);
    }

    private static void dripUntilTheServerHasEnough(RawClient c) throws Exception {
        long start = System.nanoTime();
        try {
            while (c.socket.getInputStream().available() == 0) {
                c.send("a");
                Thread.sleep(20);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
            }
        } catch (IOException e) {
            assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe|aborted).*");
        }
    }

    @Test
    void anIdleConnectionIsClosed() throws Exception {
        try (Served s = new Served(ECHO, SlowClientTest::impatient);
                RawClient never = s.client();
                RawClient once = s.client()) {
            assertThat(once.get("/").answer().status()).isEqualTo(200);
            never.expectEnd();
            once.expectEnd();
            assertThat(s.reported).isEmpty();
        }
    }

    /** The time counts from the connection's beginning, and not from the server's. */
    @Test
    void aNewConnectionOfAnOldServerHasItsTime() throws Exception {
        Duration idle = Duration.ofMillis(900);
        try (Served s = new Served(ECHO, b -> b.idleTime(idle))) {
            Thread.sleep(2 * idle.toMillis());
            for (int i = 0; i < 3; i++) {
                try (RawClient c = s.client()) {
                    Thread.sleep(idle.toMillis() / 3);
                    assertThat(c.get("/").answer().status()).isEqualTo(200);
                }
            }
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void aHeadThatDripsIsRefused() throws Exception {
        try (Served s = new Served(ECHO, SlowClientTest::impatient);
                RawClient c = s.client()) {
            c.send("GET / HTTP/1.1\r\nHost: x\r\nA: ");
            dripUntilTheServerHasEnough(c);
            assertThat(c.answer().status()).isEqualTo(408);
            assertThat(s.stop(Duration.ofSeconds(5))).isTrue();
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void aHeadThatStopsIsRefused() throws Exception {
        try (Served s = new Served(ECHO, SlowClientTest::impatient);
                RawClient c = s.client()) {
            RawClient.Answer a = c.send("GET / HTTP/1.1\r\nHost").answer();
            assertThat(a.status()).isEqualTo(408);
            c.expectEnd();
        }
    }

    /** RFC 9110, 15: a request has one final answer, also if its body, which nobody read, stops. */
    @Test
    void aBodyThatStopsBehindTheAnswerGetsNoSecondOne() throws Exception {
        try (Served s = new Served((q, r) -> r.send("done"), SlowClientTest::impatient);
                RawClient c = s.client()) {
            assertThat(c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
                            .answer()
                            .status())
                    .isEqualTo(200);
            c.expectEnd();
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void aBodyThatStopsIsRefused() throws Exception {
        try (Served s = new Served(ECHO, SlowClientTest::impatient)) {
            for (String start : new String[] {
                "Content-Length: 1000\r\n\r\nabc",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
                "Transfer-Encoding: chunked\r\n\r\n5",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde",
                "Content-Length: 1000\r\n\r\n"
            }) {
                try (RawClient c = s.client()) {
                    assertThat(c.send("POST / HTTP/1.1\r\nHost: x\r\n" + start)
                                    .answer()
                                    .status())
                            .as(start)
                            .isEqualTo(408);
                    c.expectEnd();
                }
            }
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void aBodyThatDripsIsRefused() throws Exception {
        try (Served s = new Served(ECHO, SlowClientTest::impatient);
                RawClient c = s.client()) {
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
            dripUntilTheServerHasEnough(c);
            assertThat(c.answer().status()).isEqualTo(408);
        }
    }

    /** The broken twin: as slow in time, but not in bytes. */
    @Test
    void aLargeBodyMayTakeLongerThanTheLimit() throws Exception {
        try (Served s = new Served((q, r) -> r.send("" + q.body().length), SlowClientTest::impatient);
                RawClient c = s.client()) {
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
            for (int i = 0; i < 20; i++) {
                c.send("x".repeat(5000));
                Thread.sleep(50);
            }
            assertThat(c.answer().text()).isEqualTo("100000");
        }
    }

    @Test
    void aHandlerMayTakeItsTime() throws Exception {
        try (Served s = new Served(
                        (q, r) -> {
                            Asyncio.sleep(SHORT.multipliedBy(4));
                            r.send("late");
                        },
                        SlowClientTest::impatient);
                RawClient c = s.client()) {
            assertThat(c.get("/").answer().text()).isEqualTo("late");
        }
    }

    @Test
    void whoTakesNoAnswerIsCutOff() throws Exception {
        byte[] much = new byte[1 << 20];
        try (Served s = new Served(
                        (q, r) -> {
                            for (int i = 0; i < 1000; i++) {
                                r.write(much);
                            }
                        },
                        SlowClientTest::impatient);
                RawClient c = s.client()) {
            c.get("/");
            long start = System.nanoTime();
            while (s.call(s.server::requests) == 0 || s.call(s.server::connections) > 0) {
                Thread.sleep(20);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
            }
            assertThatThrownBy(c::answer).isInstanceOfAny(IOException.class, AssertionError.class);
            assertThat(s.reported).isEmpty();
        }
    }

    /**
     * The kernel takes what a server sends, and has room again, in steps of hundreds of kilobytes: a client is as slow as what
     * it acknowledges, not as those steps.
     */
    @Test
    @EnabledOnOs(OS.LINUX)
    void whoTakesAnAnswerSlowlyIsNotCutOff() throws Exception {
        byte[] much = new byte[12_000_000];
        try (Served s = new Served((q, r) -> r.send(much), b -> b.transfer(Duration.ofSeconds(2), 1000));
                RawClient c = s.client()) {
            c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            int taken = 0;
            for (int i = 0; i < 50; i++) { // much slower than those steps come, much faster than it has to be
                taken += c.socket.getInputStream().readNBytes(10_000).length;
                Thread.sleep(100);
            }
            assertThat(s.call(s.server::connections)).isEqualTo(1);
            assertThat(c.rest()).isGreaterThan(much.length - taken);
            assertThat(s.reported).isEmpty();
        }
    }

    /** A good beginning is no licence to keep the server waiting for the rest of it. */
    @Test
    void whatWasSentFastEarlierDoesNotCountForEver() throws Exception {
        try (Served s = new Served(ECHO, SlowClientTest::impatient);
                RawClient c = s.client()) {
            c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n")
                    .send(new byte[9_000_000]);
            dripUntilTheServerHasEnough(c);
            assertThat(c.answer().status()).isEqualTo(408);
        }
    }

    /** The end of the connection comes behind the answer, however long its client takes for the last of it. */
    @Test
    void anAnswerIsSentToItsEndBeforeTheConnectionEnds() throws Exception {
        EventLoop.Builder loop = EventLoop.builder().shutdownTimeout(Duration.ofMillis(200));
        AtomicLong sent = new AtomicLong();
        HttpHandler untilFull = (q, r) -> {
            sent.set(0);
            r.close();
            while (q.connection().stream.pendingBytes() < 20_000) { // less than a write would wait for
                r.write(new byte[10_000]);
                r.flush();
                sent.addAndGet(10_000);
            }
        };
        try (Served s = new Served(loop, untilFull, b -> b)) {
            for (String request : new String[] {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
                try (RawClient c = s.client()) {
                    c.send(request);
                    c.socket.shutdownOutput();
                    Thread.sleep(1_700); // longer than a connection that ends waits for its peer: 1 s, and 0.2 s
                    assertThat(c.rest()).isGreaterThan(sent.get());
                }
            }
            assertThat(s.reported).isEmpty();
        }
    }

    private static final String HANDSHAKE = String.join(
            "\r\n",
            "GET /ws HTTP/1.1",
            "Host: x",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "",
            "");

    /** A WebSocket that is never read, and then one whose client keeps up: only the first is cut off, and its sender told. */
    @Test
    void aWebSocketWhoseClientNeverReadsIsCutOff() throws Exception {
        byte[] much = new byte[1 << 20];
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        HttpHandler sender = (request, response) -> {
            WebSocket ws = WebSocket.accept(request, response);
            for (int i = 0; i < 40; i++) {
                try {
                    ws.send(much);
                    Asyncio.sleepMs(30); // the whole takes several times as long as the limit
                } catch (IOException e) {
                    ends.add(String.valueOf(e.getMessage()));
                    return;
                }
            }
            ends.add("all sent");
        };
        try (Served s = new Served(sender, SlowClientTest::impatient)) {
            try (RawClient deaf = s.client()) {
                assertThat(deaf.send(HANDSHAKE).answer(false).status()).isEqualTo(101);
                assertThat(ends.poll(30, TimeUnit.SECONDS)).contains("takes too little");
            }
            try (RawClient reader = s.client()) {
                assertThat(reader.send(HANDSHAKE).answer(false).status()).isEqualTo(101);
                for (int i = 0; i < 40; i++) {
                    reader.exactly(10 + much.length);
                }
                assertThat(ends.poll(30, TimeUnit.SECONDS)).isEqualTo("all sent");
            }
            assertThat(s.reported).isEmpty();
        }
    }
}
