package io.fastio.poll;

/**
 * Where the kernel keeps the fields of {@code struct epoll_event}: the event bits (32 bits) at offset 0, the user's
 * data (64 bits) at {@code dataOffset}, the next struct after {@code size} bytes. Packed on x86-64, so that 32-bit
 * programs share the layout; naturally aligned everywhere else.
 */
record EventLayout(int size, int dataOffset) {
    /** @param arch as in the system property {@code os.arch} */
    static EventLayout of(String arch) {
        return arch.equals("amd64") || arch.equals("x86_64") ? new EventLayout(12, 4) : new EventLayout(16, 8);
    }

    long events(int index) {
        return (long) index * size;
    }

    long data(int index) {
        return (long) index * size + dataOffset;
    }
}
