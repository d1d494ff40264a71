package io.fastio.serial;

import org.jspecify.annotations.Nullable;

/**
 * A serial port of this machine.
 *
 * @param path what to open: {@code /dev/ttyUSB0}, {@code COM3}
 * @param name for people
 * @param manufacturer of a USB device, or null
 * @param vendorId of a USB device, or -1
 * @param productId of a USB device, or -1
 * @param serialNumber of a USB device, or null
 */
public record PortInfo(
        String path,
        String name,
        @Nullable String manufacturer,
        int vendorId,
        int productId,
        @Nullable String serialNumber) {}
