package io.fastio.stress;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of an atomic operation in a {@link Twin}: a read, a little time, a write. Called from byte code that {@link
 * Twins} makes.
 */
public final class Loose {
    private Loose() {}

    /** Widens the gap between read and write, now a little, now more, so that a short run hits it. */
    public static void gap() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = random.nextInt(1 << random.nextInt(11)); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    // ---- VarHandle

    public static boolean compareAndSet(VarHandle h, Object o, int expected, int value) {
        if ((int) h.getVolatile(o) != expected) {
            return false;
        }
        gap();
        h.setVolatile(o, value);
        return true;
    }

    public static boolean compareAndSet(VarHandle h, Object o, long expected, long value) {
        if ((long) h.getVolatile(o) != expected) {
            return false;
        }
        gap();
        h.setVolatile(o, value);
        return true;
    }

    public static boolean compareAndSet(VarHandle h, Object o, @Nullable Object expected, @Nullable Object value) {
        if (h.getVolatile(o) != expected) {
            return false;
        }
        gap();
        h.setVolatile(o, value);
        return true;
    }

    public static int getAndAdd(VarHandle h, Object o, int n) {
        int before = (int) h.getVolatile(o);
        gap();
        h.setVolatile(o, before + n);
        return before;
    }

    public static long getAndAdd(VarHandle h, Object o, long n) {
        long before = (long) h.getVolatile(o);
        gap();
        h.setVolatile(o, before + n);
        return before;
    }

    public static int getAndSet(VarHandle h, Object o, int value) {
        int before = (int) h.getVolatile(o);
        gap();
        h.setVolatile(o, value);
        return before;
    }

    public static long getAndSet(VarHandle h, Object o, long value) {
        long before = (long) h.getVolatile(o);
        gap();
        h.setVolatile(o, value);
        return before;
    }

    public static boolean getAndSet(VarHandle h, Object o, boolean value) {
        boolean before = (boolean) h.getVolatile(o);
        gap();
        h.setVolatile(o, value);
        return before;
    }

    // ---- field updaters

    public static boolean compareAndSet(
            AtomicReferenceFieldUpdater<Object, @Nullable Object> u,
            Object o,
            @Nullable Object expected,
            @Nullable Object value) {
        if (u.get(o) != expected) {
            return false;
        }
        gap();
        u.set(o, value);
        return true;
    }

    public static @Nullable Object getAndSet(
            AtomicReferenceFieldUpdater<Object, @Nullable Object> u, Object o, @Nullable Object value) {
        Object before = u.get(o);
        gap();
        u.set(o, value);
        return before;
    }

    public static boolean compareAndSet(AtomicIntegerFieldUpdater<Object> u, Object o, int expected, int value) {
        if (u.get(o) != expected) {
            return false;
        }
        gap();
        u.set(o, value);
        return true;
    }

    public static int getAndSet(AtomicIntegerFieldUpdater<Object> u, Object o, int value) {
        int before = u.get(o);
        gap();
        u.set(o, value);
        return before;
    }

    // ---- maps

    @SuppressWarnings("unchecked") // the byte code of the real call has been checked
    public static Object compute(ConcurrentHashMap<Object, Object> m, Object key, Object function) {
        Object before = m.get(key);
        gap();
        Object after = ((BiFunction<Object, @Nullable Object, Object>) function).apply(key, before);
        m.put(key, after);
        return after;
    }

    // ---- atomics

    public static boolean compareAndSet(AtomicLong a, long expected, long value) {
        if (a.get() != expected) {
            return false;
        }
        gap();
        a.set(value);
        return true;
    }

    public static boolean compareAndSet(AtomicInteger a, int expected, int value) {
        if (a.get() != expected) {
            return false;
        }
        gap();
        a.set(value);
        return true;
    }

    public static long incrementAndGet(AtomicLong a) {
        long before = a.get();
        gap();
        a.set(before + 1);
        return before + 1;
    }

    public static int decrementAndGet(AtomicInteger a) {
        int before = a.get();
        gap();
        a.set(before - 1);
        return before - 1;
    }
}
