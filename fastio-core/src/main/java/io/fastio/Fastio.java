package io.fastio;

/** Facts about the library as a whole. */
public final class Fastio {
    private static final Version VERSION = new Version("fastio", "0.1.0");

    private Fastio() {}

    /**
     * The library's name and release. Any thread may call it; it never waits.
     *
     * @return {@code ("fastio", "0.1.0")} for this release
     */
    public static Version version() {
        return VERSION;
    }
}
