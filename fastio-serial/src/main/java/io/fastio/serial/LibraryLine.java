package io.fastio.serial;

import com.fazecast.jSerialComm.SerialPort;
import com.fazecast.jSerialComm.SerialPortInvalidPortException;
import io.fastio.stream.Device;
import io.fastio.stream.DeviceGoneException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A serial port of any system, by jSerialComm; the loop asks it (I8), as the library keeps its descriptor to itself. A write of the
 * library goes round in circles for as long as the system takes nothing, as when the other side says that it has no room: so that
 * is for a thread of the port's own.
 */
final class LibraryLine extends SerialLine implements Device {
    /** What the system has taken and not sent, at most; systems have room for 4,096 bytes and more. */
    private static final int MOST_UNSENT = 1024;

    /** How long a port that is being closed waits for its output; Linux does so too. */
    private static final Duration LINGER = Duration.ofSeconds(30);

    private final SerialPort port;
    private final Sender sender = new Sender();
    private final byte[] piece = new byte[4096];
    private SerialOptions options;
    private volatile boolean closed;

    private LibraryLine(SerialPort port, SerialOptions options) {
        this.port = port;
        this.options = options;
    }

    /** Opens the port; waits for the hardware, so not for the loop. */
    static LibraryLine open(String path, SerialOptions options) throws IOException {
        SerialPort port;
        try {
            port = SerialPort.getCommPort(path);
        } catch (SerialPortInvalidPortException e) {
            FileNotFoundException f = new FileNotFoundException("no serial port " + path);
            f.initCause(e);
            throw f;
        }
        LibraryLine line = new LibraryLine(port, options);
        if (!options.exclusive()) {
            port.disableExclusiveLock();
        }
        line.apply(options);
        if (!port.openPort()) {
            throw new IOException("cannot open " + line + ": error " + port.getLastErrorCode() + " of the system");
        }
        return line;
    }

    private void apply(SerialOptions o) throws IOException {
        if (o.badBytes() != BadBytes.KEEP) {
            throw new IOException(this + " cannot treat bad bytes: " + o.badBytes());
        }
        int parity = switch (o.parity()) {
            case NONE -> SerialPort.NO_PARITY;
            case ODD -> SerialPort.ODD_PARITY;
            case EVEN -> SerialPort.EVEN_PARITY;
            case MARK -> SerialPort.MARK_PARITY;
            case SPACE -> SerialPort.SPACE_PARITY;
        };
        int flow = switch (o.flowControl()) {
            case NONE -> SerialPort.FLOW_CONTROL_DISABLED;
            case RTS_CTS -> SerialPort.FLOW_CONTROL_RTS_ENABLED | SerialPort.FLOW_CONTROL_CTS_ENABLED;
            case XON_XOFF -> SerialPort.FLOW_CONTROL_XONXOFF_IN_ENABLED | SerialPort.FLOW_CONTROL_XONXOFF_OUT_ENABLED;
        };
        int stop = o.stopBits() == 1 ? SerialPort.ONE_STOP_BIT : SerialPort.TWO_STOP_BITS;
        boolean done = port.setComPortParameters(o.speed(), o.dataBits(), stop, parity)
                && port.setFlowControl(flow)
                && port.setComPortTimeouts(SerialPort.TIMEOUT_NONBLOCKING, 0, 0);
        if (!done) {
            throw new IOException(this + " cannot do " + o);
        }
        options = o;
    }

    // =========================================================== the device

    @Override
    public int poll(int interest) {
        int there = port.bytesAvailable();
        if (there < 0 || sender.failed) {
            return ERROR;
        }
        int ready = there > 0 ? READ : 0;
        if ((interest & WRITE) != 0 && room() > 0) {
            ready |= WRITE;
        }
        return ready & interest;
    }

    @Override
    public int read(ByteBuffer dst) throws IOException {
        int n = port.readBytes(piece, Math.min(dst.remaining(), piece.length));
        if (n < 0) {
            throw gone();
        }
        dst.put(piece, 0, n);
        return n;
    }

    private int room() {
        return sender.left > 0 ? 0 : MOST_UNSENT - Math.max(0, port.bytesAwaitingWrite());
    }

