package io.fastio.poll;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Settings of the operating system for the thread that calls. Linux only; elsewhere they do nothing. */
public final class LoopThread {
    private LoopThread() {}

    /**
     * How late the kernel may end timed waits of the calling thread, in order to end several at once. Threads begin
     * with 50,000 ns; a loop thread wants 1. To be called on a platform thread: on a virtual thread it would set its
     * carrier's.
     *
     * @param nanos nanoseconds, from 1
     * @return whether it is set; false off Linux and where a sandbox forbids it
     * @throws IllegalArgumentException if {@code nanos} is less than 1
     */
    public static boolean setTimerSlack(long nanos) {
        if (nanos < 1) {
            throw new IllegalArgumentException("timer slack of " + nanos + " ns");
        }
        File file = slackFile();
        if (file == null) {
            return false;
        }
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(Long.toString(nanos).getBytes(StandardCharsets.US_ASCII));
            return true;
        } catch (IOException | RuntimeException forbiddenHere) {
            return false;
        }
    }

    /** The calling thread's timer slack in nanoseconds, or -1 where it is not known. */
    public static long timerSlack() {
        File file = slackFile();
        if (file == null) {
            return -1;
        }
        try (FileInputStream in = new FileInputStream(file)) {
            return Long.parseLong(new String(in.readAllBytes(), StandardCharsets.US_ASCII).trim());
        } catch (IOException | RuntimeException forbiddenHere) {
            return -1;
        }
    }

    /** Whether this is Linux, whose calls and files the classes of this package know. */
    static boolean isLinux() {
        return System.getProperty("os.name", "").startsWith("Linux");
    }

    /**
     * The kernel's file for the calling thread, or null. Reached by the thread's own number, since the folder of a
     * process's threads does not have it. A file and not {@code prctl}, and of java.io and not java.nio: what those load
     * first takes longer than a small program runs.
     */
    private static @Nullable File slackFile() {
        if (!isLinux()) {
            return null;
        }
        try {
            String thread = new File("/proc/thread-self").getCanonicalFile().getName();
            return new File("/proc/" + thread + "/timerslack_ns");
        } catch (IOException | RuntimeException noSuchFile) {
            return null;
        }
    }
}
