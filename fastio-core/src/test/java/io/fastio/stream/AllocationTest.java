package io.fastio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import org.junit.jupiter.api.Test;

final class AllocationTest extends OnBothPollers {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final int MESSAGES = 5_000;

    @Test
    void readIntoAndWriteAllocateNothingPerMessage() throws Exception {
        long carrier = Thread.currentThread().threadId(); // the caller of run carries the loop
        run(() -> {
            Raw e = raw();
            Thread peer = Thread.ofPlatform().daemon().start(() -> pingPong(e.socket()));
            byte[] b = new byte[100];
            // The JIT compiler has to see the whole path before it takes its boxes away; then there is nothing.
            double each = Double.MAX_VALUE;
            for (int batch = 0; each >= 0.5 && batch < 100; batch++) {
                long before = THREADS.getThreadAllocatedBytes(carrier);
                echo(e.stream(), b, MESSAGES);
                each = (THREADS.getThreadAllocatedBytes(carrier) - before) / (double) MESSAGES;
            }
            assertThat(each).isLessThan(0.5);
            e.stream().abort();
            peer.join();
        });
    }

    private static void echo(Stream s, byte[] b, int messages) throws IOException {
        for (int i = 0; i < messages; i++) {
            int n = s.readInto(b);
            s.write(b, 0, n);
        }
    }

    private static void pingPong(Socket s) {
        byte[] b = new byte[100];
        try {
            while (true) {
                s.getOutputStream().write(b);
                if (s.getInputStream().readNBytes(b, 0, b.length) < b.length) {
                    return;
                }
            }
        } catch (IOException ended) {
            // The test is over.
        }
    }
}
