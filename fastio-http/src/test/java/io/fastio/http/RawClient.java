package io.fastio.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Sends what it is told to, however wrong, and reads answers. */
final class RawClient implements AutoCloseable {
    private static final int PATIENCE_MS = 20_000;

    final Socket socket;
    private final InputStream in;

    /** An answer; names of fields in lower case. */
    static final class Answer {
        private final int status;
        private final Map<String, String> header;
        private final byte[] body;

        private Answer(int status, Map<String, String> header, byte[] body) {
            this.status = status;
            this.header = header;
            this.body = body;
        }

        int status() {
            return status;
        }

        Map<String, String> header() {
            return header;
        }

        byte[] body() {
            return body;
        }

        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MS);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
    }

    RawClient send(String octets) throws IOException {
        return send(octets.getBytes(StandardCharsets.ISO_8859_1));
    }

    RawClient send(byte[] octets) throws IOException {
        socket.getOutputStream().write(octets);
        return this;
    }

    RawClient get(String target) throws IOException {
        return send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    }

    Answer answer() throws IOException {
        return answer(true);
    }

    /** @param body whether one is to be expected, as it is not behind HEAD */
    Answer answer(boolean body) throws IOException {
        String first = line();
        assertThat(first).startsWith("HTTP/1.1 ");
        int status = Integer.parseInt(first.substring(9, 12));
        Map<String, String> header = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            header.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).trim());
        }
        return new Answer(status, header, body && status >= 200 ? body(header) : new byte[0]);
    }

    private byte[] body(Map<String, String> header) throws IOException {
        String length = header.get("content-length");
        if (length != null) {
            return exactly(Integer.parseInt(length));
        }
        if (!"chunked".equals(header.get("transfer-encoding"))) {
            return in.readAllBytes();
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (true) {
            int n = Integer.parseInt(line(), 16);
            all.writeBytes(exactly(n));
            assertThat(line()).isEmpty();
            if (n == 0) {
                return all.toByteArray();
            }
        }
    }

    byte[] exactly(int n) throws IOException {
        byte[] b = in.readNBytes(n);
        assertThat(b.length).isEqualTo(n); // not of the array, which a failure would print
        return b;
    }

    String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c; (c = in.read()) != '\n'; line.write(c)) {
            assertThat(c).as("a byte of a line").isNotNegative();
        }
        String s = line.toString(StandardCharsets.ISO_8859_1);
        assertThat(s).endsWith("\r");
        return s.substring(0, s.length() - 1);
    }

    int read() throws IOException {
        return in.read();
    }

    /** Reads to the end, which must be no reset; the number of bytes. */
    long rest() throws IOException {
        return in.transferTo(OutputStream.nullOutputStream());
    }

    /** The connection has to end, and not by a reset. */
    void expectEnd() throws IOException {
        assertThat(in.read()).isEqualTo(-1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
