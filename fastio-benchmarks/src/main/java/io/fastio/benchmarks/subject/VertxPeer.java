package io.fastio.benchmarks.subject;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.NetServerOptions;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** Vert.x, one verticle: on its event loop, with callbacks; or on virtual threads, with {@code await}. */
final class VertxPeer
        implements Subject.Rate,
                Subject.Callbacks,
                Subject.Timing,
                Subject.Wake,
                Subject.Sleepers,
                Subject.Memory,
                Subject.Echo,
                Subject.Http {
    private static final String LOOPBACK = "127.0.0.1";
    private static final long START_SECONDS = 30;

    private final boolean virtualThread;
    private final Vertx vertx;
    private final Context context;

    VertxPeer(boolean virtualThread) throws Exception {
        this.virtualThread = virtualThread;
        vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setPreferNativeTransport(true));
        CompletableFuture<Context> started = new CompletableFuture<>();
        ThreadingModel model = virtualThread ? ThreadingModel.VIRTUAL_THREAD : ThreadingModel.EVENT_LOOP;
        var _ = vertx.deployVerticle(
                new AbstractVerticle() {
                    @Override
                    public void start() {
                        started.complete(context);
                    }
                },
                new DeploymentOptions().setThreadingModel(model));
        context = started.get(START_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public String config() {
        return "Vert.x " + Vertx.class.getPackage().getImplementationVersion()
                + (virtualThread ? ", virtual-thread verticle, Future.await" : ", event-loop verticle")
                + ", one event loop, native transport " + vertx.isNativeTransportEnabled();
    }

    @Override
    public Reading rate(int tasks, long millis) throws Exception {
        Lap lap = new Lap(tasks, millis, Lap.bytesOfAll());
        CountDownLatch done = new CountDownLatch(tasks);
        for (int i = 0; i < tasks; i++) {
            boolean first = i == 0;
            BooleanSupplier more = first ? lap::more : lap::running;
            context.runOnContext(virtualThread ? v -> awaiting(more, done) : v -> hopping(more, done));
        }
        done.await();
        return lap.reading();
    }

    private void hopping(BooleanSupplier more, CountDownLatch done) {
        if (more.getAsBoolean()) {
            context.runOnContext(v -> hopping(more, done));
        } else {
            done.countDown();
        }
    }

    private void awaiting(BooleanSupplier more, CountDownLatch done) {
        while (more.getAsBoolean()) {
            Promise<Void> turn = Promise.promise();
            context.runOnContext(v -> turn.complete());
            Future.await(turn.future());
        }
        done.countDown();
    }

    @Override
    public Reading callbacks(long millis) throws Exception {
        Lap lap = new Lap(1, millis, Lap.bytesOfAll());
        CountDownLatch done = new CountDownLatch(1);
        context.runOnContext(v -> hopping(lap::more, done));
        done.await();
        return lap.reading();
    }

    @Override
    public Reading timing(long millis) throws Exception {
        Hogs hogs = new Hogs(millis);
        CountDownLatch done = new CountDownLatch(Hogs.COUNT + Hogs.TIMERS);
        for (int i = 0; i < Hogs.TIMERS; i++) {
            context.runOnContext(virtualThread ? v -> awaitTimers(hogs, done) : v -> timer(hogs, done));
        }
        for (int i = 0; i < Hogs.COUNT; i++) {
            context.runOnContext(v -> hog(hogs::running, Hogs.STEP_NANOS, done::countDown));
        }
        done.await();
        return hogs.reading();
    }

    private void timer(Hogs hogs, CountDownLatch done) {
        long start = System.nanoTime();
        vertx.setTimer(Hogs.TIMER_MILLIS, id -> {
            hogs.fired(start);
            if (hogs.running()) {
                timer(hogs, done);
            } else {
                done.countDown();
            }
        });
    }

    private void awaitTimers(Hogs hogs, CountDownLatch done) {
        while (hogs.running()) {
            long start = System.nanoTime();
            Future.await(vertx.timer(Hogs.TIMER_MILLIS));
            hogs.fired(start);
        }
        done.countDown();
    }

    private void hog(BooleanSupplier running, long nanos, Runnable end) {
        if (running.getAsBoolean()) {
            Hogs.block(nanos);
            context.runOnContext(v -> hog(running, nanos, end));
        } else {
            end.run();
        }
    }

    @Override
    public Reading wake(int count) throws Exception {
        Alarm alarm = new Alarm(count);
        if (virtualThread) {
            Bell bell = new Bell();
            context.runOnContext(v -> {
                do {
                    bell.await();
                } while (alarm.awake());
            });
            alarm.ring(bell::ring);
        } else {
            alarm.ring(() -> context.runOnContext(v -> alarm.awake()));
        }
        return alarm.reading();
    }

    /** A flag that one awaiting virtual thread takes. */
    private static final class Bell {
        private volatile Promise<Void> next = Promise.promise();

        void ring() {
            next.complete();
        }

        void await() {
            Future.await(next.future());
            next = Promise.promise();
        }
    }

    @Override
    public Reading sleepers(int tasks) throws Exception {
        CountDownLatch done = new CountDownLatch(tasks);
        Naps naps = new Naps();
        context.runOnContext(v -> {
            for (int i = 0; i < tasks; i++) {
                if (virtualThread) {
                    context.runOnContext(w -> awaitNaps(naps, done));
                } else {
                    nap(naps, 1, done);
                }
            }
        });
        done.await();
        return naps.reading();
    }

    private void nap(Naps naps, int number, CountDownLatch done) {
        int millis = naps.nextMillis();
        long start = System.nanoTime();
        vertx.setTimer(millis, id -> {
            naps.slept(start, millis);
            if (number < Naps.PER_TASK) {
                nap(naps, number + 1, done);
            } else {
                done.countDown();
            }
        });
    }

    private void awaitNaps(Naps naps, CountDownLatch done) {
        for (int i = 0; i < Naps.PER_TASK; i++) {
            int millis = naps.nextMillis();
            long start = System.nanoTime();
            Future.await(vertx.timer(millis));
            naps.slept(start, millis);
        }
        done.countDown();
    }

    @Override
    public Reading memory(int tasks) throws Exception {
        long before = Heap.liveBytes();
        CountDownLatch started = new CountDownLatch(tasks);
        context.runOnContext(v -> {
            for (int i = 0; i < tasks; i++) {
                if (virtualThread) {
                    context.runOnContext(w -> {
                        started.countDown();
                        Future.await(vertx.timer(1, TimeUnit.HOURS));
                    });
                } else {
                    vertx.setTimer(TimeUnit.HOURS.toMillis(1), id -> {});
                    started.countDown();
                }
            }
        });
        started.await();
        Thread.sleep(500);
        return Reading.of("bytes", (double) (Heap.liveBytes() - before) / tasks);
    }

    @Override
    public Service echo(int hogs, long hogMicros) throws Exception {
        AtomicBoolean running = new AtomicBoolean(true);
        var server = onContext(() -> vertx.createNetServer(new NetServerOptions()
                        .setHost(LOOPBACK)
                        .setPort(0)
                        .setAcceptBacklog(4_096)
                        .setTcpNoDelay(true))
                .connectHandler(socket -> socket.handler(socket::write))
                .listen());
        for (int i = 0; i < hogs; i++) {
            context.runOnContext(v -> hog(running::get, hogMicros * 1_000, () -> {}));
        }
        return new Service(server.actualPort(), () -> {
            running.set(false);
            server.close();
        });
    }

    @Override
    public Service http() throws Exception {
        var server = onContext(() -> vertx.createHttpServer(
                        new HttpServerOptions().setHost(LOOPBACK).setPort(0).setAcceptBacklog(4_096))
                .requestHandler(request -> request.response()
                        .putHeader("content-type", "text/plain")
                        .end("hello\n"))
                .listen());
        return new Service(server.actualPort(), server::close);
    }

    /** Starts something on the verticle's context, so that its handlers run there. */
    private <T> T onContext(Callable<Future<T>> start) throws Exception {
        CompletableFuture<T> started = new CompletableFuture<>();
        context.runOnContext(v -> {
            try {
                start.call().onSuccess(started::complete).onFailure(started::completeExceptionally);
            } catch (Exception e) {
                started.completeExceptionally(e);
            }
        });
        return started.get(START_SECONDS, TimeUnit.SECONDS);
    }
}
