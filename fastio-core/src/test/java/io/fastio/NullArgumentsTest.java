package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import io.fastio.context.AsyncContext;
import io.fastio.context.AtTimeWorker;
import io.fastio.context.BackgroundTasks;
import io.fastio.context.Channel;
import io.fastio.context.LoopGroup;
import io.fastio.context.WhenPendingWorker;
import io.fastio.device.Pin;
import io.fastio.device.SimulatedChip;
import io.fastio.sync.AsyncQueue;
import io.fastio.sync.Broker;
import io.fastio.sync.Condition;
import io.fastio.sync.Event;
import io.fastio.sync.Lock;
import io.fastio.sync.Message;
import io.fastio.sync.RingQueue;
import io.fastio.sync.WaitAll;
import io.fastio.sync.WaitAny;
import io.fastio.time.LoopClock;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Proxy;
import java.lang.reflect.TypeVariable;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * S13: null where it has no meaning is told at once, by the name of the parameter; asked of every public method and
 * constructor of the exported packages, parameter by parameter.
 */
@Timeout(60)
final class NullArgumentsTest {
    private static final List<String> PACKAGES =
            List.of("io.fastio", "io.fastio.context", "io.fastio.device", "io.fastio.sync", "io.fastio.time");

    /** Left to others: what a record or an enum has of its own. */
    private static final List<String> GENERATED = List.of("equals", "valueOf", "compareTo");

    /** Null for one parameter, or, if {@code element}, a null in what that parameter holds. */
    record Case(Executable called, int parameter, boolean element) {
        String name() {
            return called.getParameters()[parameter].getName();
        }

        @Override
        public String toString() {
            List<String> types = Arrays.stream(called.getParameterTypes())
                    .map(Class::getSimpleName)
                    .toList();
            String method = called instanceof Constructor<?>
                    ? "new " + called.getDeclaringClass().getSimpleName()
                    : called.getDeclaringClass().getSimpleName() + "." + called.getName();
            return method + types + " " + name() + (element ? "[0]" : "");
        }
    }

    static List<Case> cases() throws Exception {
        List<Case> cases = new ArrayList<>();
        for (Class<?> c : publicTypes()) {
            Stream.concat(Arrays.stream(c.getConstructors()), Arrays.stream(c.getMethods()))
                    .filter(e -> e.getDeclaringClass().getPackageName().startsWith("io.fastio"))
                    .filter(e -> !e.isSynthetic() && !GENERATED.contains(e.getName()))
                    .filter(e -> !isForUsersToImplement(c, e))
                    .filter(e -> e.getDeclaringClass() == c || !Modifier.isStatic(e.getModifiers()))
                    .sorted(java.util.Comparator.comparing(Executable::toString))
                    .forEach(e -> addCases(e, cases));
        }
        return cases;
    }

