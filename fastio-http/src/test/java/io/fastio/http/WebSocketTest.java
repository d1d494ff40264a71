package io.fastio.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fastio.Asyncio;
import io.fastio.CancelledError;
import io.fastio.Task;
import io.fastio.sync.Event;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
final class WebSocketTest {
    private static final String HANDSHAKE = String.join(
            "\r\n",
            "GET /ws HTTP/1.1",
            "Host: x",
            "Upgrade: WebSocket",
            "Connection: keep-alive, Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "",
            "");

    private final List<String> ends = new CopyOnWriteArrayList<>();

    private void echo(HttpRequest request, HttpResponse response) throws IOException {
        WebSocket ws = WebSocket.accept(request, response).maxMessageBytes(200_000);
        try {
            for (WebSocket.Message m = ws.receive(); m != null; m = ws.receive()) {
                if (m.isText()) {
                    ws.send(m.text());
                } else {
                    ws.send(m.bytes());
                }
            }
            ends.add("closed " + ws.closeCode() + ' ' + ws.closeReason());
        } catch (WebSocketException e) {
            ends.add("broken " + e.code());
        }
    }

    private static byte[] frame(int first, int lengthBits, String payload) {
        return frame(first, lengthBits, payload.getBytes(UTF_8));
    }

    /** A masked frame. */
    private static byte[] frame(int first, int lengthBits, byte[] payload) {
        ByteArrayOutputStream f = new ByteArrayOutputStream();
        f.write(first);
        f.write(0x80 | lengthBits);
        if (lengthBits == 126) {
            f.write(payload.length >> 8);
            f.write(payload.length);
        } else if (lengthBits == 127) {
            f.writeBytes(ByteBuffer.allocate(8).putLong(payload.length).array());
        }
        byte[] mask = {1, 2, 3, (byte) 0xf4};
        f.writeBytes(mask);
        for (int i = 0; i < payload.length; i++) {
            f.write(payload[i] ^ mask[i % 4]);
        }
        return f.toByteArray();
    }

    private static String receive(RawClient c) throws IOException {
        int first = c.read();
        int n = c.read();
        if (n == 126) {
            n = c.read() << 8 | c.read();
        }
        return Integer.toHexString(first) + ' ' + new String(c.exactly(n), UTF_8);
    }

