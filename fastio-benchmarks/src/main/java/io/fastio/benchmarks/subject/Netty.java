package io.fastio.benchmarks.subject;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.util.Version;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Netty, one event loop, with the transport that its name ends in. */
final class Netty
        implements Subject.Rate,
                Subject.Callbacks,
                Subject.TimerCallbacks,
                Subject.Timing,
                Subject.Wake,
                Subject.Sleepers,
                Subject.Memory,
                Subject.Echo,
                Subject.Http {
    private final String transport;
    private final Class<? extends ServerChannel> channelType;
    private final EventLoopGroup group;
    private final EventLoop loop;

    Netty(String name) {
        transport = name.substring("netty-".length());
        IoHandlerFactory factory;
        switch (transport) {
            case "epoll" -> {
                factory = EpollIoHandler.newFactory();
                channelType = EpollServerSocketChannel.class;
            }
            case "io_uring" -> {
                factory = IoUringIoHandler.newFactory();
                channelType = IoUringServerSocketChannel.class;
            }
            default -> {
                factory = NioIoHandler.newFactory();
                channelType = NioServerSocketChannel.class;
            }
        }
        group = new MultiThreadIoEventLoopGroup(1, factory);
        loop = group.next();
    }

    @Override
    public String config() {
        return "Netty " + version() + " " + transport
                + ", MultiThreadIoEventLoopGroup(1), default allocator, TCP_NODELAY";
    }

    private static String version() {
        Version common = Version.identify().get("netty-common");
        return common == null ? "of unknown version" : common.artifactVersion();
    }

    @Override
    public Reading rate(int tasks, long millis) throws Exception {
        Lap lap = new Lap(tasks, millis, Lap.bytesOfAll());
        CountDownLatch done = new CountDownLatch(tasks);
        loop.execute(() -> {
            for (int i = 0; i < tasks; i++) {
                boolean first = i == 0;
                loop.execute(new Runnable() {
                    @Override
                    public void run() {
                        if (first ? lap.more() : lap.running()) {
                            loop.execute(this);
                        } else {
                            done.countDown();
                        }
                    }
                });
            }
        });
        done.await();
        return lap.reading();
    }

    @Override
    public Reading callbacks(long millis) throws Exception {
        return rate(1, millis);
    }

    @Override
    public Reading timerCallbacks(long millis) throws Exception {
        Lap lap = new Lap(1, millis, Lap.bytesOfAll());
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(new Runnable() {
            @Override
            public void run() {
                if (lap.more()) {
                    var _ = loop.schedule(this, 0, TimeUnit.NANOSECONDS);
                } else {
                    done.countDown();
                }
            }
        });
        done.await();
        return lap.reading();
    }

    @Override
    public Reading timing(long millis) throws Exception {
        Hogs hogs = new Hogs(millis);
        CountDownLatch done = new CountDownLatch(Hogs.COUNT);
        loop.execute(() -> {
            for (int i = 0; i < Hogs.TIMERS; i++) {
                timer(hogs);
            }
            for (int i = 0; i < Hogs.COUNT; i++) {
                hog(hogs::running, Hogs.STEP_NANOS, done::countDown);
            }
        });
        done.await();
        return hogs.reading();
    }

    private void timer(Hogs hogs) {
        long start = System.nanoTime();
        var _ = loop.schedule(
                () -> {
                    hogs.fired(start);
                    if (hogs.running()) {
                        timer(hogs);
                    }
                },
                Hogs.TIMER_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    private void hog(BooleanSupplier running, long nanos, Runnable end) {
        loop.execute(() -> {
            if (running.getAsBoolean()) {
                Hogs.block(nanos);
                hog(running, nanos, end);
            } else {
                end.run();
            }
        });
    }

    @Override
    public Reading wake(int count) throws Exception {
        Alarm alarm = new Alarm(count);
        Runnable woken = alarm::awake;
        alarm.ring(() -> loop.execute(woken));
        return alarm.reading();
    }

    @Override
    public Reading sleepers(int tasks) throws Exception {
        Naps naps = new Naps();
        CountDownLatch done = new CountDownLatch(tasks);
        loop.execute(() -> {
            for (int i = 0; i < tasks; i++) {
                nap(naps, 1, done);
            }
        });
        done.await();
        return naps.reading();
    }

    private void nap(Naps naps, int number, CountDownLatch done) {
        int millis = naps.nextMillis();
        long start = System.nanoTime();
        var _ = loop.schedule(
                () -> {
                    naps.slept(start, millis);
                    if (number < Naps.PER_TASK) {
                        nap(naps, number + 1, done);
                    } else {
                        done.countDown();
                    }
                },
                millis,
                TimeUnit.MILLISECONDS);
    }

    @Override
    public Reading memory(int tasks) throws Exception {
        long before = Heap.liveBytes();
        double bytes = loop.submit(() -> {
                    for (int i = 0; i < tasks; i++) {
                        var _ = loop.schedule(() -> {}, 1, TimeUnit.HOURS);
                    }
                    return Heap.liveBytes() - before;
                })
                .get();
        return Reading.of("bytes", bytes / tasks);
    }

    @Override
    public Service echo(int hogs, long hogMicros) throws Exception {
        Channel listener = listen(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Echo());
            }
        });
        for (int i = 0; i < hogs; i++) {
            hog(listener::isOpen, hogMicros * 1_000, () -> {});
        }
        return service(listener);
    }

    @Override
    public Service http() throws Exception {
        return service(listen(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new HttpServerCodec(), new Hello());
            }
        }));
    }

    private Channel listen(ChannelInitializer<Channel> initializer) throws InterruptedException {
        return new ServerBootstrap()
                .group(group)
                .channel(channelType)
                .option(ChannelOption.SO_BACKLOG, 4_096)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(initializer)
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
    }

    private static Service service(Channel listener) {
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        return new Service(port, () -> listener.close().sync());
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            var _ = context.close();
        }
    }

    private static final class Hello extends SimpleChannelInboundHandler<HttpObject> {
        private static final ByteBuf BODY = Unpooled.unreleasableBuffer(
                        Unpooled.directBuffer().writeBytes("hello\n".getBytes(StandardCharsets.US_ASCII)))
                .asReadOnly();

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
            if (!(message instanceof HttpRequest request)) {
                return;
            }
            boolean keepAlive = HttpUtil.isKeepAlive(request);
            FullHttpResponse response =
                    new DefaultFullHttpResponse(request.protocolVersion(), HttpResponseStatus.OK, BODY.duplicate());
            response.headers()
                    .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN)
                    .setInt(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
            if (keepAlive) {
                HttpUtil.setKeepAlive(response, true);
                var _ = context.write(response, context.voidPromise());
            } else {
                response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                var _ = context.write(response).addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            var _ = context.close();
        }
    }
}
