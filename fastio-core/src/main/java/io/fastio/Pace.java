package io.fastio;

/**
 * How many steps lie between two looks at the clock (S8). Short steps share one look, which costs a fifth of a switch.
 * Where steps are of mixed length, or a timer is near, there is a look before every one; time that jumps is looked at
 * always. Loop only.
 */
final class Pace {
    /** As long as this many nanoseconds of steps passed between two looks, the looks are not further apart. */
    private static final long SHORT_STEPS = 2_500;

    private static final long LONG_STEPS = 20_000;
    private static final int MOST_STEPS_BETWEEN_LOOKS = 15;

    /** So many looks in a row have to find short steps before they move apart. */
    private static final int SHORT_LOOKS = 16;

    private final Ticks ticks;
    private final boolean always;
    private final LookAtNextTurn lookAtNextTurn;
    private int stepsUntilLook;
    private int stepsBetweenLooks;
    private int shortLooks;
    private boolean stepsAreLong;

    /** Nothing has run since the loop slept. */
    boolean slept;

    private boolean lookAtTicks;

    /** @param always before every step, as time may jump */
    Pace(EventLoop loop, Ticks ticks, boolean always) {
        this.ticks = ticks;
        this.always = always;
        this.stepsAreLong = always;
        this.lookAtNextTurn = new LookAtNextTurn(loop);
    }

    /** Counts a step. True for every further one until there was a look, which may be never: nothing depends on the time. */
    boolean isTimeToLook() {
        if (stepsUntilLook == 0) {
            return true;
        }
        stepsUntilLook--;
        return false;
    }

    /** There is to be a look before the next step. */
    void lookNext() {
        stepsUntilLook = 0;
    }

    /** Whether the latest steps were long enough for a look at the clock to cost next to nothing. */
    boolean areStepsLong() {
        return stepsAreLong;
    }

    /** There was a look: sets when the next one is to be. */
    void looked(long sinceLastLook, long untilNextTimer) {
        stepsAreLong = always || sinceLastLook > 2 * SHORT_STEPS;
        if (sinceLastLook > LONG_STEPS) {
            shortLooks = 0;
            stepsBetweenLooks = 0;
        } else if (untilNextTimer < Scheduler.NEAR || always) {
            stepsBetweenLooks = 0;
        } else if (sinceLastLook > 2 * SHORT_STEPS) {
            stepsBetweenLooks >>= 1;
        } else if (sinceLastLook < SHORT_STEPS && ++shortLooks > SHORT_LOOKS) {
            shortLooks = SHORT_LOOKS;
            stepsBetweenLooks = Math.min(2 * stepsBetweenLooks + 1, MOST_STEPS_BETWEEN_LOOKS);
        }
        stepsUntilLook = stepsBetweenLooks;
        if (stepsBetweenLooks > 0 && !lookAtTicks) {
            lookAtTicks = true;
            ticks.ringOften(lookAtNextTurn);
        }
    }

    /** No run follows for now: nobody would take the ticks. */
    void rest() {
        if (lookAtTicks) {
            lookAtTicks = false;
            ticks.ringOften(null);
        }
    }

    /**
     * S2, S6: steps that have been short may become long, and nobody would look for so many of them. While looks are
     * apart, each tick brings one on.
     */
    private final class LookAtNextTurn extends Signal {
        LookAtNextTurn(EventLoop loop) {
            super(loop);
        }

        @Override
        protected void act() {
            lookNext();
            if (slept || stepsBetweenLooks == 0) {
                rest();
            }
        }
    }
}