    private static RawClient open(Served s) throws IOException {
        RawClient c = s.client();
        RawClient.Answer a = c.send(HANDSHAKE).answer(false);
        assertThat(a.status()).isEqualTo(101);
        assertThat(a.header())
                .containsEntry("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                .containsEntry("upgrade", "websocket")
                .containsEntry("connection", "Upgrade");
        return c;
    }

    @Test
    void talksToTheJdksClient() throws Exception {
        try (Served s = new Served(this::echo);
                HttpClient http = HttpClient.newHttpClient()) {
            BlockingQueue<String> got = new LinkedBlockingQueue<>();
            java.net.http.WebSocket c = http.newWebSocketBuilder()
                    .buildAsync(URI.create("ws://127.0.0.1:" + s.port + "/ws"), new Collector(got))
                    .get(20, TimeUnit.SECONDS);
            c.sendText("héllo", true).get(20, TimeUnit.SECONDS);
            assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo("text héllo");
            c.sendText("in ", false).get(20, TimeUnit.SECONDS);
            c.sendPing(ByteBuffer.wrap(new byte[] {7})).get(20, TimeUnit.SECONDS);
            assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo("pong 7");
            c.sendText("parts", true).get(20, TimeUnit.SECONDS);
            assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo("text in parts");
            c.sendBinary(ByteBuffer.allocate(100_000), true).get(20, TimeUnit.SECONDS);
            assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo("binary 100000");
            c.sendClose(4000, "bye").get(20, TimeUnit.SECONDS);
            assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo("close 4000");
            assertThat(s.stop(Duration.ofSeconds(10))).isTrue();
            assertThat(ends).containsExactly("closed 4000 bye");
            assertThat(s.reported).isEmpty();
        }
    }

    private static final class Collector implements java.net.http.WebSocket.Listener {
        private final BlockingQueue<String> got;
        private final StringBuilder text = new StringBuilder();
        private int bytes;

        Collector(BlockingQueue<String> got) {
            this.got = got;
        }

        @Override
        public CompletionStage<?> onText(java.net.http.WebSocket ws, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                got.add("text " + text);
                text.setLength(0);
            }
            ws.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onBinary(java.net.http.WebSocket ws, ByteBuffer part, boolean last) {
            bytes += part.remaining();
            if (last) {
                got.add("binary " + bytes);
            }
            ws.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onPong(java.net.http.WebSocket ws, ByteBuffer message) {
            got.add("pong " + message.get());
            ws.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(java.net.http.WebSocket ws, int code, String reason) {
            got.add("close " + code);
            return null;
        }
    }

    @Test
    void framesMayComeWithTheHandshakeAndByteByByte() throws Exception {
        try (Served s = new Served(this::echo);
                RawClient c = s.client()) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(HANDSHAKE.getBytes(UTF_8));
            all.writeBytes(frame(0x81, 5, "early"));
            c.send(all.toByteArray());
            assertThat(c.answer(false).status()).isEqualTo(101);
            assertThat(receive(c)).isEqualTo("81 early");
            for (byte b : frame(0x82, 126, "x".repeat(300))) {
                c.send(new byte[] {b});
            }
            assertThat(receive(c)).isEqualTo("82 " + "x".repeat(300));
            c.send(frame(0x81, 0, ""));
            assertThat(receive(c)).isEqualTo("81 ");
        }
    }

    static List<Arguments> broken() {
        return List.of(
                Arguments.argumentSet("no mask", 1002, new byte[] {(byte) 0x81, 1, 'a'}),
                Arguments.argumentSet("reserved bit", 1002, frame(0xc1, 1, "a")),
                Arguments.argumentSet("unknown data frame", 1002, frame(0x83, 1, "a")),
                Arguments.argumentSet("unknown control frame", 1002, frame(0x8b, 1, "a")),
                Arguments.argumentSet("continuation of nothing", 1002, frame(0x80, 1, "a")),
                Arguments.argumentSet("ping in parts", 1002, frame(0x09, 1, "a")),
                Arguments.argumentSet("large ping", 1002, frame(0x89, 126, "a".repeat(126))),
                Arguments.argumentSet("length not in its shortest form", 1002, frame(0x81, 126, "a")),
                Arguments.argumentSet("long length not in its shortest form", 1002, frame(0x81, 127, "a")),
                Arguments.argumentSet("negative length", 1002, new byte[] {
                    (byte) 0x82, (byte) 0xff, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0
                }),
                Arguments.argumentSet(
                        "too large", 1009, new byte[] {(byte) 0x82, (byte) 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}),
                Arguments.argumentSet("text is not UTF-8", 1007, frame(0x81, 2, new byte[] {(byte) 0xc3, 'a'})),
                Arguments.argumentSet("half a code", 1002, frame(0x88, 1, "a")),
                Arguments.argumentSet("code 999", 1002, frame(0x88, 2, new byte[] {3, (byte) 0xe7})),
                Arguments.argumentSet("code 1005", 1002, frame(0x88, 2, new byte[] {3, (byte) 0xed})),
                Arguments.argumentSet(
                        "reason is not UTF-8", 1007, frame(0x88, 3, new byte[] {3, (byte) 0xe8, (byte) 0xff})));
    }

    @ParameterizedTest
    @MethodSource("broken")
    void whatBreaksTheRulesIsClosedWithItsCode(int code, byte[] octets) throws Exception {
        try (Served s = new Served(this::echo);
                RawClient other = open(s);
                RawClient c = open(s)) {
            c.send(octets);
            assertThat(c.read()).isEqualTo(0x88);
            int n = c.read();
            byte[] payload = c.exactly(n);
            assertThat((payload[0] & 0xff) << 8 | payload[1] & 0xff).isEqualTo(code);
            other.send(frame(0x81, 4, "fine"));
            assertThat(receive(other)).isEqualTo("81 fine");
            for (int i = 0; i < 1000 && ends.isEmpty(); i++) {
                Thread.sleep(5); // the handler is told when its close is on its way
            }
            assertThat(ends).containsExactly("broken " + code);
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void messagesInPartsAreOneAndControlFramesMayComeBetween() throws Exception {
        try (Served s = new Served(this::echo);
                RawClient c = open(s)) {
            c.send(frame(0x01, 1, "a"))
                    .send(frame(0x89, 1, "p"))
                    .send(frame(0x00, 1, "b"))
                    .send(frame(0x80, 1, "c"));
            assertThat(receive(c)).isEqualTo("8a p");
            assertThat(receive(c)).isEqualTo("81 abc");
            c.send(frame(0x01, 1, "a")).send(frame(0x01, 1, "b"));
            assertThat(receive(c)).startsWith("88 ");
        }
    }

    /** The payload would pass for a frame itself, if a receive that was given up lost its place. */
    @Test
    void C2_C6_aReceiveThatIsGivenUpAnywhereInAFrameGoesOnThere() throws Exception {
        AtomicInteger givenUp = new AtomicInteger();
        byte[] evil = frame(0x81, 4, "evil");
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    while (true) {
                        try {
                            WebSocket.Message m = Asyncio.waitForMs(ws::receive, 2);
                            if (m == null) {
                                return;
                            }
                            ws.send(m.bytes());
                        } catch (TimeoutException e) {
                            givenUp.incrementAndGet();
                        }
                    }
                });
                RawClient c = open(s)) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(frame(0x02, 126, new byte[126]));
            all.writeBytes(frame(0x89, 2, "hi"));
            all.writeBytes(frame(0x80, evil.length, evil));
            byte[] octets = all.toByteArray();
            for (int i = 0; i < octets.length; i++) {
                c.send(new byte[] {octets[i]});
                if (i < 12 || i > octets.length - 25) {
                    Thread.sleep(4); // the peer is slow: that is what the test is about
                }
            }
            assertThat(receive(c)).isEqualTo("8a hi");
            assertThat(c.read()).isEqualTo(0x82);
            assertThat(c.read()).isEqualTo(126);
            assertThat(c.read() << 8 | c.read()).isEqualTo(126 + evil.length);
            assertThat(c.exactly(126)).containsOnly(0);
            assertThat(c.exactly(evil.length)).isEqualTo(evil);
            assertThat(givenUp.get()).isGreaterThan(10);
        }
    }

