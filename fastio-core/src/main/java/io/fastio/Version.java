package io.fastio;

import java.util.Objects;

/**
 * Which library this is, and which release of it.
 *
 * @param name the library's name, {@code fastio}
 * @param number the release as a semantic version, such as {@code 0.1.0}
 */
public record Version(String name, String number) {
    public Version {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(number, "number");
    }

    /** The name and the number with a space between, such as {@code fastio 0.1.0}. */
    @Override
    public String toString() {
        return name + " " + number;
    }
}
