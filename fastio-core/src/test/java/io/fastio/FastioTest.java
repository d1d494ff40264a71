package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class FastioTest {
    @Test
    void versionNamesTheLibraryAndItsRelease() {
        assertThat(Fastio.version()).isEqualTo(new Version("fastio", "0.1.0")).hasToString("fastio 0.1.0");
    }
}
