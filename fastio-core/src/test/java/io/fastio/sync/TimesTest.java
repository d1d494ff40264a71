package io.fastio.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fastio.Asyncio;
import io.fastio.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Interval and RetriggerableDelay. */
final class TimesTest {
    private static long ms() {
        return Asyncio.runningLoop().time() / 1_000_000;
    }

    /** F113: ticks of 10 ms, with work of the given lengths between them. */
    private static List<Long> ticks(Interval.Missed missed, int... work) throws Exception {
        List<Long> at = new ArrayList<>();
        Loops.virtually(() -> {
            Interval interval = new Interval(Duration.ofMillis(10), missed);
            for (int w : work) {
                long leftOut = interval.await();
                at.add(ms());
                if (missed != Interval.Missed.SKIP) {
                    assertThat(leftOut).isZero();
                }
                Asyncio.sleepMs(w);
            }
        });
        return at;
    }

    @Test
    void Y4_ticksDoNotDrift() throws Exception {
        for (Interval.Missed missed : Interval.Missed.values()) {
            assertThat(ticks(missed, 3, 9, 0, 5, 10, 1)).containsExactly(10L, 20L, 30L, 40L, 50L, 60L);
        }
    }

    @Test
    void Y4_missedTicksAreMadeUpFor() throws Exception {
        assertThat(ticks(Interval.Missed.BURST, 0, 35, 0, 0, 0, 0)).containsExactly(10L, 20L, 55L, 55L, 55L, 60L);
    }

    @Test
    void Y4_missedTicksDelayTheRest() throws Exception {
        assertThat(ticks(Interval.Missed.DELAY, 0, 35, 0, 0)).containsExactly(10L, 20L, 55L, 65L);
    }

    @Test
    void Y4_missedTicksAreLeftOut() throws Exception {
        assertThat(ticks(Interval.Missed.SKIP, 0, 35, 0, 0)).containsExactly(10L, 20L, 55L, 60L);
    }

    @Test
    void Y4_skipSaysHowManyWereLeftOut() throws Exception {
        Loops.virtually(() -> {
            Interval interval = new Interval(Duration.ofMillis(10), Interval.Missed.SKIP);
            assertThat(interval.await()).isZero();
            Asyncio.sleepMs(45);
            assertThat(interval.await()).isEqualTo(3);
            assertThat(interval.nextNanos()).isEqualTo(60_000_000);
            Task<?> cancelled = Loops.spawn(interval::await);
            Loops.settle();
            cancelled.cancel();
            Loops.settle();
            assertThat(interval.await()).isZero();
            assertThat(ms()).isEqualTo(60);
        });
    }

    @Test
    void Y4_anIntervalPastTheEndOfTimeNeverTicks() throws Exception {
        Loops.virtually(() -> {
            Interval never = new Interval(Duration.ofSeconds(Long.MAX_VALUE), Interval.Missed.BURST);
            Task<?> t = Loops.spawn(never::await);
            Asyncio.sleep(Duration.ofDays(300));
            assertThat(t.done()).isFalse();
        });
    }

    @Test
    void Y4_aDelayExpiresAfterTheLastTrigger() throws Exception {
        Loops.virtually(() -> {
            List<Long> expired = new ArrayList<>();
            RetriggerableDelay delay = new RetriggerableDelay(Duration.ofMillis(10), () -> expired.add(ms()));
            for (int i = 0; i < 5; i++) {
                delay.trigger();
                Asyncio.sleepMs(9);
                assertThat(delay.running()).isTrue();
            }
            delay.await();
            assertThat(ms()).isEqualTo(46);
            Loops.settle();
            assertThat(expired).containsExactly(46L);
            assertThat(delay.running()).isFalse();
            delay.await(); // until it is triggered anew

            Loops.onAnotherThread(delay::trigger);
            delay.stop();
            Asyncio.sleepMs(20);
            assertThat(expired).hasSize(1);
            delay.trigger();
            assertThat(new WaitAny(delay.event()).await()).isSameAs(delay.event());
            Loops.settle();
            assertThat(expired).containsExactly(46L, 76L);
        });
    }

    @Test
    void wrongUse() throws Exception {
        assertThatIllegalStateException().isThrownBy(() -> new Interval(Duration.ofMillis(1), Interval.Missed.BURST));
        assertThatIllegalStateException().isThrownBy(() -> new RetriggerableDelay(Duration.ofMillis(1), null));
        Loops.virtually(() -> {
            assertThatIllegalArgumentException().isThrownBy(() -> new Interval(Duration.ZERO, Interval.Missed.BURST));
            assertThatIllegalArgumentException().isThrownBy(() -> new RetriggerableDelay(Duration.ofMillis(-1), null));
        });
    }
}
