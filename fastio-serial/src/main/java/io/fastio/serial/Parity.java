package io.fastio.serial;

/** The bit behind the data bits of a byte on a serial line. */
public enum Parity {
    /** No such bit. */
    NONE('N'),
    /** Makes the number of ones odd. */
    ODD('O'),
    /** Makes the number of ones even. */
    EVEN('E'),
    /** Always one. */
    MARK('M'),
    /** Always zero. */
    SPACE('S');

    private final char letter;

    Parity(char letter) {
        this.letter = letter;
    }

    /** Its letter in names such as {@code 8N1}. */
    public char letter() {
        return letter;
    }
}