    @Test
    void aPingBehindTheOwnCloseIsNotAnsweredAndTheOthersCloseIsStillSeen() throws Exception {
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    ws.close();
                    ends.add(ws.receive() + " " + ws.closeCode());
                });
                RawClient c = open(s)) {
            assertThat(receive(c)).startsWith("88 ");
            c.send(frame(0x89, 0, "")).send(frame(0x88, 2, new byte[] {0x0f, (byte) 0xa1}));
            c.expectEnd();
            assertThat(ends).containsExactly("null 4001");
        }
    }

    /** All of it has come when the cancel comes: what has not been sent then is sent by a later call. */
    @Test
    void C3_aPendingCancelLosesNeitherPongNorClose() throws Exception {
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    ends.add(ws.receive().text());
                    cancelled(ws::receive); // the ping
                    cancelled(ws::receive);
                    ends.add(ws.receive().text());
                    cancelled(ws::receive); // the close
                    ends.add(ws.receive() + " " + ws.closeCode());
                });
                RawClient c = open(s)) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(frame(0x81, 1, "a"));
            all.writeBytes(frame(0x89, 1, "p"));
            all.writeBytes(frame(0x81, 1, "b"));
            all.writeBytes(frame(0x88, 2, new byte[] {0x0f, (byte) 0xa1}));
            c.send(all.toByteArray());
            assertThat(receive(c)).isEqualTo("8a p");
            assertThat(receive(c)).isEqualTo("88 \u000f\ufffd");
            c.expectEnd();
            assertThat(ends).containsExactly("a", "cancelled", "cancelled", "b", "cancelled", "null 4001");
        }
    }

    @Test
    void C3_aCloseBehindAPendingCancelIsNotTakenForSent() throws Exception {
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    cancelled(() -> {
                        ws.close(3001, "");
                        return null;
                    });
                    ws.close(3002, "");
                });
                RawClient c = open(s)) {
            assertThat(receive(c)).isEqualTo("88 \u000b\ufffd"); // 3002
            assertThat(ends).containsExactly("cancelled");
        }
    }

    /** The other side is told what it did wrong, by the next call or at the end of the handler. */
    @Test
    void C3_aPendingCancelDoesNotKeepBackWhatWasWrong() throws Exception {
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    ends.add(ws.receive().text());
                    cancelled(ws::receive);
                    if (q.path().endsWith("again")) {
                        ws.receive();
                    }
                });
                RawClient atTheEnd = open(s);
                RawClient again = s.client()) {
            again.send(HANDSHAKE.replace("/ws", "/again")).answer(false);
            for (RawClient c : List.of(atTheEnd, again)) {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                all.writeBytes(frame(0x81, 1, "a"));
                all.writeBytes(frame(0x83, 1, "?"));
                c.send(all.toByteArray());
                assertThat(receive(c)).startsWith("88 \u0003\ufffd"); // 1002
                c.expectEnd();
            }
        }
    }

    /** RFC 6455, 5.5.1, though a task that sends has to give way some time (S14). */
    @Test
    void behindACloseNothingIsSentByOtherTasks() throws Exception {
        for (int before = 0; before < 4; before++) {
            int operations = before;
            try (Served s = new Served((q, r) -> {
                        WebSocket ws = WebSocket.accept(q, r);
                        Event set = new Event();
                        set.set();
                        Task<?> sender = Asyncio.createTask(() -> {
                            for (int i = 0; i < operations; i++) {
                                set.await();
                            }
                            assertThatThrownBy(() -> {
                                        for (int i = 0; i < 3_000; i++) {
                                            ws.send("m");
                                        }
                                    })
                                    .isInstanceOf(IOException.class);
                        });
                        Asyncio.createTask(() -> ws.close(3000, "")).await();
                        sender.await();
                    });
                    RawClient c = open(s)) {
                String frame = receive(c);
                while (frame.equals("81 m")) {
                    frame = receive(c);
                }
                assertThat(frame).isEqualTo("88 \u000b\ufffd");
                c.expectEnd();
                assertThat(s.reported).isEmpty();
            }
        }
    }

    private void cancelled(Callable<?> call) throws Exception {
        Asyncio.cancelScope(scope -> {
            scope.cancel();
            try {
                ends.add("not cancelled: " + call.call());
            } catch (CancelledError e) {
                ends.add("cancelled");
            }
            return null;
        });
    }

    @Test
    void aTextMayBeSplitWithinACharacter() throws Exception {
        try (Served s = new Served(this::echo);
                RawClient c = open(s);
                RawClient bad = open(s)) {
            c.send(frame(0x01, 1, new byte[] {(byte) 0xe2})).send(frame(0x00, 1, new byte[] {(byte) 0x82}));
            c.send(frame(0x89, 0, "")).send(frame(0x80, 1, new byte[] {(byte) 0xac}));
            assertThat(receive(c)).isEqualTo("8a ");
            assertThat(receive(c)).isEqualTo("81 \u20ac");
            bad.send(frame(0x01, 1, new byte[] {(byte) 0xe2})).send(frame(0x80, 1, "a"));
            assertThat(receive(bad)).startsWith("88 \u0003");
            bad.expectEnd();
            assertThat(ends).containsExactly("broken 1007");
        }
    }

    /** A handler as in the documentation: it catches nothing. What a client does wrong is no failure of the handler's. */
    @Test
    void aHandlerNeedNotCatchWhatItsClientDoes() throws Exception {
        HttpHandler plain = (q, r) -> {
            WebSocket ws = WebSocket.accept(q, r);
            for (WebSocket.Message m = ws.receive(); m != null; m = ws.receive()) {
                ws.send(m.text());
            }
        };
        try (Served s = new Served(plain)) {
            try (RawClient c = open(s)) { // breaks the rules
                c.send(frame(0x81, 1, "a")).send(frame(0xc1, 1, "a")).send(frame(0x81, 1, "unread"));
                assertThat(receive(c)).isEqualTo("81 a");
                assertThat(receive(c)).startsWith("88 \u0003\ufffd");
                c.expectEnd();
            }
            try (RawClient c = open(s)) { // ends between two frames of a message
                c.send(frame(0x01, 1, "a"));
                c.socket.shutdownOutput();
                assertThat(receive(c)).startsWith("88 ");
                c.expectEnd();
            }
            try (RawClient c = open(s)) { // ends within a frame
                c.send(Arrays.copyOf(frame(0x81, 5, "hello"), 8));
                c.socket.shutdownOutput();
                assertThat(c.rest()).isLessThan(100);
            }
            try (RawClient c = open(s)) { // closes, and is gone at once
                c.send(frame(0x88, 0, ""));
                c.socket.setSoLinger(true, 0);
            }
            assertThat(s.stop(Duration.ofSeconds(10))).isTrue();
            assertThat(s.reported).isEmpty();
        }
    }

    /** The same for a task that sends what it has while another receives. */
    @Test
    void aSenderMeetsTheOthersClose() throws Exception {
        BlockingQueue<String> end = new LinkedBlockingQueue<>();
        HttpHandler ticker = (q, r) -> {
            WebSocket ws = WebSocket.accept(q, r);
            var receiver = Asyncio.createTask(() -> ws.receive());
            try {
                while (true) {
                    ws.send("tick");
                    Asyncio.sleepMs(2);
                }
            } finally {
                end.add(ws.closeCode() + " " + receiver.await());
            }
        };
        try (Served s = new Served(ticker);
                RawClient c = open(s)) {
            assertThat(receive(c)).isEqualTo("81 tick");
            c.send(frame(0x88, 2, new byte[] {0x0f, (byte) 0xa1}));
            String f = receive(c);
            while (f.equals("81 tick")) {
                f = receive(c);
            }
            assertThat(f).startsWith("88 ");
            c.expectEnd();
            assertThat(end.poll(20, TimeUnit.SECONDS)).isEqualTo("4001 null");
            assertThat(s.reported).isEmpty();
        }
    }

    /** Whoever sends pings and takes no pong is not read any more, and then cut off; nothing piles up, others are served. */
    @Test
    void aFloodOfPingsEndsItself() throws Exception {
        Duration limit = Duration.ofMillis(500);
        try (Served s = new Served(this::echo, b -> b.transfer(limit, 1000));
                RawClient other = open(s);
                RawClient c = open(s)) {
            byte[] pings = new byte[131 * 1000];
            for (int i = 0; i < 1000; i++) {
                System.arraycopy(frame(0x89, 125, "p".repeat(125)), 0, pings, i * 131, 131);
            }
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            c.send(pings);
                        }
                    })
                    .isInstanceOf(IOException.class);
            other.send(frame(0x81, 4, "fine"));
            assertThat(receive(other)).isEqualTo("81 fine");
            assertThat(s.reported).isEmpty();
        }
    }

    @Test
    void C6_aSendThatIsGivenUpTearsNoFrame() throws Exception {
        AtomicInteger givenUp = new AtomicInteger();
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    byte[] some = new byte[60_000];
                    for (int i = 0; i < 400; i++) {
                        try {
                            Asyncio.waitForMs(() -> ws.send(some), 1);
                        } catch (TimeoutException e) {
                            givenUp.incrementAndGet();
                        }
                    }
                });
                RawClient c = open(s)) {
            Thread.sleep(300); // until the kernel has no room
            int frames = 0;
            for (int first = c.read(); first != 0x88; first = c.read()) {
                assertThat(first).isEqualTo(0x82);
                assertThat(c.read()).isEqualTo(126);
                assertThat(c.read() << 8 | c.read()).isEqualTo(60_000);
                c.exactly(60_000);
                frames++;
            }
            assertThat(givenUp.get()).isPositive();
            assertThat(frames).isBetween(400 - givenUp.get(), 400); // whoever was late before it began has sent nothing
        }
    }

    @Test
    void codesThatMustNotBeSentAreRefused() throws Exception {
        List<Integer> refused = new CopyOnWriteArrayList<>();
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    for (int code : new int[] {-1, 0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000}) {
                        try {
                            ws.close(code, "");
                        } catch (IllegalArgumentException e) {
                            refused.add(code);
                        }
                    }
                    ws.close(3000, "done");
                });
                RawClient c = open(s)) {
            assertThat(receive(c)).isEqualTo("88 \u000b\ufffddone");
            assertThat(refused).hasSize(10);
        }
    }

    @Test
    void aHandlerThatReturnsCloses() throws Exception {
        try (Served s = new Served((q, r) -> {
                    WebSocket ws = WebSocket.accept(q, r);
                    for (int i = 0; i < 3; i++) {
                        ws.send("tick " + i);
                        Asyncio.sleepMs(5);
                    }
                });
                RawClient c = open(s)) {
            for (int i = 0; i < 3; i++) {
                assertThat(receive(c)).isEqualTo("81 tick " + i);
            }
            assertThat(receive(c)).startsWith("88 ");
            c.expectEnd();
        }
    }

    @Test
    void refusesOtherRequests() throws Exception {
        try (Served s = new Served(this::echo)) {
            try (RawClient c = s.client()) {
                assertThat(c.get("/").answer().status()).isEqualTo(400);
                RawClient.Answer old =
                        c.send(HANDSHAKE.replace("Version: 13", "Version: 8")).answer();
                assertThat(old.status()).isEqualTo(426);
                assertThat(old.header()).containsEntry("sec-websocket-version", "13");
                assertThat(c.send(HANDSHAKE.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"))
                                .answer()
                                .status())
                        .isEqualTo(400);
                assertThat(c.send(HANDSHAKE.replace("GET", "POST")).answer().status())
                        .isEqualTo(400);
            }
        }
    }
}
