package io.fastio.tls;

import io.fastio.Action;
import io.fastio.Asyncio;
import io.fastio.EventLoop;
import io.fastio.LoopError;
import io.fastio.stream.Stream;
import io.fastio.stream.StreamReader;
import io.fastio.stream.StreamWriter;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;

/** A server and a client of TLS with certificates made for the tests, and a loop to run them on. */
@Timeout(120)
abstract class TlsFixture {
    static {
        // The JDK's sockets take a connection that ends without an end of the session for a good one, unless told
        // otherwise.
        System.setProperty("com.sun.net.ssl.requireCloseNotify", "true");
    }

    static final TlsServer SERVER = server("localhost");
    static final TlsClient CLIENT = client("ca");

    final List<LoopError> reported = new ArrayList<>();

    static TlsServer server(String... aliases) {
        try {
            return TlsServer.showing(Certificates.keys(aliases), Certificates.PASSWORD);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static TlsClient client(String trusted) {
        try {
            return TlsClient.trusting(Certificates.trust(trusted));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    void onLoop(Action test) throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .exceptionHandler(reported::add)
                .shutdownTimeout(Duration.ofSeconds(5))
                .build()) {
            loop.run(() -> Asyncio.waitFor(test, Duration.ofSeconds(100)));
        }
    }

    static void echo(StreamReader r, StreamWriter w) throws IOException {
        r.copyTo(w);
    }

    static String ask(Stream s, String line) throws IOException {
        s.write(line + "\n");
        return s.readLine();
    }

    static byte[] pattern(int n, int seed) {
        byte[] b = new byte[n];
        int x = seed;
        for (int i = 0; i < n; i++) {
            x = x * 1_103_515_245 + 12_345;
            b[i] = (byte) (x >> 16);
        }
        return b;
    }
}