    /** What the exported packages show, but for exceptions: they may have no message. */
    private static List<Class<?>> publicTypes() throws Exception {
        Path classes = Path.of(
                Fastio.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<Class<?>> types = new ArrayList<>();
        for (String p : PACKAGES) {
            try (Stream<Path> files = Files.list(classes.resolve(p.replace('.', '/')))) {
                for (Path f : files.sorted().toList()) {
                    String name = f.getFileName().toString();
                    if (name.endsWith(".class") && !name.equals("package-info.class")) {
                        Class<?> c = Class.forName(p + '.' + name.substring(0, name.length() - ".class".length()));
                        if (isPublic(c) && !Throwable.class.isAssignableFrom(c)) {
                            types.add(c);
                        }
                    }
                }
            }
        }
        return types;
    }

    private static boolean isPublic(Class<?> c) {
        return !c.isAnonymousClass()
                && Modifier.isPublic(c.getModifiers())
                && (c.getEnclosingClass() == null || isPublic(c.getEnclosingClass()));
    }

    /** An interface that users implement; {@link Task} is ours. */
    private static boolean isForUsersToImplement(Class<?> c, Executable e) {
        return c.isInterface() && c != Task.class && !Modifier.isStatic(e.getModifiers());
    }

    private static void addCases(Executable e, List<Case> cases) {
        Parameter[] parameters = e.getParameters();
        AnnotatedType[] types = e.getAnnotatedParameterTypes();
        for (int i = 0; i < parameters.length; i++) {
            Class<?> type = parameters[i].getType();
            if (!type.isPrimitive() && !mayBeNull(types[i])) {
                cases.add(new Case(e, i, false));
                if (holdsThings(e, type)) {
                    cases.add(new Case(e, i, true));
                }
            }
        }
    }

    /** Something for us to look through; a record takes what is in it as it is. */
    private static boolean holdsThings(Executable e, Class<?> type) {
        return type.isArray() && !type.getComponentType().isPrimitive()
                || Collection.class.isAssignableFrom(type)
                        && !e.getDeclaringClass().isRecord();
    }

    private static boolean mayBeNull(AnnotatedType type) {
        return isNullable(type)
                || type instanceof AnnotatedTypeVariable
                        && Arrays.stream(((TypeVariable<?>) type.getType()).getAnnotatedBounds())
                                .anyMatch(NullArgumentsTest::isNullable);
    }

    private static boolean isNullable(AnnotatedElement e) {
        return e.isAnnotationPresent(Nullable.class);
    }

    @Test
    void theApiIsThere() throws Exception {
        assertThat(cases())
                .hasSizeGreaterThan(150)
                .map(Case::toString)
                .contains("Asyncio.gather[Callable[]] bodies[0]");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void S13_nullIsToldByTheNameOfTheParameter(Case c) throws Exception {
        Throwable[] thrown = new Throwable[1];
        List<LoopError> reports = new ArrayList<>();
        try (EventLoop loop = EventLoop.builder()
                .clock(LoopClock.virtual())
                .exceptionHandler(reports::add)
                .build()) {
            loop.run(() -> Asyncio.cancelScope(scope -> Asyncio.taskGroup(group -> {
                thrown[0] = call(c, new Things(loop, scope, group));
                group.cancel();
                return true;
            })));
        }
        assertThat(thrown[0]).as("%s", c).isInstanceOf(NullPointerException.class);
        assertThat(thrown[0]).as("%s", c).matches(e -> names(c, e.getMessage()));
        assertThat(reports).isEmpty();
    }

    /** By the name itself, by what the JVM says, or with the number of the element. */
    private static boolean names(Case c, @Nullable String message) {
        return message != null && (message.equals(c.name()) || c.element && message.equals(c.name() + "[0]"));
    }

    private static @Nullable Throwable call(Case c, Things things) throws Exception {
        Object[] arguments = new Object[c.called.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = things.of(c.called.getParameterTypes()[i]);
        }
        arguments[c.parameter] = c.element ? withNull(c.called.getParameterTypes()[c.parameter]) : null;
        try {
            if (c.called instanceof Constructor<?> constructor) {
                constructor.newInstance(arguments);
            } else {
                Method m = (Method) c.called;
                m.setAccessible(true); // LoopTask and the like are not public
                m.invoke(Modifier.isStatic(m.getModifiers()) ? null : things.of(m.getDeclaringClass()), arguments);
            }
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    private static Object withNull(Class<?> type) {
        return type.isArray() ? Array.newInstance(type.getComponentType(), 1) : Collections.singletonList(null);
    }

    /** An object of every type that is asked for. */
    private static final class Things {
        private final Map<Class<?>, Callable<?>> makers = new HashMap<>();

        Things(EventLoop loop, CancelScope scope, TaskGroup group) {
            makers.put(Object.class, Object::new);
            makers.put(String.class, () -> "name");
            makers.put(Duration.class, () -> Duration.ofMillis(1));
            makers.put(Instant.class, Instant::now);
            makers.put(Class.class, () -> String.class);
            makers.put(Exception.class, Exception::new);
            makers.put(Throwable.class, Exception::new);
            makers.put(ByteBuffer.class, () -> ByteBuffer.allocate(1));
            makers.put(InetAddress.class, InetAddress::getLoopbackAddress);
            makers.put(Collection.class, List::of);
            makers.put(List.class, List::of);
            makers.put(Set.class, Set::of);
            makers.put(SelectableChannel.class, DatagramChannel::open);
            makers.put(Watch.class, () -> {
                SelectableChannel channel = DatagramChannel.open().configureBlocking(false);
                return Watch.of(channel, null);
            });
            makers.put(EventLoop.class, () -> loop);
            makers.put(EventLoop.Builder.class, EventLoop::builder);
            makers.put(CancelScope.class, () -> scope);
            makers.put(TaskGroup.class, () -> group);
            makers.put(Task.class, () -> Asyncio.createTask(() -> 1));
            makers.put(TaskOptions.class, TaskOptions::defaults);
            makers.put(LoopError.class, () -> new LoopError("message", null, null));
            makers.put(Handle.class, () -> loop.handle(Priority.NORMAL, () -> {}));
            makers.put(LoopClock.class, LoopClock::virtual);
            makers.put(LoopClock.Virtual.class, LoopClock::virtual);
            makers.put(io.fastio.time.IdleStrategy.class, () -> io.fastio.time.IdleStrategy.BLOCK);
            makers.put(ThreadSettings.class, ThreadSettings::new);
            makers.put(WaitList.class, WaitList::new);
            makers.put(AsyncQueue.class, AsyncQueue::new);
            makers.put(RingQueue.class, () -> new RingQueue<>(1, RingQueue.WhenFull.REFUSE));
            makers.put(Broker.class, Broker::new);
            makers.put(Condition.class, () -> {
                Condition condition = new Condition();
                condition.lock().acquire();
                return condition;
            });
            makers.put(Event.class, Event::new);
            makers.put(Lock.class, Lock::new);
            makers.put(Message.class, Message::new);
            makers.put(WaitAny.class, WaitAny::new);
            makers.put(WaitAll.class, WaitAll::new);
            makers.put(AsyncContext.class, () -> AsyncContext.on(loop));
            makers.put(AtTimeWorker.class, () -> new AtTimeWorker(() -> {}));
            makers.put(WhenPendingWorker.class, () -> new WhenPendingWorker(() -> {}));
            makers.put(BackgroundTasks.class, () -> BackgroundTasks.of(loop));
            makers.put(
                    BackgroundTasks.Registration.class,
                    () -> BackgroundTasks.of(loop).add(() -> {}, BackgroundTasks.When.ON_REQUEST));
            makers.put(LoopGroup.class, () -> LoopGroup.start(1));
            makers.put(Channel.class, () -> new Channel<>(1));
            makers.put(SimulatedChip.class, () -> new SimulatedChip(4));
            makers.put(Pin.class, () -> Pin.of(new SimulatedChip(4), 1));
        }

        Object of(Class<?> type) throws Exception {
            Callable<?> maker = makers.get(type);
            if (maker != null) {
                return maker.call();
            }
            if (type.isEnum()) {
                return type.getEnumConstants()[0];
            }
            if (type.isArray()) {
                return Array.newInstance(type.getComponentType(), 0);
            }
            if (type == boolean.class) {
                return true;
            }
            if (type == int.class) {
                return 1;
            }
            if (type == long.class) {
                return 1L;
            }
            assertThat(type).as("what makes one").isInterface();
            return Proxy.newProxyInstance(
                    type.getClassLoader(),
                    new Class<?>[] {type},
                    (proxy, m, arguments) -> m.getReturnType() == boolean.class ? (Object) true : null);
        }
    }
}
