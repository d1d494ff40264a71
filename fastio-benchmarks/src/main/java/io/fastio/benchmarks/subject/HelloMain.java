package io.fastio.benchmarks.subject;

import io.fastio.Asyncio;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The smallest program: waits 10 ms and says hello. First argument: {@code fastio} or {@code plain}; with a second one it
 * also prints the most memory that the process ever held, in kB.
 */
public final class HelloMain {
    private static final int MILLIS = 10;

    private HelloMain() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("fastio")) {
            Asyncio.run(() -> {
                Asyncio.sleepMs(MILLIS);
                System.out.println("hello");
            });
        } else {
            Thread.sleep(MILLIS);
            System.out.println("hello");
        }
        if (args.length > 1) {
            System.out.println(peakResidentKilobytes());
        }
    }

    private static String peakResidentKilobytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return line.replaceAll("\\D", "");
            }
        }
        throw new IOException("/proc/self/status does not tell VmHWM");
    }
}
