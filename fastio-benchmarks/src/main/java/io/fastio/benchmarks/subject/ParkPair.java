package io.fastio.benchmarks.subject;

import java.util.concurrent.locks.LockSupport;

/** The limit of a wake without a poller: one platform thread parks, the other unparks it. */
final class ParkPair implements Subject.Wake, Subject.SpinWake {
    @Override
    public String config() {
        return "LockSupport.park/unpark between two platform threads";
    }

    @Override
    public Reading wake(int count) throws InterruptedException {
        Alarm alarm = new Alarm(count);
        Flag flag = new Flag();
        Thread sleeper = Thread.ofPlatform().daemon().start(() -> {
            do {
                flag.await();
            } while (alarm.awake());
        });
        alarm.ring(() -> flag.set(sleeper));
        sleeper.join();
        return alarm.reading();
    }

    /** The limit of a spinning loop: a thread that does nothing but read a volatile field. */
    @Override
    public Reading spinWake(int count) throws InterruptedException {
        Alarm alarm = new Alarm(count);
        Flag flag = new Flag();
        Thread sleeper = Thread.ofPlatform().daemon().start(() -> {
            do {
                flag.spin();
            } while (alarm.awake());
        });
        alarm.ring(flag::raise);
        sleeper.join();
        return alarm.reading();
    }

    private static final class Flag {
        private volatile boolean set;

        void set(Thread sleeper) {
            set = true;
            LockSupport.unpark(sleeper);
        }

        void raise() {
            set = true;
        }

        void spin() {
            while (!set) {
                Thread.onSpinWait();
            }
            set = false;
        }

        void await() {
            while (!set) {
                LockSupport.park(this);
            }
            set = false;
        }
    }
}
