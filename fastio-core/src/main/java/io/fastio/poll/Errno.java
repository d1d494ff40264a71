package io.fastio.poll;

import java.io.IOException;

/** Linux's error numbers that matter here, and what to call the others. The same on x86-64 and aarch64. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int EEXIST = 17;
    public static final int ENOTTY = 25;
    public static final int EPIPE = 32;
    public static final int ENOSYS = 38;
    public static final int ECONNRESET = 104;
    public static final int ECONNREFUSED = 111;

    private Errno() {}

    /** Name and meaning, for people: {@code "EBADF, not an open descriptor"}. */
    public static String text(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM, not permitted";
            case ENOENT -> "ENOENT, no such file";
            case EINTR -> "EINTR, interrupted by a signal";
            case EIO -> "EIO, input/output error";
            case 6 -> "ENXIO, no such device, or nobody reads the FIFO";
            case EBADF -> "EBADF, not an open descriptor, or not open for this direction";
            case EAGAIN -> "EAGAIN, would block";
            case 12 -> "ENOMEM, out of memory";
            case 13 -> "EACCES, no access";
            case 14 -> "EFAULT, bad address";
            case 16 -> "EBUSY, device busy";
            case EEXIST -> "EEXIST, exists already";
            case 19 -> "ENODEV, no such device";
            case 20 -> "ENOTDIR, not a directory";
            case 21 -> "EISDIR, is a directory";
            case 22 -> "EINVAL, invalid argument";
            case 23 -> "ENFILE, the system has too many files open";
            case 24 -> "EMFILE, the process has too many files open";
            case ENOTTY -> "ENOTTY, not a terminal, or the device does not know this request";
            case 27 -> "EFBIG, file too large";
            case 28 -> "ENOSPC, no space left, or no more watches allowed";
            case 29 -> "ESPIPE, cannot seek";
            case 30 -> "EROFS, read-only file system";
            case EPIPE -> "EPIPE, nobody reads any more";
            case ENOSYS -> "ENOSYS, the kernel does not have this call";
            case 40 -> "ELOOP, too many symbolic links, or pollers that watch each other";
            case 88 -> "ENOTSOCK, not a socket";
            case 90 -> "EMSGSIZE, message too long";
            case 95 -> "EOPNOTSUPP, not supported";
            case 103 -> "ECONNABORTED, connection aborted";
            case ECONNRESET -> "ECONNRESET, connection reset by the other side";
            case 105 -> "ENOBUFS, no buffer space";
            case 101 -> "ENETUNREACH, network unreachable";
            case 107 -> "ENOTCONN, not connected";
            case 110 -> "ETIMEDOUT, timed out";
            case ECONNREFUSED -> "ECONNREFUSED, connection refused";
            case 113 -> "EHOSTUNREACH, host unreachable";
            default -> "errno " + errno;
        };
    }

    /**
     * The exception for a call that returned a negative error number.
     *
     * @param what what was tried: {@code "read from descriptor 5"}
     * @param result the negative error number
     */
    public static IOException exception(String what, int result) {
        return new IOException(what + ": " + text(-result));
    }
}
