package io.fastio.serial;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.Asyncio;
import io.fastio.Task;
import io.fastio.stream.Stream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The examples that use a serial port, each as a program of its own, with this test as the device at the far end. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
final class SerialExamplesTest {
    private static Path example(String name) {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(here.resolve("examples"))) {
            here = here.getParent();
        }
        return here.resolve("examples").resolve(name);
    }

    /** Runs it as {@code ./fastio run} does; what it printed. */
    private static Task<List<String>> start(String name, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens",
                "java.base/java.lang=ALL-UNNAMED",
                "--add-exports",
                "java.base/sun.nio.ch=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                example(name).toString()));
        command.addAll(Arrays.asList(arguments));
        return Asyncio.createTask(() -> Asyncio.offload(() -> {
            Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
            try {
                String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(p.waitFor()).as(said).isZero();
                return said.lines().toList();
            } finally {
                p.destroyForcibly();
            }
        }));
    }

    private static void talk(io.fastio.Action conversation) throws Exception {
        Asyncio.run(() -> Asyncio.waitFor(conversation, Duration.ofSeconds(90)));
    }

    private static String sentence(String body) {
        return "$%s*%02X\r\n".formatted(body, body.chars().reduce(0, (a, b) -> a ^ b));
    }

    @Test
    void gpsPosition() throws Exception {
        talk(() -> {
            try (Pty pty = new Pty()) {
                Task<List<String>> program = start("GpsPosition.java", pty.path, "3");
                Task<?> receiver = Asyncio.createTask(() -> {
                    Random random = new Random(5);
                    byte[] noise = new byte[300];
                    for (int i = 0; ; i++) {
                        for (int k = 0; k < noise.length; k++) {
                            noise[k] = (byte) (128 + random.nextInt(100));
                        }
                        pty.far.write(noise);
                        pty.far.write("\r\n");
                        pty.far.write(sentence("GPGSV,1,1,00"));
                        pty.far.write("$GPGGA,000000,0000.000,N,00000.000,E,1,08,,,,,,*00\r\n");
                        pty.far.write(sentence("GPGGA,12351%d,4807.%03d,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"
                                .formatted(i % 10, 30 * (i % 10))));
                        Asyncio.sleepMs(50);
                    }
                });
                List<String> said = program.await();
                receiver.cancel();
                assertThat(said).hasSize(4);
                assertThat(said.subList(0, 3))
                        .allMatch(line -> line.matches("12351\\d 48\\.1\\d{4} 11\\.51667, 8 satellites"));
                assertThat(said.getLast()).matches("moved \\d+ m; [1-9]\\d* damaged sentences");
            }
        });
    }

    @Test
    void instrument() throws Exception {
        talk(() -> {
            try (Pty pty = new Pty()) {
                Task<List<String>> program = start("Instrument.java", pty.path);
                Task<?> device = Asyncio.createTask(() -> serve(pty.far));
                List<String> said = program.await();
                device.cancel();
                assertThat(said)
                        .containsExactly(
                                "fastio test bench",
                                "6.000 W",
                                "cancelled: true",
                                "ready, repeated",
                                "no answer to NOTHING");
            }
        });
    }

    /** The instrument: forgets every third request, answers some of them late. */
    private static void serve(Stream line) throws IOException {
        int requests = 0;
        while (true) {
            String request = line.readLine();
            if (request == null) {
                return;
            }
            String[] parts = request.split(" ");
            String answer = switch (parts[1]) {
                case "IDENTIFY" -> "fastio test bench";
                case "VOLT" -> "12.0";
                case "AMPERE" -> "0.5";
                case "STATUS" -> "ready";
                case "SLOW" -> "at last";
                default -> "";
            };
            if (!answer.isEmpty() && ++requests % 3 != 0) {
                if (parts[1].equals("SLOW")) {
                    Asyncio.sleepMs(100); // its request will have been cancelled
                }
                line.write(parts[0] + " " + answer + "\n");
            }
        }
    }
}
