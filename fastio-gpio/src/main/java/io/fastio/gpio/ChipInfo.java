package io.fastio.gpio;

/**
 * A chip of this machine.
 *
 * @param path what to open: {@code /dev/gpiochip0}
 * @param name the kernel's: {@code gpiochip0}
 * @param label the driver's: {@code pinctrl-bcm2711}
 * @param lines number of lines; they are counted from 0
 */
public record ChipInfo(String path, String name, String label, int lines) {}
