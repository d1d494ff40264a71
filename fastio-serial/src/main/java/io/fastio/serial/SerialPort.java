package io.fastio.serial;

import io.fastio.Asyncio;
import io.fastio.stream.Device;
import io.fastio.stream.Stream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Opens and lists serial ports. For tasks.
 *
 * <p>On Linux a port is opened and set by the kernel's own calls, and the loop's poller waits for its descriptor: an idle port
 * costs nothing, and a byte wakes its reader as a socket's does. Elsewhere jSerialComm opens it, and the loop asks it every
 * {@code devicePollInterval} (I8). The ports are listed by jSerialComm everywhere.
 */
public final class SerialPort {
    private static final Set<String> KNOWN_MACHINES = Set.of("amd64", "x86_64", "aarch64", "riscv64");

    private SerialPort() {}

    /** {@link #open(String, SerialOptions)} with the defaults: 115,200 bit/s, 8N1. */
    public static Stream open(String path) throws IOException {
        return open(path, SerialOptions.defaults());
    }

    /**
     * A stream over a serial port: raw bytes, no echo, no line editing. {@link SerialLine#of} gives access to modem lines,
     * counters and settings. Closing the stream sends what was written and closes the port.
     *
     * <p>A port that is taken away while it is open gives one {@link io.fastio.stream.DeviceGoneException} to whoever reads or
     * writes first; then the stream is closed (F83). Damaged bytes never end a stream; see {@link BadBytes} and {@link
     * SerialLine#counters} (F85).
     *
     * <p>On Linux it does not wait; elsewhere it waits for the system, and a cancel then ends the wait only.
     *
     * @param path {@code /dev/ttyUSB0}, {@code /dev/serial/by-id/…}, {@code COM3}
     * @throws java.io.FileNotFoundException if there is no such port
     * @throws IOException if it is in use, no serial port, or cannot do what {@code options} say
     */
    public static Stream open(String path, SerialOptions options) throws IOException {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(options, "options");
        Asyncio.currentTask();
        return stream(isKnownLinux() ? LinuxLine.open(path, options) : openByLibrary(path, options));
    }

    private static boolean isKnownLinux() {
        return System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("linux")
                && KNOWN_MACHINES.contains(System.getProperty("os.arch"));
    }

    static <L extends SerialLine & Device> Stream stream(L line) throws IOException {
        boolean made = false;
        try {
            Stream s = new Stream(line);
            made = true;
            return s;
        } finally {
            if (!made) {
                line.close();
            }
        }
    }

    static LibraryLine openByLibrary(String path, SerialOptions options) throws IOException {
        AtomicReference<Opening> state = new AtomicReference<>(Opening.UNDER_WAY);
        boolean taken = false;
        try {
            LibraryLine line = Asyncio.offload(() -> {
                LibraryLine opened = LibraryLine.open(path, options);
                if (!state.compareAndSet(Opening.UNDER_WAY, new Opening(opened))) {
                    opened.close(); // nobody waits for it any more
                }
                return opened;
            });
            taken = true;
            return line;
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("cannot open serial port " + path, e);
        } finally {
            if (!taken && !state.compareAndSet(Opening.UNDER_WAY, Opening.ABANDONED)) {
                LibraryLine opened = state.get().line;
                if (opened != null) {
                    opened.close();
                }
            }
        }
    }

    /** How far the opening of a port has come that somebody may cease to wait for. */
    private record Opening(@Nullable LibraryLine line) {
        static final Opening UNDER_WAY = new Opening(null);
        static final Opening ABANDONED = new Opening(null);
    }

    /** The serial ports of this machine. Waits for the system; a cancel ends the wait. */
    public static List<PortInfo> list() throws IOException {
        com.fazecast.jSerialComm.SerialPort[] ports;
        try {
            ports = Asyncio.offload(com.fazecast.jSerialComm.SerialPort::getCommPorts);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("cannot list the serial ports", e);
        }
        List<PortInfo> found = new ArrayList<>(ports.length);
        for (com.fazecast.jSerialComm.SerialPort p : ports) {
            found.add(new PortInfo(
                    p.getSystemPortPath(),
                    p.getDescriptivePortName(),
                    known(p.getManufacturer()),
                    p.getVendorID(),
                    p.getProductID(),
                    known(p.getSerialNumber())));
        }
        return List.copyOf(found);
    }

    private static @Nullable String known(@Nullable String s) {
        return s == null || s.isBlank() || s.equals("Unknown") ? null : s;
    }
}
