package io.fastio.gpio;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * The structures and numbers of the kernel's GPIO character devices, version 2. The same on all machines; a test compares them
 * with those of the C compiler.
 */
final class GpioAbi {
    static final long GET_CHIPINFO = 0x8044B401L;
    static final long GET_LINEINFO = 0xC100B405L;
    static final long GET_LINE = 0xC250B407L;
    static final long GET_VALUES = 0xC010B40EL;
    static final long SET_VALUES = 0xC010B40FL;

    static final int NAME_SIZE = 32;

    static final int CHIPINFO_SIZE = 68;
    static final int CHIPINFO_LABEL = 32;
    static final int CHIPINFO_LINES = 64;

    static final int LINEINFO_SIZE = 256;
    static final int LINEINFO_CONSUMER = 32;
    static final int LINEINFO_OFFSET = 64;
    static final int LINEINFO_FLAGS = 72;

    static final int REQUEST_SIZE = 592;
    static final int REQUEST_OFFSETS = 0;
    static final int REQUEST_CONSUMER = 256;
    static final int REQUEST_FLAGS = 288;
    static final int REQUEST_NUM_ATTRS = 296;
    static final int REQUEST_ATTRS = 320;
    static final int REQUEST_NUM_LINES = 560;
    static final int REQUEST_EVENT_BUFFER_SIZE = 564;
    static final int REQUEST_FD = 588;

    static final int ATTR_SIZE = 24;
    static final int ATTR_ID = 0;
    static final int ATTR_VALUE = 8;
    static final int ATTR_MASK = 16;
    static final int ATTR_OUTPUT_VALUES = 2;
    static final int ATTR_DEBOUNCE = 3;

    static final int VALUES_SIZE = 16;
    static final int VALUES_BITS = 0;
    static final int VALUES_MASK = 8;

    static final int EVENT_SIZE = 48;
    static final int EVENT_TIMESTAMP = 0;
    static final int EVENT_ID = 8;
    static final int EVENT_LINE_SEQNO = 20;
    static final int EVENT_RISING = 1;
    static final int EVENT_FALLING = 2;

    static final long FLAG_USED = 1;
    static final long FLAG_ACTIVE_LOW = 1 << 1;
    static final long FLAG_INPUT = 1 << 2;
    static final long FLAG_OUTPUT = 1 << 3;
    static final long FLAG_EDGE_RISING = 1 << 4;
    static final long FLAG_EDGE_FALLING = 1 << 5;
    static final long FLAG_OPEN_DRAIN = 1 << 6;
    static final long FLAG_OPEN_SOURCE = 1 << 7;
    static final long FLAG_PULL_UP = 1 << 8;
    static final long FLAG_PULL_DOWN = 1 << 9;
    static final long FLAG_BIAS_DISABLED = 1 << 10;
    static final long FLAG_WALL_CLOCK = 1 << 11;

    /** Changes that the kernel keeps for us. */
    static final int EVENT_BUFFER = 256;

    private static final String CONSUMER = "fastio";

    private GpioAbi() {}

    static void request(MemorySegment r, int line, InputOptions o, boolean edges) {
        long flags = FLAG_INPUT
                | (edges ? FLAG_EDGE_RISING | FLAG_EDGE_FALLING : 0)
                | (o.activeLow() ? FLAG_ACTIVE_LOW : 0)
                | (edges && o.wallClock() ? FLAG_WALL_CLOCK : 0)
                | switch (o.bias()) {
                    case AS_IS -> 0;
                    case PULL_UP -> FLAG_PULL_UP;
                    case PULL_DOWN -> FLAG_PULL_DOWN;
                    case NONE -> FLAG_BIAS_DISABLED;
                };
        begin(r, line, flags);
        if (edges) {
            r.set(JAVA_INT, REQUEST_EVENT_BUFFER_SIZE, EVENT_BUFFER);
        }
        long debounce = o.debounce().toNanos() / 1000;
        if (debounce > 0) {
            attribute(r, ATTR_DEBOUNCE);
            r.set(JAVA_INT, REQUEST_ATTRS + ATTR_VALUE, (int) debounce);
        }
    }

    static void request(MemorySegment r, int line, OutputOptions o) {
        long flags = FLAG_OUTPUT
                | (o.activeLow() ? FLAG_ACTIVE_LOW : 0)
                | switch (o.drive()) {
                    case PUSH_PULL -> 0;
                    case OPEN_DRAIN -> FLAG_OPEN_DRAIN;
                    case OPEN_SOURCE -> FLAG_OPEN_SOURCE;
                };
        begin(r, line, flags);
        attribute(r, ATTR_OUTPUT_VALUES);
        r.set(JAVA_LONG, REQUEST_ATTRS + ATTR_VALUE, o.high() ? 1 : 0);
    }

    private static void begin(MemorySegment r, int line, long flags) {
        r.fill((byte) 0);
        r.set(JAVA_INT, REQUEST_OFFSETS, line);
        r.set(JAVA_INT, REQUEST_NUM_LINES, 1);
        r.setString(REQUEST_CONSUMER, CONSUMER);
        r.set(JAVA_LONG, REQUEST_FLAGS, flags);
    }

    /** The one attribute of a request, for its one line. */
    private static void attribute(MemorySegment r, int id) {
        r.set(JAVA_INT, REQUEST_NUM_ATTRS, 1);
        r.set(JAVA_INT, REQUEST_ATTRS + ATTR_ID, id);
        r.set(JAVA_LONG, REQUEST_ATTRS + ATTR_MASK, 1);
    }

    static ChipInfo chipInfo(MemorySegment c, String path) {
        return new ChipInfo(path, text(c, 0), text(c, CHIPINFO_LABEL), c.get(JAVA_INT, CHIPINFO_LINES));
    }

    static LineInfo lineInfo(MemorySegment l) {
        long flags = l.get(JAVA_LONG, LINEINFO_FLAGS);
        return new LineInfo(
                l.get(JAVA_INT, LINEINFO_OFFSET),
                text(l, 0),
                text(l, LINEINFO_CONSUMER),
                (flags & FLAG_USED) != 0,
                (flags & FLAG_OUTPUT) != 0,
                (flags & FLAG_ACTIVE_LOW) != 0);
    }

    private static String text(MemorySegment s, long at) {
        byte[] bytes = s.asSlice(at, NAME_SIZE).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        int n = 0;
        while (n < bytes.length && bytes[n] != 0) {
            n++;
        }
        return new String(bytes, 0, n, StandardCharsets.UTF_8);
    }
}
