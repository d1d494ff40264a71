package io.fastio.sync;

/** Apart from its case, so that this is verified without loading what may be a twin. */
final class BoundedReleases {
    private BoundedReleases() {}

    /** A semaphore whose only permit is taken. */
    static BoundedSemaphore taken() {
        BoundedSemaphore s = new BoundedSemaphore(1);
        if (!s.tryAcquire()) {
            throw new AssertionError("no permit");
        }
        return s;
    }

    static boolean release(BoundedSemaphore s) {
        try {
            s.release();
            return true;
        } catch (IllegalStateException oneTooMany) {
            return false;
        }
    }
}
