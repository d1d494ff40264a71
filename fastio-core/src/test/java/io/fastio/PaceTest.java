package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class PaceTest {
    /** A loop of which nothing depends on the time takes no look, for as long as it likes; then a timer is set. */
    @Test
    @Tag("slow")
    void S8_aLookIsDueAlsoAfterMoreStepsThanAnIntCounts() {
        try (EventLoop loop = EventLoop.create()) {
            Pace pace = new Pace(loop, new Ticks(loop, 1_000_000), false);
            pace.lookNext();
            long due = 0;
            long steps = 1L << 31;
            for (long i = -10; i < steps; i++) {
                due += pace.isTimeToLook() ? 1 : 0;
            }
            assertThat(due).isEqualTo(steps + 10);
        }
    }

    @Test
    void S8_shortStepsShareALookAndLongOnesDoNot() {
        try (EventLoop loop = EventLoop.create()) {
            Pace pace = new Pace(loop, new Ticks(loop, 1_000_000), false);
            for (int i = 0; i < 100; i++) {
                pace.looked(1_000, Long.MAX_VALUE);
            }
            int apart = 0;
            while (!pace.isTimeToLook()) {
                apart++;
            }
            assertThat(apart).isEqualTo(15);
            pace.looked(100_000, Long.MAX_VALUE);
            assertThat(pace.isTimeToLook()).isTrue();
            pace.rest();
        }
    }
}
