package io.fastio.gpio;

import io.fastio.poll.FdIo;
import java.lang.foreign.MemorySegment;

/** The calls that a chip of the kernel needs; results as those of {@link FdIo}. */
interface GpioKernel {
    int open(String path);

    int close(int fd);

    int ioctl(int fd, long request, MemorySegment arg);

    int read(int fd, MemorySegment dst, int length);

    int setNonBlocking(int fd);

    /** The real one. */
    static GpioKernel linux() {
        FdIo fds = new FdIo();
        return new GpioKernel() {
            @Override
            public int open(String path) {
                return fds.open(path, FdIo.O_RDWR);
            }

            @Override
            public int close(int fd) {
                return fds.close(fd);
            }

            @Override
            public int ioctl(int fd, long request, MemorySegment arg) {
                return fds.ioctl(fd, request, arg);
            }

            @Override
            public int read(int fd, MemorySegment dst, int length) {
                return fds.read(fd, dst, 0, length);
            }

            @Override
            public int setNonBlocking(int fd) {
                return fds.setNonBlocking(fd, true);
            }
        };
    }
}
