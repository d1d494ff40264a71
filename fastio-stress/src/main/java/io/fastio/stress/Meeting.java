package io.fastio.stress;

import java.util.concurrent.ThreadLocalRandom;

/** Where the two actors of one state meet, so that what they do next happens at the same time, give or take a little. */
public final class Meeting {
    private static final int SPINS_BEFORE_YIELD = 2_000;
    private static final long LONGEST = 5_000_000_000L;

    /** Set once a wake was lost: from then on the case is lost, and nobody waits for anybody. */
    private static volatile boolean lost;

    private volatile boolean loopHere;
    private volatile boolean othersHere;

    /** A place to meet. */
    public Meeting() {}

    /** The actor that is the loop, just before what is tested. */
    public void loop() {
        loopHere = true;
        for (int i = 0; !othersHere && !lost; i++) {
            pause(i);
        }
        jitter();
    }

    /** The other actor. */
    public void other() {
        othersHere = true;
        for (int i = 0; !loopHere && !lost; i++) {
            pause(i);
        }
        jitter();
    }

    private static void pause(int i) {
        if (i % SPINS_BEFORE_YIELD == SPINS_BEFORE_YIELD - 1) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    /** A moment at random, long enough for either side to be the first at whatever comes next. */
    public static void jitter() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = random.nextInt(1 << random.nextInt(10)); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    /** Something that should have happened did not. */
    public static void lose() {
        lost = true;
    }

    /** Whether something was lost in this JVM. */
    public static boolean isLost() {
        return lost;
    }

    /** Waits for {@code condition}, which another thread makes true; false if it does not within {@link OnLoop#LIMIT}. */
    public static boolean comesTrue(java.util.function.BooleanSupplier condition) {
        long end = System.nanoTime() + Math.min(LONGEST, OnLoop.LIMIT.toNanos());
        while (!condition.getAsBoolean()) {
            if (lost || System.nanoTime() > end) {
                lose();
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }
}
