package io.fastio.gpio;

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

/** The numbers in {@link GpioAbi} against the kernel's headers, by the C compiler of this machine. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
final class GpioAbiTest {
    private static final Map<String, String> IN_C = new LinkedHashMap<>();

    static {
        IN_C.put("GET_CHIPINFO", "GPIO_GET_CHIPINFO_IOCTL");
        IN_C.put("GET_LINEINFO", "GPIO_V2_GET_LINEINFO_IOCTL");
        IN_C.put("GET_LINE", "GPIO_V2_GET_LINE_IOCTL");
        IN_C.put("GET_VALUES", "GPIO_V2_LINE_GET_VALUES_IOCTL");
        IN_C.put("SET_VALUES", "GPIO_V2_LINE_SET_VALUES_IOCTL");
        IN_C.put("NAME_SIZE", "GPIO_MAX_NAME_SIZE");
        IN_C.put("CHIPINFO_SIZE", "sizeof(struct gpiochip_info)");
        IN_C.put("CHIPINFO_LABEL", "offsetof(struct gpiochip_info, label)");
        IN_C.put("CHIPINFO_LINES", "offsetof(struct gpiochip_info, lines)");
        IN_C.put("LINEINFO_SIZE", "sizeof(struct gpio_v2_line_info)");
        IN_C.put("LINEINFO_CONSUMER", "offsetof(struct gpio_v2_line_info, consumer)");
        IN_C.put("LINEINFO_OFFSET", "offsetof(struct gpio_v2_line_info, offset)");
        IN_C.put("LINEINFO_FLAGS", "offsetof(struct gpio_v2_line_info, flags)");
        IN_C.put("REQUEST_SIZE", "sizeof(struct gpio_v2_line_request)");
        IN_C.put("REQUEST_OFFSETS", "offsetof(struct gpio_v2_line_request, offsets)");
        IN_C.put("REQUEST_CONSUMER", "offsetof(struct gpio_v2_line_request, consumer)");
        IN_C.put("REQUEST_FLAGS", "offsetof(struct gpio_v2_line_request, config.flags)");
        IN_C.put("REQUEST_NUM_ATTRS", "offsetof(struct gpio_v2_line_request, config.num_attrs)");
        IN_C.put("REQUEST_ATTRS", "offsetof(struct gpio_v2_line_request, config.attrs)");
        IN_C.put("REQUEST_NUM_LINES", "offsetof(struct gpio_v2_line_request, num_lines)");
        IN_C.put("REQUEST_EVENT_BUFFER_SIZE", "offsetof(struct gpio_v2_line_request, event_buffer_size)");
        IN_C.put("REQUEST_FD", "offsetof(struct gpio_v2_line_request, fd)");
        IN_C.put("ATTR_SIZE", "sizeof(struct gpio_v2_line_config_attribute)");
        IN_C.put("ATTR_ID", "offsetof(struct gpio_v2_line_config_attribute, attr.id)");
        IN_C.put("ATTR_VALUE", "offsetof(struct gpio_v2_line_config_attribute, attr.values)");
        IN_C.put("ATTR_MASK", "offsetof(struct gpio_v2_line_config_attribute, mask)");
        IN_C.put("ATTR_OUTPUT_VALUES", "GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES");
        IN_C.put("ATTR_DEBOUNCE", "GPIO_V2_LINE_ATTR_ID_DEBOUNCE");
        IN_C.put("VALUES_SIZE", "sizeof(struct gpio_v2_line_values)");
        IN_C.put("VALUES_BITS", "offsetof(struct gpio_v2_line_values, bits)");
        IN_C.put("VALUES_MASK", "offsetof(struct gpio_v2_line_values, mask)");
        IN_C.put("EVENT_SIZE", "sizeof(struct gpio_v2_line_event)");
        IN_C.put("EVENT_TIMESTAMP", "offsetof(struct gpio_v2_line_event, timestamp_ns)");
        IN_C.put("EVENT_ID", "offsetof(struct gpio_v2_line_event, id)");
        IN_C.put("EVENT_LINE_SEQNO", "offsetof(struct gpio_v2_line_event, line_seqno)");
        IN_C.put("EVENT_RISING", "GPIO_V2_LINE_EVENT_RISING_EDGE");
        IN_C.put("EVENT_FALLING", "GPIO_V2_LINE_EVENT_FALLING_EDGE");
        IN_C.put("FLAG_USED", "GPIO_V2_LINE_FLAG_USED");
        IN_C.put("FLAG_ACTIVE_LOW", "GPIO_V2_LINE_FLAG_ACTIVE_LOW");
        IN_C.put("FLAG_INPUT", "GPIO_V2_LINE_FLAG_INPUT");
        IN_C.put("FLAG_OUTPUT", "GPIO_V2_LINE_FLAG_OUTPUT");
        IN_C.put("FLAG_EDGE_RISING", "GPIO_V2_LINE_FLAG_EDGE_RISING");
        IN_C.put("FLAG_EDGE_FALLING", "GPIO_V2_LINE_FLAG_EDGE_FALLING");
        IN_C.put("FLAG_OPEN_DRAIN", "GPIO_V2_LINE_FLAG_OPEN_DRAIN");
        IN_C.put("FLAG_OPEN_SOURCE", "GPIO_V2_LINE_FLAG_OPEN_SOURCE");
        IN_C.put("FLAG_PULL_UP", "GPIO_V2_LINE_FLAG_BIAS_PULL_UP");
        IN_C.put("FLAG_PULL_DOWN", "GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN");
        IN_C.put("FLAG_BIAS_DISABLED", "GPIO_V2_LINE_FLAG_BIAS_DISABLED");
        IN_C.put("FLAG_WALL_CLOCK", "GPIO_V2_LINE_FLAG_EVENT_CLOCK_REALTIME");
    }

    @Test
    void everyNumberIsThatOfTheKernelsHeaders(@TempDir Path dir) throws Exception {
        assumeThat(Path.of("/usr/bin/gcc")).as("no C compiler here").isExecutable();
        assumeThat(Path.of("/usr/include/linux/gpio.h"))
                .as("no kernel headers here")
                .exists();
        Map<String, Long> ours = new LinkedHashMap<>();
        for (Field f : GpioAbi.class.getDeclaredFields()) {
            if (f.getType().isPrimitive()
                    && !Modifier.isPrivate(f.getModifiers())
                    && !f.getName().equals("EVENT_BUFFER")) {
                ours.put(f.getName(), ((Number) f.get(null)).longValue());
            }
        }
        StringBuilder program = new StringBuilder(
                "#include <stddef.h>\n#include <stdio.h>\n#include <linux/gpio.h>\nint main(void) {\n");
        IN_C.forEach((name, c) -> program.append("printf(\"%s %%lu\\n\", (unsigned long) (%s));\n".formatted(name, c)));
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
        assertThat(theirs).isEqualTo(ours);
    }
}