    @Override
    public int write(ByteBuffer src) throws IOException {
        if (sender.failed || port.bytesAvailable() < 0) {
            throw gone();
        }
        int n = Math.min(src.remaining(), room());
        if (n <= 0) {
            return 0;
        }
        sender.send(src, n);
        return n;
    }

    /** Gives the library one piece after the other. */
    private final class Sender implements Runnable {
        private final byte[] taken = new byte[MOST_UNSENT];
        private int length;
        private @Nullable Thread thread;

        /** Bytes that the system has not taken yet; the loop fills {@link #taken} while it is 0. */
        volatile int left;

        volatile boolean failed;

        /** Loop. */
        void send(ByteBuffer src, int n) {
            src.get(taken, 0, n);
            length = n;
            left = n;
            Thread t = thread;
            if (t == null) {
                thread = Thread.ofPlatform()
                        .daemon()
                        .name("writing to " + path())
                        .start(this);
            } else {
                LockSupport.unpark(t);
            }
        }

        @Override
        public void run() {
            while (!failed && (left > 0 || !closed)) {
                int n = left;
                if (n == 0) {
                    LockSupport.park(this);
                    continue;
                }
                int sent = port.writeBytes(taken, n, length - n);
                failed = sent < 0 || sent == 0 && port.bytesAvailable() < 0;
                left = n - Math.max(sent, 0);
            }
        }

        /** Once the line is closed: waits for what is left. Not for the loop. */
        void end() {
            Thread t = thread;
            if (t != null) {
                LockSupport.unpark(t);
                try {
                    t.join(LINGER);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // closes without the rest
                }
            }
        }
    }

    private DeviceGoneException gone() {
        return new DeviceGoneException(this + " is gone", null);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            // It waits for a thread of the library's own, if there is one, and for output.
            Thread.ofPlatform().daemon().name("closing " + path()).start(() -> {
                sender.end();
                port.closePort();
            });
        }
    }

    // =========================================================== the line

    @Override
    public String path() {
        return port.getSystemPortPath();
    }

    private void requireOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    private int checked(String what, int n) throws IOException {
        if (n < 0) {
            throw new IOException(what + " of " + this + ": error " + port.getLastErrorCode() + " of the system");
        }
        return n;
    }

    private void checked(String what, boolean done) throws IOException {
        checked(what, done ? 0 : -1);
    }

    @Override
    public SerialOptions settings() throws IOException {
        requireOpen();
        return options;
    }

    @Override
    public void configure(SerialOptions wanted) throws IOException {
        requireOpen();
        apply(wanted.exclusive(options.exclusive()));
    }

    @Override
    public ModemLines modemLines() throws IOException {
        requireOpen();
        return new ModemLines(port.getCTS(), port.getDSR(), port.getRI(), port.getDCD(), port.getDTR(), port.getRTS());
    }

    @Override
    public void dtr(boolean on) throws IOException {
        requireOpen();
        checked("DTR", on ? port.setDTR() : port.clearDTR());
    }

    @Override
    public void rts(boolean on) throws IOException {
        requireOpen();
        checked("RTS", on ? port.setRTS() : port.clearRTS());
    }

    /** The library does not tell them. */
    @Override
    public Optional<SerialCounters> counters() throws IOException {
        requireOpen();
        return Optional.empty();
    }

    @Override
    public int available() throws IOException {
        requireOpen();
        return checked("available bytes", port.bytesAvailable());
    }

    @Override
    public int unsent() throws IOException {
        requireOpen();
        return sender.left + checked("unsent bytes", port.bytesAwaitingWrite());
    }

    @Override
    public void discardInput() throws IOException {
        requireOpen();
        int n = available();
        while (n > 0) {
            n -= checked("discarding input", port.readBytes(piece, Math.min(n, piece.length)));
        }
    }

    @Override
    public void discardOutput() throws IOException {
        requireOpen();
        checked("discarding output", port.flushIOBuffers());
    }

    @Override
    void setBreak(boolean on) throws IOException {
        requireOpen();
        checked("break", on ? port.setBreak() : port.clearBreak());
    }

    @Override
    public String toString() {
        return "serial port " + port.getSystemPortPath();
    }
}
