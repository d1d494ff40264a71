package io.fastio.benchmarks.subject;

import io.fastio.Asyncio;
import io.fastio.stream.Server;
import io.fastio.stream.Stream;
import io.fastio.tls.TlsClient;
import io.fastio.tls.TlsServer;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** One TLS stream through a socket, by fastio and by hand; both ends in one thread each time. */
final class TlsRate {
    private static final int PIECE = 64 * 1024;
    private static final int ROOM = 128 * 1024;
    private static final String HOST = "127.0.0.1";
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** One that knows its own certificate, which takes a while to make. */
    private static @Nullable SSLContext warm;

    private TlsRate() {}

    /** {@code megabytes} each way of doing it: MB/s. */
    static Reading measure(int megabytes) throws Exception {
        long bytes = megabytes * 1_000_000L;
        SSLContext context = warm;
        if (context == null) {
            context = newContext();
            for (int i = 0; i < 3; i++) {
                byHand(context, bytes);
                byFastio(context, bytes);
            }
            warm = context;
        }
        return Reading.of(Map.of("bare", byHand(context, bytes), "fastio", byFastio(context, bytes)));
    }

    private static SSLContext newContext() throws Exception {
        Path file = Files.createTempDirectory("fastio-bench").resolve("keys.p12");
        char[] password = "changeit".toCharArray();
        int code = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        "changeit",
                        "-alias",
                        "bench",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:" + HOST)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("keytool ended with " + code);
        }
        KeyStore keys = KeyStore.getInstance(file.toFile(), password);
        Files.delete(file);
        Files.delete(file.getParent());
        KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        own.init(keys, password);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("bench", keys.getCertificate("bench"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        SSLContext c = SSLContext.getInstance("TLS");
        c.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        return c;
    }

    private static double rate(long bytes, long start) {
        return bytes / 1e6 / ((System.nanoTime() - start) / 1e9);
    }

    private static double byFastio(SSLContext context, long bytes) throws Exception {
        return Asyncio.run(() -> {
            try (Server server = TlsServer.create(context)
                            .startServer(
                                    (reader, writer) -> {
                                        byte[] piece = new byte[PIECE];
                                        for (long left = bytes; left > 0; ) {
                                            int n = reader.readInto(piece);
                                            if (n < 0) {
                                                throw new EOFException();
                                            }
                                            left -= n;
                                        }
                                        writer.write(new byte[1]);
                                    },
                                    HOST,
                                    0);
                    Stream client = TlsClient.create(context).connect(HOST, server.port())) {
                long start = System.nanoTime();
                byte[] piece = new byte[PIECE];
                for (long left = bytes; left > 0; left -= piece.length) {
                    client.write(piece, 0, (int) Math.min(left, piece.length));
                    client.drain();
                }
                client.readExactly(1);
                return rate(bytes, start);
            }
        });
    }

    private static double byHand(SSLContext context, long bytes) throws Exception {
        SSLEngine client = context.createSSLEngine(HOST, 1);
        client.setUseClientMode(true);
        SSLEngine server = context.createSSLEngine();
        server.setUseClientMode(false);
        try (ServerSocketChannel listener =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel from = SocketChannel.open(listener.getLocalAddress());
                SocketChannel to = listener.accept()) {
            from.configureBlocking(false);
            to.configureBlocking(false);
            ByteBuffer toClient = ByteBuffer.allocate(ROOM);
            ByteBuffer received = ByteBuffer.allocate(ROOM);
            client.beginHandshake();
            server.beginHandshake();
            while (isShakingHands(client) || isShakingHands(server)) {
                shakeHands(client, from, toClient);
                shakeHands(server, to, received);
            }
            return transfer(bytes, client, from, server, to, received);
        }
    }

    private static boolean isShakingHands(SSLEngine engine) {
        HandshakeStatus status = engine.getHandshakeStatus();
        return status != HandshakeStatus.NOT_HANDSHAKING && status != HandshakeStatus.FINISHED;
    }

    private static void shakeHands(SSLEngine engine, SocketChannel channel, ByteBuffer received) throws IOException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                    task.run();
                }
            }
            case NEED_WRAP -> {
                ByteBuffer out = ByteBuffer.allocate(ROOM);
                engine.wrap(NOTHING, out);
                out.flip();
                while (out.hasRemaining()) {
                    channel.write(out);
                }
            }
            case NEED_UNWRAP -> {
                channel.read(received);
                received.flip();
                engine.unwrap(received, ByteBuffer.allocate(ROOM));
                received.compact();
            }
            default -> {
                // This side is through.
            }
        }
    }

    private static double transfer(
            long bytes, SSLEngine client, SocketChannel from, SSLEngine server, SocketChannel to, ByteBuffer received)
            throws IOException {
        ByteBuffer piece = ByteBuffer.allocate(PIECE);
        ByteBuffer out = ByteBuffer.allocate(ROOM).flip();
        ByteBuffer in = ByteBuffer.allocate(ROOM);
        long start = System.nanoTime();
        long unsent = bytes;
        long left = bytes;
        while (left > 0) {
            while (unsent > 0 || out.hasRemaining()) {
                if (!out.hasRemaining()) {
                    piece.clear().limit((int) Math.min(unsent, PIECE));
                    unsent -= piece.remaining();
                    out.clear();
                    while (piece.hasRemaining()) {
                        client.wrap(piece, out);
                    }
                    out.flip();
                }
                from.write(out);
                if (out.hasRemaining()) {
                    break;
                }
            }
            while (left > 0 && to.read(received) > 0) {
                received.flip();
                SSLEngineResult result;
                do {
                    in.clear();
                    result = server.unwrap(received, in);
                    left -= result.bytesProduced();
                } while (result.getStatus() == SSLEngineResult.Status.OK);
                received.compact();
            }
        }
        return rate(bytes, start);
    }
}
