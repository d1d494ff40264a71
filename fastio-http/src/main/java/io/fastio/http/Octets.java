package io.fastio.http;

/** Which octets may stand where (RFC 9110, 5.5 and 5.6.2; RFC 9112, 3.2). */
final class Octets {
    private static final int TOKEN = 1;
    private static final int VALUE = 2;
    private static final int TARGET = 4;
    private static final byte[] KINDS = new byte[256];

    static {
        for (int c = 0; c < 256; c++) {
            int kinds = 0;
            boolean visible = c > ' ' && c < 127;
            if (visible && "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0) {
                kinds |= TOKEN;
            }
            if (visible || c == ' ' || c == '\t' || c >= 128) {
                kinds |= VALUE;
            }
            if (visible && "#\"<>\\^`{|}".indexOf(c) < 0) {
                kinds |= TARGET;
            }
            KINDS[c] = (byte) kinds;
        }
    }

    private Octets() {}

    static boolean isToken(int octet) {
        return (KINDS[octet & 0xff] & TOKEN) != 0;
    }

    static boolean isValue(int octet) {
        return (KINDS[octet & 0xff] & VALUE) != 0;
    }

    static boolean isTarget(int octet) {
        return (KINDS[octet & 0xff] & TARGET) != 0;
    }

    /** The value of a hexadecimal digit, or -1. */
    static int hex(int octet) {
        if (octet >= '0' && octet <= '9') {
            return octet - '0';
        }
        int lower = octet | 0x20;
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    }

    /**
     * Whether the octets from {@code from} to {@code to} are that word, whatever the case of their letters.
     *
     * @param lower the word in lower case: letters, digits and hyphens
     */
    static boolean same(byte[] octets, int from, int to, byte[] lower) {
        if (to - from != lower.length) {
            return false;
        }
        for (int i = 0; i < lower.length; i++) {
            byte b = octets[from + i];
            if (b != lower[i] && !(b >= 'A' && b <= 'Z' && (b | 0x20) == lower[i])) {
                return false;
            }
        }
        return true;
    }
}
