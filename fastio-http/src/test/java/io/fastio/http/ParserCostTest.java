package io.fastio.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What it costs to parse a head: printed, and held to what must not grow. */
final class ParserCostTest {
    private static final int ROUNDS = 200_000;
    private static final String BROWSER = String.join(
            "\r\n",
            "GET /products/42?colour=green&size=12 HTTP/1.1",
            "Host: www.example.org",
            "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
            "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Language: en-GB,en;q=0.5",
            "Accept-Encoding: gzip, deflate, br",
            "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark",
            "Connection: keep-alive",
            "",
            "");

    private static int parse(RequestHead head, byte[] request, int rounds) throws HttpException {
        int fields = 0;
        for (int i = 0; i < rounds; i++) {
            head.begin(request, 0);
            if (head.parse(request.length)) {
                fields += head.fieldCount;
            }
        }
        return fields;
    }

    @Test
    void parsingAHeadAllocatesNothing() throws Exception {
        for (String text : new String[] {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", BROWSER}) {
            byte[] request = text.getBytes(StandardCharsets.US_ASCII);
            RequestHead head = new RequestHead(8192, 100, 4096);
            for (int i = 0; i < 3; i++) {
                assertThat(parse(head, request, ROUNDS)).isEqualTo(ROUNDS * head.fieldCount);
            }
            long start = System.nanoTime();
            long bytes = bytesOf(() -> parse(head, request, ROUNDS));
            double nanos = (double) (System.nanoTime() - start) / ROUNDS;
            System.out.printf(
                    "parser: %d bytes, %d fields: %.0f ns, %.2f million heads/s, %.2f bytes allocated%n",
                    request.length, head.fieldCount, nanos, 1000 / nanos, (double) bytes / ROUNDS);
            assertThat((double) bytes / ROUNDS).isLessThan(1);
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static long bytesOf(Work work) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        work.run();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }
}
