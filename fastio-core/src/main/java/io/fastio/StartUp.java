package io.fastio;

import io.fastio.carrier.Carrier;

/**
 * What the first loop of a JVM needs and can have made beside it: a thread makes it while the first loop's own classes
 * load, and no loop runs a step before it is there.
 */
final class StartUp implements Runnable {
    private static final Thread THREAD =
            Thread.ofPlatform().daemon().name("fastio-start").unstarted(new StartUp());

    private StartUp() {}

    /** Begins; once. */
    static void begin() {
        THREAD.start();
    }

    @Override
    public void run() {
        Carrier.settleSocketPollers();
        Carrier.rehearse();
        Interrupts.prepare();
    }

    /** Waits until all is there; an interrupt stays pending. */
    static void await() {
        boolean interrupted = false;
        while (THREAD.isAlive()) {
            try {
                THREAD.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
