package io.fastio.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.Asyncio;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A handler that gives a wait up, by a time limit of its own, and goes on. */
@Timeout(60)
final class GivenUpTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    private static HttpServer.Builder impatient(HttpServer.Builder b) {
        return b.headTime(SHORT).idleTime(SHORT).transfer(SHORT, 1000);
    }

    /** Reads all of the body in waits of 2 ms, however many that takes. */
    private static String patiently(HttpRequest q, AtomicInteger givenUp) throws Exception {
        StringBuilder all = new StringBuilder();
        byte[] some = new byte[100];
        while (true) {
            try {
                int n = Asyncio.waitForMs(() -> q.read(some, 0, some.length), 2);
                if (n < 0) {
                    return all.toString();
                }
                all.append(new String(some, 0, n, UTF_8));
            } catch (TimeoutException e) {
                givenUp.incrementAndGet();
            }
        }
    }

    /** A size whose first digits were lost with the wait would be another size: what is in the chunk would be a request. */
    @Test
    void C2_C6_aReadOfABodyThatIsGivenUpAnywhereGoesOnThere() throws Exception {
        AtomicInteger givenUp = new AtomicInteger();
        try (Served s = new Served((q, r) -> r.send(patiently(q, givenUp)));
                RawClient c = s.client()) {
            String body =
                    "1a;ext=\"x\"\r\nabcdefghijklmnopqrstuvwxyz\r\n002\r\n01\r\n0\r\nTrailer: v\r\nMore: w\r\n\r\n";
            c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (byte b : body.getBytes(UTF_8)) {
                c.send(new byte[] {b});
                Thread.sleep(4); // the peer is slow: that is what the test is about
            }
            assertThat(c.answer().text()).isEqualTo("abcdefghijklmnopqrstuvwxyz01");
            assertThat(c.get("/").answer().status()).isEqualTo(200);
            assertThat(givenUp.get()).isGreaterThan(20);
            assertThat(s.server.requests()).isEqualTo(2);
        }
    }

    /** The peer keeps nobody waiting then: the handler takes as long as it likes. */
    @Test
    void aReadThatWasGivenUpIsNotCountedAgainstTheClient() throws Exception {
        try (Served s = new Served(
                        (q, r) -> {
                            try {
                                Asyncio.waitForMs(() -> q.read(new byte[10], 0, 10), 5);
                            } catch (TimeoutException e) {
                                Asyncio.sleep(SHORT.multipliedBy(4));
                            }
                            r.send(q.body());
                        },
                        GivenUpTest::impatient);
                RawClient c = s.client()) {
            for (String how : new String[] {"Content-Length: 3", "Transfer-Encoding: chunked"}) {
                c.send("POST / HTTP/1.1\r\nHost: x\r\n" + how + "\r\n\r\n");
                Thread.sleep(SHORT.toMillis() * 3);
                c.send(how.startsWith("C") ? "abc" : "3\r\nabc\r\n0\r\n\r\n");
                RawClient.Answer a = c.answer();
                assertThat(a.status()).as(how).isEqualTo(200);
                assertThat(a.text()).isEqualTo("abc");
            }
        }
    }

    @Test
    void C6_aWriteThatIsGivenUpTearsNothingAndIsNotCountedAgainstTheClient() throws Exception {
        byte[] part = new byte[300_000];
        AtomicInteger givenUp = new AtomicInteger();
        try (Served s = new Served(
                        (q, r) -> {
                            for (int i = 0; i < 60; i++) {
                                part[0] = (byte) i;
                                try {
                                    Asyncio.waitForMs(
                                            () -> {
                                                r.write(part, 0, 200_000 + givenUp.get());
                                                r.write("small");
                                                r.write(part, 0, 16_380);
                                            },
                                            1);
                                } catch (TimeoutException e) {
                                    givenUp.incrementAndGet();
                                    Asyncio.sleepMs(10);
                                }
                            }
                            Asyncio.sleep(SHORT.multipliedBy(4));
                            r.write("end");
                        },
                        GivenUpTest::impatient);
                RawClient c = s.client()) {
            c.get("/");
            Thread.sleep(100);
            RawClient.Answer a = c.answer();
            assertThat(a.text()).endsWith("end");
            assertThat(givenUp.get()).isPositive();
            assertThat(c.get("/").answer().status()).isEqualTo(200);
        }
    }
}
