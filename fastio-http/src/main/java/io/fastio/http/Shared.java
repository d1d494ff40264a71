package io.fastio.http;

import io.fastio.LoopLocal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** What the connections of one loop share: buffers for answers under way, and the Date of this second. Loop only. */
final class Shared {
    static final LoopLocal<Shared> LOCAL = new LoopLocal<>(loop -> new Shared());

    /** Size of a buffer for answers, in bytes; the most that one write sends for a batch of pipelined requests. */
    static final int OUT_SIZE = 16 * 1024;

    private static final int KEPT = 64;
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern(
                    "'Date: 'EEE, dd MMM yyyy HH:mm:ss 'GMT\r\n'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final byte[][] free = new byte[KEPT][];
    private int freeCount;
    private long second = -1;
    private byte[] date = {};

    private Shared() {}

    byte[] takeOut() {
        return freeCount > 0 ? free[--freeCount] : new byte[OUT_SIZE];
    }

    void giveBackOut(byte[] buffer) {
        if (freeCount < KEPT) {
            free[freeCount++] = buffer;
        }
    }

    /** The header line {@code Date}, with its end. */
    byte[] date() {
        long now = System.currentTimeMillis() / 1000;
        if (now != second) {
            second = now;
            date = DATE.format(Instant.ofEpochSecond(now)).getBytes(StandardCharsets.US_ASCII);
        }
        return date;
    }
}
