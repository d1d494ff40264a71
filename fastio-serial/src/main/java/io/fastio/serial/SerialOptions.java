package io.fastio.serial;

import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of a serial line; both sides must agree on all but the last two.
 *
 * @param speed bits per second, 50 to 20,000,000, also uncommon ones; default 115,200
 * @param dataBits 5 to 8; default 8
 * @param parity default NONE
 * @param stopBits 1 or 2; default 1
 * @param flowControl default NONE
 * @param badBytes what becomes of damaged bytes; default KEEP
 * @param exclusive whether nobody else may open the port meanwhile; default true
 */
public record SerialOptions(
        int speed,
        int dataBits,
        Parity parity,
        int stopBits,
        FlowControl flowControl,
        BadBytes badBytes,
        boolean exclusive) {
    private static final SerialOptions DEFAULT =
            new SerialOptions(115_200, 8, Parity.NONE, 1, FlowControl.NONE, BadBytes.KEEP, true);

    private static final Pattern NAME = Pattern.compile("(\\d{2,8})(?:[ ,]+([5-8])([NOEMS])([12]))?");

    public SerialOptions {
        if (speed < 50 || speed > 20_000_000) {
            throw new IllegalArgumentException("speed must be 50 to 20,000,000 bit/s: " + speed);
        }
        if (dataBits < 5 || dataBits > 8) {
            throw new IllegalArgumentException("dataBits must be 5 to 8: " + dataBits);
        }
        if (stopBits < 1 || stopBits > 2) {
            throw new IllegalArgumentException("stopBits must be 1 or 2: " + stopBits);
        }
        Objects.requireNonNull(parity, "parity");
        Objects.requireNonNull(flowControl, "flowControl");
        Objects.requireNonNull(badBytes, "badBytes");
    }

    /** 115,200 bit/s, 8N1, no flow control. */
    public static SerialOptions defaults() {
        return DEFAULT;
    }

    /**
     * The defaults but for what a usual name says: {@code "9600"} or {@code "9600 7E1"}.
     *
     * @throws IllegalArgumentException if it is no such name
     */
    public static SerialOptions of(String name) {
        Matcher m = NAME.matcher(name.strip().toUpperCase(Locale.ROOT));
        if (!m.matches()) {
            throw new IllegalArgumentException("not the name of serial settings, such as \"9600 8N1\": " + name);
        }
        SerialOptions o = DEFAULT.speed(Integer.parseInt(m.group(1)));
        if (m.group(2) == null) {
            return o;
        }
        for (Parity p : Parity.values()) {
            if (p.letter() == m.group(3).charAt(0)) {
                o = o.parity(p);
            }
        }
        return o.dataBits(Integer.parseInt(m.group(2))).stopBits(Integer.parseInt(m.group(4)));
    }

    /** These options with that speed in bits per second. */
    public SerialOptions speed(int bitsPerSecond) {
        return new SerialOptions(bitsPerSecond, dataBits, parity, stopBits, flowControl, badBytes, exclusive);
    }

    /** These options with that many data bits. */
    public SerialOptions dataBits(int bits) {
        return new SerialOptions(speed, bits, parity, stopBits, flowControl, badBytes, exclusive);
    }

    /** These options with that parity. */
    public SerialOptions parity(Parity p) {
        return new SerialOptions(speed, dataBits, p, stopBits, flowControl, badBytes, exclusive);
    }

    /** These options with that many stop bits. */
    public SerialOptions stopBits(int bits) {
        return new SerialOptions(speed, dataBits, parity, bits, flowControl, badBytes, exclusive);
    }

    /** These options with that flow control. */
    public SerialOptions flowControl(FlowControl f) {
        return new SerialOptions(speed, dataBits, parity, stopBits, f, badBytes, exclusive);
    }

    /** These options with {@code badBytes} as said. */
    public SerialOptions badBytes(BadBytes b) {
        return new SerialOptions(speed, dataBits, parity, stopBits, flowControl, b, exclusive);
    }

    /** These options with {@code exclusive} as said. */
    public SerialOptions exclusive(boolean on) {
        return new SerialOptions(speed, dataBits, parity, stopBits, flowControl, badBytes, on);
    }

    /** Bits on the line for one byte, start bit included. */
    int bitsPerByte() {
        return 1 + dataBits + (parity == Parity.NONE ? 0 : 1) + stopBits;
    }

    /** The usual name, such as {@code 115200 8N1}. */
    public String name() {
        return speed + " " + dataBits + parity.letter() + stopBits;
    }
}
