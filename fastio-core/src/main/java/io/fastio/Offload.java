package io.fastio;

import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Blocking work on platform threads ({@code asyncio.to_thread}). The threads are daemons, shared by all loops: work that
 * ignores its interrupt is abandoned and keeps neither the loop nor the JVM from ending.
 */
final class Offload<T extends @Nullable Object> extends Signal implements Runnable, Wait.Hook {
    private static final int THREADS = 64;

    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final ThreadPoolExecutor POOL = pool();

    private static ThreadPoolExecutor pool() {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                r -> Thread.ofPlatform()
                        .daemon()
                        .name("fastio-offload-" + COUNT.incrementAndGet())
                        .unstarted(r));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private final LoopTask<?> waiting;
    private final Callable<T> work;
    private boolean waits = true;
    private boolean reported;

    /** Guards {@link #worker}, so that an interrupt hits this work and no later one. Never taken on the carrier. */
    private final Object lock = new Object();

    private @Nullable Thread worker;
    private boolean abandoned;

    private volatile boolean over;
    private @Nullable T value;
    private @Nullable Throwable failure;

    private Offload(LoopTask<?> waiting, Callable<T> work) {
        super(waiting.loop);
        this.waiting = waiting;
        this.work = work;
    }

    static <T extends @Nullable Object> T run(Callable<T> work) throws Exception {
        LoopTask<?> me = LoopTask.current();
        me.begin();
        Offload<T> call = new Offload<>(me, work);
        call.begin(); // the pool's locks may hold the task up until the work is done: that is remembered
        me.suspend(call, null, Wait.FOREVER);
        return call.result();
    }

    private void begin() {
        Elsewhere elsewhere = waiting.loop.elsewhere;
        elsewhere.offloaded(1);
        boolean begun = false;
        try {
            POOL.execute(this);
            begun = true;
        } finally {
            if (!begun) { // no thread could be started
                waits = false;
                elsewhere.offloaded(-1);
            }
        }
    }

    @SuppressWarnings("NullAway") // T says whether null is a value
    private T result() {
        if (failure != null) {
            if (!(failure instanceof VirtualMachineError)) {
                AwaitTrace.add(failure, waiting.name());
            }
            throw LoopTask.sneaky(failure);
        }
        return value;
    }

    /** On the worker. */
    @Override
    public void run() {
        synchronized (lock) {
            if (abandoned) {
                raise();
                return;
            }
            worker = Thread.currentThread();
        }
        try {
            value = work.call();
        } catch (Throwable e) {
            failure = e;
        } finally {
            synchronized (lock) {
                worker = null;
                Thread.interrupted(); // ours, if any
            }
            over = true;
            raise();
        }
    }

    @Override
    protected void act() {
        if (waits) {
            waits = false;
            loop().elsewhere.offloaded(-1);
            waiting.wakeIfWaiting();
        } else {
            loop().elsewhere.strays().remove(this);
        }
    }

    @Override
    public boolean abandon(Task<?> task, boolean woken) {
        if (!woken) {
            waits = false;
            loop().elsewhere.offloaded(-1); // V1: what nobody waits for does not hold the clock
            loop().elsewhere.strays().add(this);
            loop().soon(this::interruptWorker);
        }
        return true;
    }

    private void interruptWorker() {
        synchronized (lock) {
            abandoned = true;
            if (worker != null) {
                worker.interrupt();
            }
        }
        if (!over && !loop().isClosed()) {
            loop().callLater(Elsewhere.GRACE, this::reportIfBusy);
        }
    }

    /** On a runner. */
    void reportIfBusy() {
        Thread busy;
        synchronized (lock) {
            busy = worker;
        }
        if (busy != null && !reported) {
            reported = true;
            loop().report(new LoopError(
                    "offloaded work of " + waiting.name() + " was cancelled but goes on in " + busy.getName(),
                    null,
                    waiting));
        }
    }
}
