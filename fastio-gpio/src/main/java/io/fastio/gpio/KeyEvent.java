package io.fastio.gpio;

/**
 * A key of a {@link KeyMatrix} has changed.
 *
 * @param row its row, from 0
 * @param column its column, from 0
 * @param pressed whether it is pressed now
 */
public record KeyEvent(int row, int column, boolean pressed) {}
