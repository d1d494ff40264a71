package io.fastio.serial;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The kernel's {@code struct termios2} and the numbers around it, as on x86-64, aarch64 and riscv64; a test compares them with
 * those of the C compiler. Unlike {@code struct termios} of the C library it takes any speed.
 */
final class Termios {
    static final int SIZE = 44;
    static final int IFLAG = 0;
    static final int OFLAG = 4;
    static final int CFLAG = 8;
    static final int LFLAG = 12;
    static final int CC = 17;
    static final int ISPEED = 36;
    static final int OSPEED = 40;

    static final long TCGETS2 = 0x802C542AL;
    static final long TCSETS2 = 0x402C542BL;
    static final long TCFLSH = 0x540B;
    static final long TIOCEXCL = 0x540C;
    static final long TIOCNXCL = 0x540D;
    static final long TIOCOUTQ = 0x5411;
    static final long TIOCMGET = 0x5415;
    static final long TIOCMBIS = 0x5416;
    static final long TIOCMBIC = 0x5417;
    static final long FIONREAD = 0x541B;
    static final long TIOCSBRK = 0x5427;
    static final long TIOCCBRK = 0x5428;
    static final long TIOCGICOUNT = 0x545D;

    static final int TCIFLUSH = 0;
    static final int TCOFLUSH = 1;

    static final int IGNBRK = 0x1;
    static final int IGNPAR = 0x4;
    static final int PARMRK = 0x8;
    static final int INPCK = 0x10;
    static final int IXON = 0x400;
    static final int IXOFF = 0x1000;
    static final int CBAUD = 0x100F;
    static final int BOTHER = 0x1000;
    static final int CIBAUD = 0x100F0000;
    static final int CSIZE = 0x30;
    static final int CSTOPB = 0x40;
    static final int CREAD = 0x80;
    static final int PARENB = 0x100;
    static final int PARODD = 0x200;
    static final int CLOCAL = 0x800;
    static final int CMSPAR = 0x40000000;
    static final int CRTSCTS = 0x80000000;
    static final int VTIME = 5;
    static final int VMIN = 6;
    static final int VSTART = 8;
    static final int VSTOP = 9;

    static final int TIOCM_DTR = 0x2;
    static final int TIOCM_RTS = 0x4;
    static final int TIOCM_CTS = 0x20;
    static final int TIOCM_CAR = 0x40;
    static final int TIOCM_RNG = 0x80;
    static final int TIOCM_DSR = 0x100;

    /** struct serial_icounter_struct. */
    static final int COUNTERS_SIZE = 80;

    static final int COUNT_RX = 16;
    static final int COUNT_TX = 20;
    static final int COUNT_FRAME = 24;
    static final int COUNT_OVERRUN = 28;
    static final int COUNT_PARITY = 32;
    static final int COUNT_BRK = 36;
    static final int COUNT_BUF_OVERRUN = 40;

    /** The speeds that have a number of their own, which other programs understand; all others are BOTHER. */
    static final int[] NAMED_SPEEDS = {
        50, 75, 110, 134, 150, 200, 300, 600, 1_200, 1_800, 2_400, 4_800, 9_600, 19_200, 38_400, 57_600, 115_200,
        230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000,
        3_500_000, 4_000_000
    };

    private static final int LOW_SPEEDS = 15;

    private Termios() {}

    static int speedCode(int speed) {
        int i = Arrays.binarySearch(NAMED_SPEEDS, speed);
        return i < 0 ? BOTHER : i < LOW_SPEEDS ? i + 1 : BOTHER + 1 + i - LOW_SPEEDS;
    }

