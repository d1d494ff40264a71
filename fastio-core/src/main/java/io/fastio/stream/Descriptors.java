package io.fastio.stream;

import io.fastio.Asyncio;
import io.fastio.Watch;
import io.fastio.poll.Errno;
import io.fastio.poll.FdIo;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes streams of files and descriptors. */
final class Descriptors {
    /** How long to wait between two looks for somebody who reads a FIFO: the kernel has no way to tell. */
    private static final long FIFO_LOOK_MS = 10;

    private static final int ENXIO = 6;

    private Descriptors() {}

    static FdIo fds(LoopIo io) {
        FdIo fds = io.fds;
        if (fds == null) {
            throw new UnsupportedOperationException("the poller of " + io.loop
                    + " serves channels only; descriptors need the epoll poller, which needs Linux");
        }
        return fds;
    }

    static Stream open(Path path, Set<OpenOption> options) throws IOException {
        LoopIo io = LoopIo.get();
        FdIo fds = fds(io);
        int flags = flags(options);
        String name = path.toString();
        int fd = fds.open(name, flags);
        while (fd == -ENXIO
                && (flags & 3) == FdIo.O_WRONLY
                && Files.readAttributes(path, "isOther").containsValue(true)) {
            Asyncio.sleepMs(FIFO_LOOK_MS); // a FIFO that nobody reads yet
            fd = fds.open(name, flags);
        }
        if (fd == -Errno.ENOENT) {
            throw new FileNotFoundException(name + ": " + Errno.text(Errno.ENOENT));
        }
        if (fd < 0) {
            throw Errno.exception("open " + name, fd);
        }
        return stream(io, fds, new OwnedFd(fd, fds, name), FdTransport.Mode.OWN, flags & 3);
    }

    private static int flags(Set<OpenOption> options) {
        boolean append = options.contains(StandardOpenOption.APPEND);
        boolean write = append || options.contains(StandardOpenOption.WRITE);
        boolean read = options.contains(StandardOpenOption.READ) || !write;
        int flags = FdIo.O_NONBLOCK | FdIo.O_NOCTTY | (read ? write ? FdIo.O_RDWR : FdIo.O_RDONLY : FdIo.O_WRONLY);
        for (OpenOption o : options) {
            flags |= switch (o) {
                case StandardOpenOption.READ, StandardOpenOption.WRITE -> 0;
                case StandardOpenOption.APPEND -> FdIo.O_APPEND;
                case StandardOpenOption.TRUNCATE_EXISTING -> FdIo.O_TRUNC;
                case StandardOpenOption.CREATE -> FdIo.O_CREAT;
                case StandardOpenOption.CREATE_NEW -> FdIo.O_CREAT | FdIo.O_EXCL;
                default -> throw new UnsupportedOperationException("open option " + o);
            };
        }
        return flags;
    }

    /** A stream over a descriptor that becomes ours. */
    static Stream own(int fd, int access, String name) throws IOException {
        LoopIo io = LoopIo.get();
        FdIo fds = fds(io);
        int r = fds.setNonBlocking(fd, true);
        if (r < 0) {
            throw Errno.exception("fcntl on " + name, r);
        }
        return stream(io, fds, new OwnedFd(fd, fds, name), FdTransport.Mode.OWN, access);
    }

    /**
     * One of the standard streams, whose open file other processes share. A terminal is opened anew, which gives an open file of
     * our own with a mode of its own, and so is a pipe to write to. A pipe to read from is not: to a reader that comes after
     * the last writer has left, the kernel never reports the end.
     */
    static Stream standard(int number, String name) throws IOException {
        LoopIo io = LoopIo.get();
        FdIo fds = io.fds;
        boolean input = number == 0;
        if (fds == null) {
            return input
                    ? new Stream(io, new PumpTransport(io, new FileInputStream(FileDescriptor.in), null, name), name)
                    : new Stream(
                            io,
                            new PumpTransport(
                                    io,
                                    null,
                                    new FileOutputStream(number == 1 ? FileDescriptor.out : FileDescriptor.err),
                                    name),
                            name);
        }
        Path link = Path.of("/proc/self/fd/" + number);
        String target =
                Files.isSymbolicLink(link) ? Files.readSymbolicLink(link).toString() : "";
        boolean pipe = target.startsWith("pipe:")
                || Files.readAttributes(link, "isOther").containsValue(true);
        int access = input ? FdIo.O_RDONLY : FdIo.O_WRONLY;
        FdTransport.Mode mode = target.startsWith("socket:") ? FdTransport.Mode.SOCKET : FdTransport.Mode.SHARED;
        int fd = -1;
        if (mode == FdTransport.Mode.SHARED && (fds.isTerminal(number) == 1 || pipe && !input)) {
            fd = fds.open(link.toString(), access | FdIo.O_NONBLOCK | FdIo.O_NOCTTY);
            if (fd >= 0) {
                mode = FdTransport.Mode.OWN;
            }
        }
        if (fd < 0) {
            fd = fds.dup(number);
        }
        if (fd < 0) {
            throw Errno.exception("opening " + name, fd);
        }
        return stream(io, fds, new OwnedFd(fd, fds, name), mode, access);
    }

    private static Stream stream(LoopIo io, FdIo fds, OwnedFd owned, FdTransport.Mode mode, int access)
            throws IOException {
        boolean made = false;
        try {
            Watch watch = watchOrNull(owned);
            Transport t = watch == null
                    ? new FileTransport(io, owned, fds)
                    : new FdTransport(owned, watch, fds, mode, access == FdIo.O_WRONLY);
            made = true;
            return new Stream(io, t, owned.toString());
        } finally {
            if (!made) {
                owned.close();
            }
        }
    }

    /** Null if the kernel has no readiness for this kind of file. */
    private static @Nullable Watch watchOrNull(OwnedFd owned) throws IOException {
        try {
            return Watch.of(owned.fd, owned);
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("EPERM")) {
                return null;
            }
            throw e;
        }
    }
}
