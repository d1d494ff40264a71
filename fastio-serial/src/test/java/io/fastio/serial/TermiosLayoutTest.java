package io.fastio.serial;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The numbers in {@link Termios} against the kernel's headers, by the C compiler of this machine. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
final class TermiosLayoutTest {
    private static final Map<String, String> IN_C = new LinkedHashMap<>();

    static {
        IN_C.put("SIZE", "sizeof(struct termios2)");
        IN_C.put("IFLAG", "offsetof(struct termios2, c_iflag)");
        IN_C.put("OFLAG", "offsetof(struct termios2, c_oflag)");
        IN_C.put("CFLAG", "offsetof(struct termios2, c_cflag)");
        IN_C.put("LFLAG", "offsetof(struct termios2, c_lflag)");
        IN_C.put("CC", "offsetof(struct termios2, c_cc)");
        IN_C.put("ISPEED", "offsetof(struct termios2, c_ispeed)");
        IN_C.put("OSPEED", "offsetof(struct termios2, c_ospeed)");
        IN_C.put("CIBAUD", "CBAUD << IBSHIFT");
        IN_C.put("COUNTERS_SIZE", "sizeof(struct serial_icounter_struct)");
        IN_C.put("COUNT_RX", "offsetof(struct serial_icounter_struct, rx)");
        IN_C.put("COUNT_TX", "offsetof(struct serial_icounter_struct, tx)");
        IN_C.put("COUNT_FRAME", "offsetof(struct serial_icounter_struct, frame)");
        IN_C.put("COUNT_OVERRUN", "offsetof(struct serial_icounter_struct, overrun)");
        IN_C.put("COUNT_PARITY", "offsetof(struct serial_icounter_struct, parity)");
        IN_C.put("COUNT_BRK", "offsetof(struct serial_icounter_struct, brk)");
        IN_C.put("COUNT_BUF_OVERRUN", "offsetof(struct serial_icounter_struct, buf_overrun)");
    }

    @Test
    void everyNumberIsThatOfTheKernelsHeaders(@TempDir Path dir) throws Exception {
        assumeThat(Path.of("/usr/bin/gcc")).as("no C compiler here").isExecutable();
        StringBuilder program = new StringBuilder("""
                #include <stddef.h>
                #include <stdio.h>
                #include <asm/ioctls.h>
                #include <asm/termbits.h>
                #include <linux/serial.h>
                #include <linux/tty.h>
                #include <asm/termios.h>
                int main(void) {
                """);
        Map<String, Long> ours = new LinkedHashMap<>();
        for (Field f : Termios.class.getDeclaredFields()) {
            if (f.getType().isPrimitive() && !Modifier.isPrivate(f.getModifiers())) {
                ours.put(f.getName(), ((Number) f.get(null)).longValue() & 0xFFFF_FFFFL);
                String expression = IN_C.getOrDefault(f.getName(), f.getName());
                program.append("printf(\"%s %%lu\\n\", (unsigned long) (unsigned) (%s));%n"
                        .formatted(f.getName(), expression));
            }
        }
        for (int speed : Termios.NAMED_SPEEDS) {
            ours.put("B" + speed, (long) Termios.speedCode(speed));
            program.append("printf(\"B%d %%lu\\n\", (unsigned long) B%d);%n".formatted(speed, speed));
        }
        Path source = Files.writeString(
                dir.resolve("numbers.c"), program.append("return 0; }").toString());
        Path binary = dir.resolve("numbers");
        Process gcc = new ProcessBuilder("gcc", "-o", binary.toString(), source.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(gcc.getInputStream().readAllBytes(), UTF_8);
        assertThat(gcc.waitFor()).as(said).isZero();
        Process run = new ProcessBuilder(binary.toString()).start();
        Map<String, Long> theirs = new LinkedHashMap<>();
        new String(run.getInputStream().readAllBytes(), UTF_8).lines().forEach(line -> {
            String[] parts = line.split(" ");
            theirs.put(parts[0], Long.parseLong(parts[1]));
        });
        assertThat(theirs).hasSizeGreaterThan(50).isEqualTo(ours);
    }
}
