package io.fastio.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fastio.benchmarks.subject.Reading;
import org.junit.jupiter.api.Test;

class HttpToolTest {
    private static final String WRK = """
            Running 2s test @ http://127.0.0.1:8080/
              1 threads and 50 connections
              Thread Stats   Avg      Stdev     Max   +/- Stdev
                Latency   397.51us  151.00us   6.24ms   93.86%
                Req/Sec   123.45k     9.88k  135.66k    78.26%
              Latency Distribution
                 50%  373.00us
                 75%  420.00us
                 90%  489.00us
                 99%    1.02ms
              245678 requests in 2.00s, 21.00MB read
              Socket errors: connect 0, read 3, write 0, timeout 1
              Non-2xx or 3xx responses: 5
            Requests/sec: 122839.12
            Transfer/sec:     10.50MB
            """;
    private static final String AB = """
            Concurrency Level:      50
            Complete requests:      50000
            Failed requests:        2
            Keep-Alive requests:    50000
            Requests per second:    45678.90 [#/sec] (mean)

            Percentage of the requests served within a certain time (ms)
              50%      1
              66%      1
              99%      3
             100%     11 (longest request)
            """;

    @Test
    void readsWhatWrkPrints() {
        Reading r = HttpTool.parse(HttpTool.Program.WRK, WRK);
        assertThat(r.value("rps")).isEqualTo(122839.12);
        assertThat(r.value("p50_us")).isEqualTo(373);
        assertThat(r.value("p99_us")).isEqualTo(1_020);
        assertThat(r.value("max_us")).isEqualTo(6_240);
        assertThat(r.value("errors")).isEqualTo(9);
    }

    @Test
    void readsWhatAbPrints() {
        Reading r = HttpTool.parse(HttpTool.Program.AB, AB);
        assertThat(r.value("rps")).isEqualTo(45678.9);
        assertThat(r.value("p99_us")).isEqualTo(3_000);
        assertThat(r.value("max_us")).isEqualTo(11_000);
        assertThat(r.value("errors")).isEqualTo(2);
    }

    @Test
    void anythingElseIsAnError() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HttpTool.parse(HttpTool.Program.AB, "apr_socket_recv: Connection refused"))
                .withMessageContaining("refused");
    }
}
