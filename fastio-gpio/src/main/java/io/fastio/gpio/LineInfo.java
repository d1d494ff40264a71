package io.fastio.gpio;

/**
 * A line of a chip.
 *
 * @param line its number
 * @param name as the board's maker has named it, perhaps empty: {@code GPIO17}
 * @param consumer who uses it, perhaps empty
 * @param used whether somebody uses it
 * @param output whether it is an output
 * @param activeLow whether its levels are turned round
 */
public record LineInfo(int line, String name, String consumer, boolean used, boolean output, boolean activeLow) {}