    /** Raw bytes with these settings; of what was set before, only whether closing drops DTR stays. */
    static void set(MemorySegment t, SerialOptions o) {
        int in = IGNBRK
                | switch (o.badBytes()) {
                    case KEEP -> 0;
                    case DROP -> INPCK | IGNPAR;
                    case ZERO -> INPCK;
                    case MARK -> INPCK | PARMRK;
                };
        if (o.flowControl() == FlowControl.XON_XOFF) {
            in |= IXON | IXOFF;
        }
        int control = t.get(JAVA_INT, CFLAG) & ~(CBAUD | CIBAUD | CSIZE | CSTOPB | PARENB | PARODD | CMSPAR | CRTSCTS);
        control |= speedCode(o.speed()) | CREAD | CLOCAL | (o.dataBits() - 5) << 4;
        if (o.stopBits() == 2) {
            control |= CSTOPB;
        }
        control |= switch (o.parity()) {
            case NONE -> 0;
            case ODD -> PARENB | PARODD;
            case EVEN -> PARENB;
            case MARK -> PARENB | PARODD | CMSPAR;
            case SPACE -> PARENB | CMSPAR;
        };
        if (o.flowControl() == FlowControl.RTS_CTS) {
            control |= CRTSCTS;
        }
        t.set(JAVA_INT, IFLAG, in);
        t.set(JAVA_INT, OFLAG, 0);
        t.set(JAVA_INT, CFLAG, control);
        t.set(JAVA_INT, LFLAG, 0);
        t.set(JAVA_INT, ISPEED, o.speed());
        t.set(JAVA_INT, OSPEED, o.speed());
        // With 0 a read that finds nothing would look like the end.
        t.set(JAVA_BYTE, CC + VMIN, (byte) 1);
        t.set(JAVA_BYTE, CC + VTIME, (byte) 0);
        t.set(JAVA_BYTE, CC + VSTART, (byte) 17);
        t.set(JAVA_BYTE, CC + VSTOP, (byte) 19);
    }

    /** What is in force; {@code exclusive} cannot be seen in it. */
    static SerialOptions get(MemorySegment t, boolean exclusive) {
        int in = t.get(JAVA_INT, IFLAG);
        int control = t.get(JAVA_INT, CFLAG);
        boolean odd = (control & PARODD) != 0;
        Parity parity = (control & PARENB) == 0
                ? Parity.NONE
                : (control & CMSPAR) != 0 ? (odd ? Parity.MARK : Parity.SPACE) : odd ? Parity.ODD : Parity.EVEN;
        BadBytes bad = (in & INPCK) == 0
                ? BadBytes.KEEP
                : (in & IGNPAR) != 0 ? BadBytes.DROP : (in & PARMRK) != 0 ? BadBytes.MARK : BadBytes.ZERO;
        FlowControl flow = (control & CRTSCTS) != 0
                ? FlowControl.RTS_CTS
                : (in & (IXON | IXOFF)) != 0 ? FlowControl.XON_XOFF : FlowControl.NONE;
        return new SerialOptions(
                Math.clamp(t.get(JAVA_INT, OSPEED), 50, 20_000_000),
                5 + ((control & CSIZE) >> 4),
                parity,
                (control & CSTOPB) != 0 ? 2 : 1,
                flow,
                bad,
                exclusive);
    }

    static ModemLines modemLines(int bits) {
        return new ModemLines(
                (bits & TIOCM_CTS) != 0,
                (bits & TIOCM_DSR) != 0,
                (bits & TIOCM_RNG) != 0,
                (bits & TIOCM_CAR) != 0,
                (bits & TIOCM_DTR) != 0,
                (bits & TIOCM_RTS) != 0);
    }

    static SerialCounters counters(MemorySegment c) {
        return new SerialCounters(
                c.get(JAVA_INT, COUNT_RX),
                c.get(JAVA_INT, COUNT_TX),
                c.get(JAVA_INT, COUNT_FRAME),
                c.get(JAVA_INT, COUNT_PARITY),
                c.get(JAVA_INT, COUNT_OVERRUN),
                c.get(JAVA_INT, COUNT_BUF_OVERRUN),
                c.get(JAVA_INT, COUNT_BRK));
    }
}
